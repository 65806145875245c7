"""File formats of microdata: one class per file, `registry` finds it by the suffix.

May import numpy, pandas and `datasets.errors`, and a library that reads or writes a format when it is used.
"""
