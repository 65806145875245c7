"""Linkage of files without common attributes: each record becomes a few numbers that do not depend on them.

May import `datasets.schema`, `datasets.masking.base` (the options of settings), `solver.errors` and the files
beside this folder.
"""
