"""Linkage: two record sets, attribute distances, ties, rows, aggregators, and the block-indicator model.

May import numpy, scipy, numba, `formulations.compiled` and `formulations.programs`.
"""
