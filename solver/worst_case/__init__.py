"""Search the worst case of a file pair within limits, for one family of distances or several.

May import `solver.engines`, `solver.certificates.writing`, `solver.inputs` and what
these may.
"""
