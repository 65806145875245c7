"""Bayesian linkage on decomposable graphical models (Smith 2016): files without attributes in common.

May import `linkrisk.solver.linkage.linker`, `linkrisk.solver.run.errors` and `datasets`; from outside one uses `linker.Bayesian`.
"""
