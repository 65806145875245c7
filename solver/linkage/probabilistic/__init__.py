"""Probabilistic record linkage: m- and u-probabilities learned by EM from agreement patterns of all pairs.

Others import `linker.Probabilistic`; it may import what `solver.linkage` may.
"""
