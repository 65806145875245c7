"""Linear and mixed-integer programs as plain arrays: what backends take, whatever the model is about.

Anything may be imported from here; nothing here knows an optimiser.
"""
