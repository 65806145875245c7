"""Linkage of files without common attributes: each record becomes a few numbers that do not depend on them.

May import `datasets.microdata.schema`, `datasets.masking.base` (the options of settings), `solver.run`
and the files beside this folder.
"""
