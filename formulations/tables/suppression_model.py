"""Cell suppression as a covering program in whole numbers, whose rows are found when they are violated.

    minimise    sum of cost_i x_i over free cells
    subject to  sum_i min(reach_i, left) x_i >= left       for every demand and every dual solution
                x_i <= sum of the other x_j of a relation  no relation has exactly one suppressed cell
                x_p = 1 for primary cells, 0 for fixed ones

Fischetti and Salazar (2000) Models and algorithms for optimizing cell suppression in tabular data with linear
constraints, JASA 95, 916-928. What is left of a level is that without the primary cells.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.programs import Cuts, MilpModel, Separator, no_cuts
from linkrisk.formulations.tables.cell_table import CellTable

_NOTHING = 1e-7
"""Coefficient below which a cell is left out."""

_LEFT = 1e-3
"""Least residual level for which rows are made, as a share of the level."""

_SAFE = 1e-12
"""Margin above the rounding error of a sum of coefficients."""


def suppression_model(table: CellTable, separator: Separator | None) -> MilpModel:
    """Return the integer program, whose columns are the cells.

    Parameters
    ----------
    table : CellTable
    separator : Separator or None
        Knows the capacity constraints.
    """
    alone = alone_rows(table)
    return MilpModel(
        objective=np.where(table.free, table.cost, 0.0),
        matrix=alone.matrix,
        row_lower=alone.lower,
        row_upper=alone.upper,
        column_lower=table.primary.astype(np.float64),
        column_upper=(~table.fixed).astype(np.float64),
        integer=np.ones(len(table), dtype=np.bool_),
        separator=separator,
    )


def alone_rows(table: CellTable) -> Cuts:
    """Require another suppressed cell in each relation with one primary cell, which it would disclose."""
    relations = sparse.csr_array(table.relations)
    inside, count = relations.indices, relations.shape[0]
    rows = np.repeat(np.arange(count), np.diff(relations.indptr))
    wanted = np.bincount(rows, table.primary[inside], count) == 1
    entries = np.flatnonzero(wanted[rows] & table.free[inside])
    place, number = np.unique(rows[entries], return_inverse=True)
    matrix = sparse.csr_array(
        (np.ones(entries.size), (number, inside[entries])), shape=(place.size, len(table))
    )
    return Cuts(matrix, np.ones(place.size), np.full(place.size, np.inf))


class BridgeRows:
    """Separates bridgeless inequalities: a free cell is suppressed only with another of each relation.

    A cell suppressed alone in a relation is disclosed, so that publishing it changes nothing: no optimal
    pattern has one if all costs are positive. In each relation only the largest cell can violate this.

    Parameters
    ----------
    table : CellTable
    """

    def __init__(self, table: CellTable) -> None:
        relations = sparse.csr_array(table.relations)
        self._starts, self._inside, self._shape = relations.indptr, relations.indices, relations.shape
        self._rows = np.repeat(np.arange(relations.shape[0]), np.diff(relations.indptr))
        self._free = (table.free & (table.cost > 0))[self._inside]

    def __call__(self, x: FloatArray, least: float) -> Cuts:
        """Return the rows that a point, shape (n,), violates by more than `least`."""
        there = x[self._inside]
        sums = np.bincount(self._rows, there, self._shape[0])
        entry = np.flatnonzero(self._free & (2.0 * there - sums[self._rows] > least))
        if not entry.size:
            return no_cuts(self._shape[1])
        found = [self._inside[self._starts[row] : self._starts[row + 1]] for row in self._rows[entry]]
        inside = np.concatenate(found)
        starts = np.concatenate([[0], np.cumsum([one.size for one in found])])
        data = np.ones(inside.size)
        data[inside == np.repeat(self._inside[entry], np.diff(starts))] = -1.0
        matrix = sparse.csr_array((data, inside, starts), shape=(entry.size, self._shape[1]))
        return Cuts(matrix, np.zeros(entry.size), np.full(entry.size, np.inf))

    def without_bridges(self, suppressed: BoolArray) -> BoolArray:
        """Publish free cells that are alone in a relation, repeatedly, shape (n,)."""
        suppressed = suppressed.copy()
        while True:
            there = suppressed[self._inside]
            count = np.bincount(self._rows, there, self._shape[0])
            alone = there & self._free & (count[self._rows] == 1)
            if not alone.any():
                return suppressed
            suppressed[self._inside[alone]] = False


def capacity_row(
    reach: FloatArray, level: float, given: BoolArray | None = None
) -> tuple[LongArray, FloatArray, float]:
    """Return a capacity constraint: its cells, their coefficients, and its right-hand side, about 1.

    The contributions of `given` cells, suppressed or not, are subtracted from the level, and coefficients are
    cut to the rest (knapsack cover inequalities: Carr, Fleischer, Leung and Phillips 2000). Tiny coefficients
    are dropped with a corresponding reduction of the right-hand side, so that the row stays valid.

    Parameters
    ----------
    reach : ndarray of float64, shape (n,)
        What each suppressed cell adds at most.
    level : float
    given : ndarray of bool, shape (n,), optional
        The cells that are always suppressed, and any others; where these are enough for the level, or nearly,
        none is taken off.
    """
    left = level if given is None else level - float(reach[given].sum())
    enough = left < _LEFT * level
    left = level if enough else left
    row = np.minimum(reach, left) / left
    if given is not None and not enough:
        row[given] = 0.0
    cells = np.flatnonzero(row > _NOTHING)
    found = row[cells]
    found[found > 1.0 - _NOTHING] = 1.0
    little = float(row.sum()) - float(row[cells].sum())
    right = 1.0 if little < _NOTHING and bool((found == 1.0).all()) else 1.0 - max(little, 0.0) - _SAFE
    return cells, found, right
