"""Ways of solving our problem: the big-C model on a backend, and the attacks that engines start from.

May import `formulations`, `linkrisk.solver.backends`, `linkrisk.solver.linkage`, `linkrisk.solver.run.clock`, `linkrisk.solver.run.results` and
`linkrisk.solver.run.errors`.
"""
