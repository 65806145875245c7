"""Suppression: unsafe combinations of key variables, and local suppression of microdata.

May import numpy, scipy, numba, `formulations.compiled`, `formulations.errors` and `formulations.programs`.
"""
