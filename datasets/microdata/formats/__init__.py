"""File formats of microdata: one class per file, `registry` finds it by the suffix.

May import numpy, pandas, `datasets.errors`, and names and spelling of categories from `datasets.microdata`; a
library that reads or writes a format only when it is used.
"""
