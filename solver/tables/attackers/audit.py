"""The independent audit: the interval that an attacker finds for every suppressed cell, written plainly.

This file shares nothing with what chooses patterns: it knows values, relations and bounds, and scipy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from linkrisk.formulations.tables.cell_table import BoolArray, CellTable, FloatArray, IntArray

SHORT = 1e-5
"""By how much of its level a cell may be short and still count as protected: what optimisers cannot tell."""


@dataclass(frozen=True, eq=False)
class Audit:
    """What an attacker finds out.

    Attributes
    ----------
    cells : ndarray of int64, shape (k,)
        The suppressed cells.
    low, high : ndarray of float64, shape (k,)
        Their smallest and largest possible values.
    short : ndarray of float64, shape (k,)
        By how much the worst of its levels is missed; 0 where none is.
    exact : ndarray of bool, shape (k,)
        Cells that are known exactly.
    """

    cells: IntArray
    low: FloatArray
    high: FloatArray
    short: FloatArray
    exact: BoolArray

    @property
    def passed(self) -> bool:
        """Whether all sensitive cells are protected."""
        return not (self.short > 0).any()


def audit(table: CellTable, suppressed: BoolArray) -> Audit:
    """Find the interval of every suppressed cell.

    Parameters
    ----------
    table : CellTable
    suppressed : ndarray of bool, shape (n,)
        Sensitive cells that are not among them are known exactly, and so not protected.
    """
    cells = np.flatnonzero(suppressed | table.primary)
    unknown = np.flatnonzero(suppressed)
    place = {int(cell): at for at, cell in enumerate(unknown)}
    relations = sparse.csr_array(table.relations)[:, unknown]
    relations = relations[np.diff(relations.indptr) > 0]
    bounds = np.column_stack([-table.below[unknown], table.above[unknown]])
    low, high = np.zeros(len(cells)), np.zeros(len(cells))
    for at, cell in enumerate(cells):
        if int(cell) in place:
            goal = np.zeros(len(unknown))
            goal[place[int(cell)]] = 1.0
            low[at], high[at] = (_furthest(sign * goal, relations, bounds) * sign for sign in (1.0, -1.0))
    up, down = np.maximum(high, 0.0), np.maximum(-low, 0.0)
    missed = [
        (table.upper_level[cells], up),
        (table.lower_level[cells], down),
        (table.sliding_level[cells], up + down),
    ]
    short = np.max(
        [np.where(reach < level * (1.0 - SHORT), level - reach, 0.0) for level, reach in missed], axis=0
    )
    scale = np.maximum(np.abs(table.value[cells]), 1.0)
    return Audit(cells, table.value[cells] + low, table.value[cells] + high, short, up + down <= 1e-6 * scale)


def _furthest(goal: FloatArray, relations: sparse.csr_array, bounds: FloatArray) -> float:
    """The smallest value of a goal."""
    none = np.zeros(relations.shape[0])
    given: Any = {"A_eq": relations, "b_eq": none, "bounds": bounds}  # the stubs of scipy know no sparse rows
    found = linprog(goal, **given, method="highs")
    if found.status != 0 or found.fun is None:
        raise RuntimeError(f"the attacker's program could not be solved: {found.message}")
    return float(found.fun)
