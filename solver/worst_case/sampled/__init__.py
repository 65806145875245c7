"""Bounds on the worst case of a whole file from searches of samples of it."""
