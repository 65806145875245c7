"""Named public data: embedded, from a local folder, or downloaded with a hash check.

May import `datasets.microdata` and `datasets.masking`.
"""
