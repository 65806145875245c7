"""Linkage: every linker, and the evaluator, which alone decides what is linked.

May import `formulations`, `datasets.schema`, `solver.results` and `solver.errors`.
"""
