"""Certificates: what an engine has proven, written down such that `solver.verification` can check it.

May import `formulations`, `solver.engines`, `solver.verification` and what these may.
"""
