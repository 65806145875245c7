"""Certificates: what an engine has proven, written down such that `..checking` can check it.

May import `formulations`, `solver.engines`, `solver.certificates.checking` and what these may.
"""
