"""Local suppression of microdata: searches at the least cost, with a dual bound and an audit.

May import `linkrisk.formulations`, `linkrisk.datasets` and `solver.run`.
"""
