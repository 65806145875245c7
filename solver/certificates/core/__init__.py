"""The checker that can be read in an afternoon: it proves what a certificate claims, from the files alone.

Copied anywhere, this folder runs by itself: ``python -m core fit.json --certificate proof.json ...``. It uses
whole numbers, fractions and Python's standard library, and nothing of the project that wrote the certificate.
It is complete and slow: every rival of every record is compared exactly.

Read in this order: `claims` (what a JSON says, and what was linked to what), `records` (the linkage problem
as whole numbers), `families` (the distances), `linkage` (what some parameters link), `proofs` (why none link
more), `samples` (bounds that hold with some confidence), `check` (the fit and its certificate), `tables`
(certificates of tables) and `__main__` (the command, which reads CSV).
"""
