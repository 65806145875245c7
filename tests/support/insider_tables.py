"""Small tables with insiders, and what attackers find out of them by plain programs on values."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from linkrisk.formulations.tables.cell_table import CellTable, Insider


def table_of(inner, sensitive, *, sliding=False, cost="value"):
    """A two-way table with margins; sensitive cells with their levels below and above."""
    inner = np.array(inner, dtype=float)
    rows, columns = inner.shape
    whole = np.zeros((rows + 1, columns + 1))
    whole[1:, 1:] = inner
    whole[0, 1:], whole[1:, 0], whole[0, 0] = inner.sum(0), inner.sum(1), inner.sum()
    number = np.arange(whole.size).reshape(whole.shape)
    lines = []
    for line in (*number, *number.T):
        relation = np.zeros(whole.size)
        relation[line] = 1.0
        relation[line[0]] = -1.0
        lines.append(relation)
    value = whole.ravel()
    levels = np.zeros((3, value.size))
    for (row, column), (low, high) in sensitive.items():
        at = number[row + 1, column + 1]
        levels[:2, at] = min(low, value[at]), min(high, value[at])
        if sliding:
            levels[:, at] = 0.0, 0.0, levels[:2, at].sum()
    return CellTable(
        value=value,
        relations=sparse.csr_array(np.array(lines)),
        lower=np.zeros(value.size),
        upper=2.0 * value,
        primary=levels.sum(axis=0) > 0,
        fixed=value == 0,
        cost=np.maximum(value, 1.0) if cost == "value" else np.ones(value.size),
        lower_level=levels[0],
        upper_level=levels[1],
        sliding_level=levels[2],
    )


def insider(table, known, name="one"):
    """Who knows at least so much of some cells, or them exactly."""
    cells = np.array(sorted(known), dtype=np.int64)
    lower = np.array([table.value[at] if known[at] is None else known[at] for at in cells], dtype=float)
    upper = np.array([table.value[at] if known[at] is None else table.upper[at] for at in cells], dtype=float)
    return Insider(name, cells, lower, upper)


def plain_interval(table, suppressed, cell):
    """What a cell can be at least and at most, written on values with dense rows."""
    low, high = (np.where(suppressed, bound, table.value) for bound in (table.lower, table.upper))
    rows, goal = table.relations.toarray(), np.zeros(len(table))
    goal[cell] = 1.0
    bounds = list(zip(low, high, strict=True))
    ends = [linprog(sign * goal, A_eq=rows, b_eq=np.zeros(len(rows)), bounds=bounds) for sign in (1, -1)]
    return ends[0].fun, -ends[1].fun


def plain_shortfall(table, suppressed, cell):
    """By how much the worst level of a cell is missed."""
    low, high = plain_interval(table, suppressed, cell)
    down, up = table.value[cell] - low, high - table.value[cell]
    levels = (table.lower_level[cell], table.upper_level[cell], table.sliding_level[cell])
    return max(levels[0] - down, levels[1] - up, levels[2] - up - down)


def protects(table, suppressed):
    """Whether a pattern protects from the outsider and from every insider."""
    views = (table, *(table.seen_by(one) for one in table.insiders))
    return all(
        plain_shortfall(view, suppressed, cell) <= 1e-7
        for view in views
        for cell in np.flatnonzero(view.primary)
    )
