"""The audit written plainly: two programs of scipy for each suppressed cell, all relations at once."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog


def plain_intervals(table, suppressed):
    """Low and high of every suppressed cell, in their order."""
    unknown = np.flatnonzero(suppressed)
    relations = sparse.csr_array(table.relations)[:, unknown]
    relations = relations[np.diff(relations.indptr) > 0]
    bounds = np.column_stack([-table.below[unknown], table.above[unknown]])
    none, found = np.zeros(relations.shape[0]), []
    for place, cell in enumerate(unknown):
        goal = np.zeros(unknown.size)
        goal[place] = 1.0
        ends = [
            linprog(sign * goal, A_eq=relations, b_eq=none, bounds=bounds, method="highs")
            for sign in (1.0, -1.0)
        ]
        assert all(end.status == 0 for end in ends)
        found.append((table.value[cell] + ends[0].fun, table.value[cell] - ends[1].fun))
    return np.array(found).reshape(-1, 2)


def plain_short(table, suppressed, close=1e-5):
    """The sensitive cells that are short of a level."""
    intervals = dict(
        zip(np.flatnonzero(suppressed).tolist(), plain_intervals(table, suppressed), strict=True)
    )
    short = []
    for cell in np.flatnonzero(table.primary).tolist():
        value = table.value[cell]
        low, high = intervals.get(cell, (value, value))
        reached = (value - low, high - value, high - low)
        levels = (table.lower_level[cell], table.upper_level[cell], table.sliding_level[cell])
        if any(reach < level * (1.0 - close) for reach, level in zip(reached, levels, strict=True)):
            short.append(cell)
    return short
