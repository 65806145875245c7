"""The programs of attackers: how far a cell goes within what one of them, or all of some, think possible.

They are solved in the part of the table that a cell hangs together with, from the last basis there. What the
optimiser says is counted: deviations have to satisfy all relations, and multipliers to limit them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from scipy.sparse.csgraph import connected_components

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.programs import LinearModel
from linkrisk.formulations.tables.crowd import Crowd
from linkrisk.solver.backends.linear.base import LinearOptions
from linkrisk.solver.backends.linear.registry import linear_program

_SAFE = 1e-7
"""By how much of its size what is counted may be off."""


class Eyes:
    """The programs of all attackers, each in the part of the table that a cell hangs together with."""

    def __init__(self, crowd: Crowd, suppressed: BoolArray) -> None:
        self.crowd = crowd
        self.onlookers = crowd.within(suppressed.astype(np.float64))
        relations = sparse.csr_array(crowd.table.relations)
        rows, size = relations.shape
        part = sparse.csr_array(relations @ sparse.diags_array(suppressed.astype(np.float64)))
        part.eliminate_zeros()
        edges = part.tocoo()
        ends = (edges.row, edges.col + rows)
        graph = sparse.csr_array((np.ones(part.nnz), ends), shape=(rows + size, rows + size))
        label = connected_components(graph, directed=False)[1] if part.nnz else np.arange(rows + size)
        self._rows, self._cells, self._part = label[:rows], label[rows:], part
        self._suppressed = suppressed
        self._parts: dict[int, _Part] = {}

    def furthest(
        self, cell: int, sign: float, bounds: tuple[FloatArray, FloatArray]
    ) -> tuple[float, LongArray, FloatArray, FloatArray]:
        """How far a cell goes within bounds, deviations that show it, and the reduced goal that limits it."""
        part = self._part_of(cell)
        below, above = (side[part.cells] for side in bounds)
        place = int(np.searchsorted(part.cells, cell))
        for attempt in range(2):
            point, multipliers = part.solve(place, sign, below, above, anew=attempt > 0)
            reduced = -(part.by_cell @ multipliers)
            reduced[place] += sign
            most = float(np.maximum(reduced * above, -reduced * below).sum())
            reach = max(float(sign * point[place]), 0.0)
            if most <= reach + _SAFE * max(float(above[place]), float(below[place]), 1.0):
                return reach, part.cells, point, self._everywhere(part.cells, reduced)
        given: Any = {"A_eq": part.relations, "b_eq": np.zeros(part.relations.shape[0])}
        limits: Any = np.column_stack([-below, above])
        goal = np.where(np.arange(part.cells.size) == place, -sign, 0.0)
        found = linprog(goal, **given, bounds=limits, method="highs")  # the stubs know no sparse rows
        if found.status != 0 or found.x is None or found.fun is None:
            raise RuntimeError(f"the attacker's program could not be solved: {found.message}")
        point = part.counted(np.asarray(found.x, dtype=np.float64), below, above)
        return max(-float(found.fun), 0.0), part.cells, point, self._everywhere(part.cells, reduced)

    def _everywhere(self, cells: LongArray, reduced: FloatArray) -> FloatArray:
        whole = np.zeros(self._suppressed.size)
        whole[cells] = reduced
        return whole

    def _part_of(self, cell: int) -> _Part:
        label = int(self._cells[cell])
        if label not in self._parts:
            inside = np.flatnonzero((self._cells == label) & self._suppressed)
            rows = np.flatnonzero(self._rows == label)
            self._parts[label] = _Part(inside, sparse.csr_array(self._part[rows][:, inside]))
        return self._parts[label]


class _Part:
    """The program of a part of the table, solved from its last basis; its answers are counted."""

    def __init__(self, cells: LongArray, relations: sparse.csr_array) -> None:
        self.cells, self.relations = cells, relations
        self.by_cell = sparse.csr_array(relations.T)
        none = np.zeros(relations.shape[0])
        self._program = linear_program(
            LinearModel(
                objective=np.zeros(cells.size),
                matrix=relations,
                row_lower=none,
                row_upper=none,
                column_lower=np.zeros(cells.size),
                column_upper=np.zeros(cells.size),
            ),
            LinearOptions(feasibility=1e-9, optimality=1e-9),
        )
        self._everyone, self._goal = np.arange(cells.size), np.zeros(0, dtype=np.int64)

    def solve(
        self, place: int, sign: float, below: FloatArray, above: FloatArray, *, anew: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Deviations that move a cell as far as they can, or none; and multipliers of the relations."""
        program, at = self._program, np.array([place])
        if anew:
            program.forget_basis()
        program.change_column_bounds(self._everyone, -below, above)
        program.change_objective(self._goal, np.zeros(self._goal.size))
        program.change_objective(at, np.array([-sign]))
        self._goal = at
        found = program.solve()
        if not found.optimal:
            return np.zeros(self.cells.size), np.zeros(self.relations.shape[0])
        return self.counted(found.point, below, above), -found.duals

    def counted(self, point: FloatArray, below: FloatArray, above: FloatArray) -> FloatArray:
        """The deviations if they satisfy the relations and keep within the bounds, else none."""
        point = np.clip(point, -below, above)
        scale = np.maximum(abs(self.relations) @ np.abs(point), 1.0)
        holds = (np.abs(self.relations @ point) <= _SAFE * scale).all()
        return np.asarray(point) if holds else np.zeros(point.size)
