"""The mathematics: models for optimisers, and linkage from attribute distances to the block-indicator model.

May import numpy, scipy and numba; never an optimiser, `linkrisk.solver` or `linkrisk.datasets`.
"""
