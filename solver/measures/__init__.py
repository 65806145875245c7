"""`risk`, and measures around the worst case: one file each, their mathematics in rooms by theme.

A measure is one file here and one line in `registry`.
"""
