"""Measures around the worst case, one file each: what else a release discloses, and what it has cost.

May import the rest of `solver` below `api`; a measure is one file here and one line in `registry`.
"""
