"""Suppression: unsafe combinations of key variables, and models of local suppression and recoding of microdata.

May import numpy, scipy, numba, `formulations.compiled`, `formulations.errors` and `formulations.programs`.
"""
