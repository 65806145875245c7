"""Build problems from files and options, and restore learned parameters.

May import `linkrisk.formulations`, `linkrisk.datasets`, `solver.linkage` and `solver.run`.
"""
