"""Tables protected: the attacker's intervals, cell suppression, and the audit of any pattern.

May import `backends`, `run` and `linkrisk.formulations.tables`.
"""
