"""Tables protected: `attackers` find and audit intervals, `suppression` chooses cells, `perturbation` values.

May import `backends`, `run` and `linkrisk.formulations.tables`.
"""
