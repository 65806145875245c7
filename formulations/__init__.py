"""The mathematics: attribute distances, aggregators, fuzzy measures and the block-indicator model.

May import numpy, scipy and numba; never an optimiser, `solver` or `datasets`.
"""
