"""Bayesian linkage on decomposable graphical models (Smith 2016): files without attributes in common.

May import `solver.linkage.linker`, `solver.run` and `datasets`; from outside one uses `linker.Bayesian`.
"""
