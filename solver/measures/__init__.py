"""Measure risk and information loss beside the worst case: one file per measure.

A measure is one file here and one line in `registry`.
"""
