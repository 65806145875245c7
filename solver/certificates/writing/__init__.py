"""Writes certificates of what an engine has proven, for `..checking` to check.

May import `formulations`, `solver.engines`, `solver.certificates.checking` and what these may.
"""
