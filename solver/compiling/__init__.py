"""Compiling ahead what numba would compile at its first use.

May import every room whose code is compiled.
"""
