"""The worst case of a file pair: a search within its limits, and what it answers for one family or several.

May import `solver.engines`, `solver.certificates.writing`, `solver.inputs` and what
these may.
"""
