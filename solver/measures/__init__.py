"""Measures around the worst case, one file each, with the mathematics of theirs in rooms by theme.

May import the rest of `solver` below `api`; a measure is one file here and one line in `registry`.
"""
