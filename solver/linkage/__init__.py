"""Linkage: every linker, and the evaluator, which alone decides what is linked.

May import `formulations`, `datasets.microdata.schema`, `solver.schemas.intervals` and `solver.run.errors`.
"""
