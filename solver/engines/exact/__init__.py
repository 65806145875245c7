"""The exact engine: attack and upper bound by branch and bound on simplices and by hitting sets of cores.

May import `formulations`, `solver.linkage`, the engines' shared files, `solver.run.clock`,
`solver.schemas.intervals` and `solver.run.errors`.
"""
