"""Two microdata files, the truth about who is who, and what of them can be compared.

May import `datasets.microdata` and `datasets.masking`.
"""
