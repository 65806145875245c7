"""From files and options to a problem, and from learned parameters back to what they were learned on.

May import `linkrisk.formulations`, `linkrisk.datasets`, `solver.linkage` and `solver.run`.
"""
