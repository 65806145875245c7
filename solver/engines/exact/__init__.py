"""The exact engine: attack and upper bound by branch and bound on simplices and by hitting sets of cores.

May import `formulations`, `linkrisk.solver.linkage`, the engines' shared files, `linkrisk.solver.run.clock`,
`linkrisk.solver.run.results` and `linkrisk.solver.run.errors`.
"""
