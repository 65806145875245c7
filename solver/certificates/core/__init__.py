"""Checks certificates by exact arithmetic, small enough to be read in an afternoon.

Copied anywhere, this folder runs by itself: ``python -m core fit.json --certificate proof.json ...``. It uses
integers, fractions and Python's standard library, and nothing of the project that wrote the certificate. It
is complete and slow: every rival of every record is compared exactly.

Read in this order: `claims` (reads the JSON), `records` (the linkage problem in integers), `families` (the
distances), `linkage` (blocks linked by given parameters), `proofs` (upper bounds for all parameters),
`samples` (bounds that hold with a confidence), `check` (a fit with its certificate), `tables` (certificates
of tables) and `__main__` (the command, which reads CSV).
"""
