"""The verifier of certificates: reads two files, a fit and its certificate, and checks every claim anew.

Shares no code with the engines: may import `datasets` (reading files) and `solver.errors`, numpy and numba,
never `formulations`, `solver.engines`, `solver.linkage` or `solver.backends`.
"""
