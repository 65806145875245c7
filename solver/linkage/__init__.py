"""Linkage: the evaluator, which alone decides what is linked, and one-to-one assignment.

May import `formulations`, `solver.results` and `solver.errors`.
"""
