"""Movements of many cells at once: who can go how far, and what it costs to let them.

A movement is a vector of deviations that all relations allow; where it moves only suppressed cells, and none
beyond its bounds, it proves the demand of every cell that it moves by its level: a witness. One linear
program looks for a movement that does so for as many cells as it can, and a second one for the movement that
does the same by suppressing the cheapest cells (Kelly, Golden and Assad 1992, for one cell at a time).

Cells that may move can be any part of the table: all others stay where they are, which is a movement, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.programs import LinearModel
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.solver.backends.linear.base import LinearOptions
from linkrisk.solver.backends.linear.registry import linear_program
from linkrisk.solver.backends.linear.sliced import solved_by
from linkrisk.solver.run.clock import Clock

_MOVED = 1e-9
"""What is moved by less than this share of the smallest level is not moved."""

_MET = 1e-6
"""By how much of its level a cell may be short and still be moved by it."""

_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Needs:
    """What has to move: cells, which way, and how far; arrays of shape (k,)."""

    cell: LongArray
    sign: FloatArray  # 1 for up, -1 for down
    level: FloatArray  # above 0

    def __len__(self) -> int:
        return int(self.cell.size)

    def __getitem__(self, chosen: LongArray | BoolArray) -> Needs:
        return Needs(self.cell[chosen], self.sign[chosen], self.level[chosen])

    def met_by(self, deviations: FloatArray) -> BoolArray:
        """Which of them a movement, shape (n,), meets."""
        return np.asarray(self.sign * deviations[self.cell] >= self.level * (1.0 - _MET), dtype=np.bool_)

    @classmethod
    def of(cls, demands: Sequence[Demand], most_up: FloatArray) -> Needs:
        """Those of some demands; a sliding one is met by a way up and a way down together.

        Parameters
        ----------
        demands : sequence of Demand
        most_up : ndarray of float64, shape (n,)
            How far each cell can go up at all, of which sliding demands take as much as they can.
        """
        found: list[tuple[int, float, float]] = []
        for demand in demands:
            level, cell = demand.level, demand.cell
            up = min(level, float(most_up[cell])) if demand.up and demand.down else level * demand.up
            found += [(cell, 1.0, up)] if up > 0 else []
            found += [(cell, -1.0, level - up)] if demand.down and level > up else []
        cell_, sign, levels = zip(*found, strict=True) if found else ((), (), ())
        return cls(np.array(cell_, dtype=np.int64), np.array(sign, float), np.array(levels, float))


class Movements:
    """Movements of some cells of a table as one attacker sees it."""

    def __init__(self, view: CellTable) -> None:
        self._view = view
        self._by_cell = sparse.csc_array(view.relations)
        self._by_relation = sparse.csr_array(view.relations)

    def around(self, cell: int, steps: int) -> LongArray:
        """Cells that some relations in a row lead to, from a cell; fixed ones are no way."""
        known, edge = np.zeros(len(self._view), dtype=np.bool_), np.array([cell])
        known[cell] = True
        for _ in range(steps):
            rows = np.unique(self._by_cell[:, edge].indices)
            cells = np.unique(self._by_relation[rows].indices)
            edge = cells[~known[cells] & ~self._view.fixed[cells]]
            known[edge] = True
        return np.flatnonzero(known)

    def most(
        self,
        moving: LongArray,
        needs: Needs,
        suppressed: BoolArray,
        cost: FloatArray,
        clock: Clock,
    ) -> FloatArray | None:
        """The movement that meets as many needs as it can, at the least cost of cells not yet suppressed.

        `moving` (c,): cells that may move, those of the needs among them. `needs`: at most one for each cell.
        `suppressed` (n,): those that move at no cost; when none else may move, cost is not looked at. `cost`
        (n,). Returns (n,): None where no optimiser found one in time.
        """
        program = _Program(self._view, self._by_cell, moving, needs, suppressed)
        found = program.farthest(clock)
        if found is not None and not suppressed[moving].all():
            found = program.cheapest(found, cost, clock)
        return None if found is None else program.deviations(found)

    def cheapest(
        self, moving: LongArray, needs: Needs, suppressed: BoolArray, cost: FloatArray, clock: Clock
    ) -> FloatArray | None:
        """The movement that meets all needs at the least cost; None where none does, or the clock is out."""
        program = _Program(self._view, self._by_cell, moving, needs, suppressed)
        found = program.cheapest(None, cost, clock)
        return None if found is None else program.deviations(found)


class _Program:
    """The program of both: columns for suppressed cells, for others up and down, and the needs met."""

    def __init__(
        self,
        view: CellTable,
        by_cell: sparse.csc_array,
        moving: LongArray,
        needs: Needs,
        suppressed: BoolArray,
    ) -> None:
        self._view, self._moving, self._needs = view, moving, needs
        place = np.full(len(view), -1)
        place[moving] = np.arange(moving.size)
        self._wanted = place[needs.cell]
        hidden = suppressed[moving]
        hidden[self._wanted] = True
        self._plain, self._split = np.flatnonzero(hidden), np.flatnonzero(~hidden)
        part = by_cell[:, moving]
        rows = np.unique(part.indices)
        part = sparse.csc_array(sparse.csr_array(part)[rows])
        lower, upper = -view.below[moving], view.above[moving]
        lower, upper = self._rest(lower, upper)
        target = part[:, self._wanted] @ sparse.diags_array(needs.sign * needs.level)
        split = part[:, self._split]
        matrix = sparse.csr_array(sparse.hstack([part[:, self._plain], split, -split, target], format="csr"))
        none, many = np.zeros(rows.size), len(needs)
        self._columns = matrix.shape[1]
        self._first = self._columns - many
        self._program = linear_program(
            LinearModel(
                objective=np.concatenate([np.zeros(self._first), np.full(many, -1.0)]),
                matrix=matrix,
                row_lower=none,
                row_upper=none,
                column_lower=np.concatenate([lower[self._plain], np.zeros(2 * self._split.size + many)]),
                column_upper=np.concatenate(
                    [upper[self._plain], upper[self._split], -lower[self._split], np.ones(many)]
                ),
            ),
            LinearOptions(feasibility=_TOLERANCE, optimality=_TOLERANCE, own={"presolve": "off"}),
        )

    def _rest(self, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bounds of what is left of each cell: one with a need goes its way only, and beyond its level."""
        lower, upper, at = lower.copy(), upper.copy(), self._wanted
        up, level = self._needs.sign > 0, self._needs.level
        lower[at] = np.where(up, 0.0, np.minimum(0.0, lower[at] + level))
        upper[at] = np.where(up, np.maximum(0.0, upper[at] - level), 0.0)
        return lower, upper

    def farthest(self, clock: Clock) -> FloatArray | None:
        """The point that meets most needs; None where the optimiser found none."""
        solution = solved_by(self._program, clock)
        return solution.point if solution.optimal else None

    def cheapest(self, point: FloatArray | None, cost: FloatArray, clock: Clock) -> FloatArray | None:
        """The cheapest point that meets the needs that another one meets, or all of them."""
        met = (
            np.ones(len(self._needs))
            if point is None
            else np.where(point[self._first :] >= 1.0 - _MET, 1.0, 0.0)
        )
        columns = np.arange(self._columns)
        free = cost[self._moving[self._split]]
        scale = max(float(free.max(initial=0.0)), 1e-300)
        objective = np.concatenate(
            [np.zeros(self._plain.size), free / scale, free / scale, np.zeros(met.size)]
        )
        self._program.change_objective(columns, objective)
        self._program.change_column_bounds(columns[self._first :], met, met)
        solution = solved_by(self._program, clock)
        return solution.point if solution.optimal else point

    def deviations(self, point: FloatArray) -> FloatArray:
        """Deviations of all cells, shape (n,); those that are next to nothing are 0."""
        needs, parts = self._needs, self._split.size
        local = np.zeros(self._moving.size)
        local[self._plain] = point[: self._plain.size]
        ups = point[self._plain.size : self._plain.size + parts]
        local[self._split] = ups - point[self._plain.size + parts : self._first]
        local[self._wanted] += needs.sign * needs.level * point[self._first :]
        least = float(needs.level.min(initial=1.0))
        local[np.abs(local) <= _MOVED * least] = 0.0
        found = np.zeros(len(self._view))
        found[self._moving] = local
        return found
