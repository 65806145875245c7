"""Engines: the big-C model on a backend, the exact engine, and the primal heuristics that they start from."""
