"""Tables as Python functions: a file for each that is called, `source` and `result` for what they share.

May import what `solver.api` may.
"""
