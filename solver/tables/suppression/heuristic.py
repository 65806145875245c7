"""A pattern that protects, demand by demand.

For every demand the cheapest way to move its cell by its level is a linear program whose costs are those of
the cells that it moves (Kelly, Golden and Assad 1992; Fischetti and Salazar 2000, section 5): they are
suppressed, and cost nothing from then on. What one demand moves may meet others, too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.programs import LinearModel
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.solver.backends.linear.base import LinearOptions, LinearProgram
from linkrisk.solver.backends.linear.registry import linear_program
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.attackers.seen import Seen

_CHEAP = 0.01
"""What a cell costs that is taken to be chosen, as a share of its cost."""

_MOVED = 1e-9
"""What is moved by less of its demand's level is not moved."""

_MET = 1e-9
"""By how much of its level a demand may be short of it and be met."""

JUST = 1e-7
"""Relative to a sliding level, which may ask for all the way that there is: the lower end would be missed by
rounding. Less than what demands may be short of it."""

_FEW = 12
"""As many of the cheapest cells of each relation are tried first."""


class Witnesses:
    """Finds patterns by deviations that prove that they protect."""

    def __init__(self, table: CellTable) -> None:
        self._table = table
        self._few: _Ways | None = None
        self._all: _Ways | None = None

    def pattern(
        self, demands: Sequence[Demand], clock: Clock, likely: FloatArray | None = None
    ) -> BoolArray | None:
        """Cells that protect all demands when they are suppressed, shape (n,); some may not be needed.

        `demands`: those that the sensitive cells do not meet among themselves. `clock`: when it has expired,
        all cells are taken. `likely` (n,): how likely each cell is a good choice, from 0 to 1: so much
        cheaper it is taken to be. Returns (n,): None where a demand cannot be met, whatever is suppressed.
        """
        table = self._table
        suppressed, seen = table.primary.copy(), Seen(table, most=2 * len(demands) + 1)
        cost = table.cost if likely is None else table.cost * (1.0 - (1.0 - _CHEAP) * likely)
        halves = self._halves(demands)
        for way in (self._few, self._all):
            if way is not None:
                way.begin(cost, suppressed)
        for demand in sorted(halves, key=lambda one: -one.level):
            if clock.expired:
                return np.asarray(~table.fixed)
            up, down = seen.reach(suppressed.astype(np.float64))
            if (up if demand.up else down)[demand.cell] >= demand.level * (1.0 - _MET):
                continue
            found = self._cheapest(demand, cost, suppressed)
            if found is None:
                return None
            seen.add(demand, *found)
            suppressed[found[0]] = True
        return suppressed

    def _halves(self, demands: Sequence[Demand]) -> list[Demand]:
        """Demands up and demands down; a sliding one is met by these two together, as far up as it goes."""
        found = []
        for demand in demands:
            if not (demand.up and demand.down):
                found.append(demand)
                continue
            if self._all is None:
                self._all = _Ways(self._table, np.flatnonzero(~self._table.fixed))
            level = demand.level * (1.0 - JUST)
            up = min(level, self._all.furthest_up(demand.cell))
            if up > 0:
                found.append(Demand(demand.cell, up, up=True, down=False))
            if level > up:
                found.append(Demand(demand.cell, level - up, up=False, down=True))
        return found

    def _cheapest(
        self, demand: Demand, cost: FloatArray, suppressed: BoolArray
    ) -> tuple[LongArray, FloatArray] | None:
        """The cells that move when the cell of a demand does by its level, and how far; None if it cannot."""
        table = self._table
        if self._few is None:
            self._few = _Ways(table, _cheapest_cells(table, _FEW))
            self._few.begin(cost, suppressed)
        found = self._few.cheapest(demand, suppressed)
        if found is not None or self._few.everything:
            return found
        if self._all is None:
            self._all = _Ways(table, np.flatnonzero(~table.fixed))
            self._all.begin(cost, suppressed)
        return self._all.cheapest(demand, suppressed)


class _Ways:
    """The cheapest deviations over some cells, each of which goes up or down at its cost."""

    def __init__(self, table: CellTable, cells: LongArray) -> None:
        self._cells, self._place = cells, np.full(len(table), -1)
        self._place[cells] = np.arange(cells.size)
        self.everything = cells.size == int((~table.fixed).sum())
        relations = sparse.csc_array(table.relations)[:, cells]
        rows = relations.shape[0]
        self._upper = np.concatenate([table.above[cells], table.below[cells]])
        self._program: LinearProgram = linear_program(
            LinearModel(
                objective=np.zeros(2 * cells.size),
                matrix=sparse.csr_array(sparse.hstack([relations, -relations], format="csr")),
                row_lower=np.zeros(rows),
                row_upper=np.zeros(rows),
                column_lower=np.zeros(2 * cells.size),
                column_upper=self._upper,
            ),
            LinearOptions(feasibility=1e-9, optimality=1e-9, own={"presolve": "off"}),
        )

    def begin(self, cost: FloatArray, suppressed: BoolArray) -> None:
        """Take the costs of all cells, of which those that are suppressed cost nothing."""
        found = np.where(suppressed, 0.0, cost)[self._cells]
        self._free = suppressed[self._cells]
        self._program.change_objective(np.arange(2 * found.size), np.concatenate([found, found]))

    def furthest_up(self, cell: int) -> float:
        """How far up a cell can go; costs have to be told anew then (`begin`)."""
        count = self._cells.size
        at = self._place[cell]
        objective = np.zeros(2 * count)
        objective[at] = -1.0
        down = np.array([at + count])
        self._program.change_objective(np.arange(2 * count), objective)
        self._program.change_column_bounds(down, np.zeros(1), np.zeros(1))
        solution = self._program.solve()
        self._program.change_column_bounds(down, np.zeros(1), self._upper[down])
        return max(float(solution.point[at]) * (1.0 - _MET), 0.0) if solution.optimal else 0.0

    def cheapest(self, demand: Demand, suppressed: BoolArray) -> tuple[LongArray, FloatArray] | None:
        """Cells and deviations by which the cell of a demand moves by its level; None if it cannot."""
        count = self._cells.size
        new = np.flatnonzero(suppressed[self._cells] & ~self._free)
        self._free[new] = True
        both = np.concatenate([new, new + count])
        self._program.change_objective(both, np.zeros(both.size))
        at = self._place[demand.cell] + (0 if demand.up else count)
        pair = np.array([at, (at + count) % (2 * count)])
        level = np.array([demand.level, 0.0])
        self._program.change_column_bounds(pair, np.array([demand.level, 0.0]), level)
        self._program.forget_basis()
        solution = self._program.solve()
        found = None
        if solution.optimal:
            moves = solution.point[:count] - solution.point[count:]
            moved = np.flatnonzero(np.abs(moves) > _MOVED * demand.level)
            found = self._cells[moved], moves[moved]
        self._program.change_column_bounds(pair, np.zeros(2), self._upper[pair])
        return found


def _cheapest_cells(table: CellTable, most: int) -> LongArray:
    """The sensitive cells, and in each relation the cheapest others, the widest first among equals."""
    relations = sparse.csr_array(table.relations)
    inside = relations.indices
    rows = np.repeat(np.arange(relations.shape[0]), np.diff(relations.indptr))
    room = np.minimum(table.above, table.below)[inside]
    order = np.lexsort((-room, table.cost[inside], rows))
    order = order[table.free[inside[order]]]
    sizes = np.bincount(rows[order], minlength=relations.shape[0])
    rank = np.arange(order.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept = table.primary.copy()
    kept[inside[order[rank < most]]] = True
    return np.flatnonzero(kept)
