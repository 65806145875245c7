"""Link records probabilistically, with m- and u-probabilities learned by EM from agreement patterns.

Others import `linker.Probabilistic`; it may import what `solver.linkage` may.
"""
