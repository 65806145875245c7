"""Masking methods: one file each, every one a frozen dataclass with `apply(frame, seed)`.

May import numpy, scipy, pandas and `datasets`; never `solver`, and of `formulations` its
decorator of compiled code only.
"""
