"""Bounds on the worst case of a file from searches of samples of it."""
