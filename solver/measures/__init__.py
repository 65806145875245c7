"""`risk`, and the measures beside the worst case: one chapter for each kind.

A measure is one file here and one line in `registry`.
"""
