"""Ways of solving our problem: the big-C model on a backend, and the attacks that engines start from.

May import `formulations`, `solver.backends`, `solver.linkage`, `solver.run` and `solver.schemas`.
"""
