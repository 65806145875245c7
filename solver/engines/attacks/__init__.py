"""Heuristic attacks: good parameters fast, from which every engine starts, and what they are scored with.

May import `linkrisk.formulations`, `solver.backends.linear` and the engines' contract.
"""
