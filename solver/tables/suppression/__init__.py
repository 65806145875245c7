"""Which cells to suppress with the sensitive ones: starts, capacity constraints, branch and cut."""
