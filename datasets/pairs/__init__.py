"""Two microdata files, the true partners, and which columns can be compared.

May import `datasets.microdata` and `datasets.masking`.
"""
