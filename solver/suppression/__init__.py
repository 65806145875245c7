"""Suppression: values of key variables taken out of a file at least cost, with a bound, and counted again.

May import `linkrisk.formulations`, `linkrisk.datasets` and `solver.run`.
"""
