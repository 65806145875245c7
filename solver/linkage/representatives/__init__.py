"""Linkage of files without common attributes: each record becomes a few numbers that do not depend on them.

May import `datasets.microdata.schema`, `solver.linkage.parameters`, `solver.run`
and the files beside this folder.
"""
