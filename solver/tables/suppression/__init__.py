"""Optimal and heuristic cell suppression: primal heuristics, capacity constraints, branch and cut."""
