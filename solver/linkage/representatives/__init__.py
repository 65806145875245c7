"""Linkage of files without common attributes: each record becomes a few numbers that do not depend on them.

May import `linkrisk.datasets.microdata.schema`, `linkrisk.datasets.masking.base` (the options of settings), `linkrisk.solver.run.errors` and the files
beside this folder.
"""
