"""The verifier of certificates: reads two files, a fit and its certificate, and checks every claim by itself.

Shares no code with the engines: may import `datasets` (reading files), `solver.run.errors`, numpy and the
decorator of compiled code; never anything else of `formulations`, `solver.engines`, `solver.linkage` or
`solver.backends`.
"""
