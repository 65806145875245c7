"""Certificates: what an engine has proven, written down such that `linkrisk.solver.certificates.checking` can check it.

May import `formulations`, `linkrisk.solver.engines`, `linkrisk.solver.certificates.checking` and what these may.
"""
