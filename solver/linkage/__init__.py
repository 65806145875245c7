"""Linkage: every linker, and the evaluator, which alone decides what is linked.

May import `formulations`, `linkrisk.datasets.microdata.schema`, `linkrisk.solver.run.results` and `linkrisk.solver.run.errors`.
"""
