"""Checks every claim of a fit by its certificate and the two files, fast on large files.

Shares no code with the engines: may import `datasets` (reading files), `solver.run.errors`, numpy and the
decorator of compiled code; never anything else of `formulations`, `solver.engines`, `solver.linkage` or
`solver.backends`.
"""
