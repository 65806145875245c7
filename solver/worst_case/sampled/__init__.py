"""Bounds on the worst case of a whole file from searches of samples of it.

Import the limits from `hypergeometric`.
"""
