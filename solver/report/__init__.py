"""Measures around the worst case, and the report that is made from a result's JSON alone.

May import `solver.run.errors`, `formulations` and the rooms below; never the commands.
"""
