"""Splits unknown cells into connected pieces, and computes the ranges of their cells.

A relation with one unknown cell discloses it. The remaining cells form the connected components of the graph
of cells and relations, which attackers can treat separately.

A linear program with a warm start finds the ends of a range, and both its answers are recomputed: a point
gives an inner bound, any multipliers of relations an outer one (`formulations.tables.reach.reach`). Where
the two agree the end is proven, whatever the optimiser reports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.programs import LinearModel
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.solver.backends.linear.base import LinearOptions, LinearSolution, linear_program, solved_by
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables import steering, tolerances


@dataclass(frozen=True, eq=False)
class Piece:
    """Connected unknown cells with their relations."""

    cells: LongArray  # (k,) their numbers in the table, ascending
    rows: LongArray  # (m,) the numbers of their relations in the table
    relations: sparse.csr_array  # (m, k)
    # `below`, `above`: (k,) publicly known bounds on how far each can go down and up
    below: FloatArray
    above: FloatArray


def known_exactly(table: CellTable, suppressed: BoolArray) -> BoolArray:
    """Find suppressed cells that bounds or relations disclose one after the other, shape (n,)."""
    unknown = suppressed & ((table.below > 0) | (table.above > 0))
    part = sparse.csr_array(table.relations[:, np.flatnonzero(unknown)])
    pattern = sparse.csr_array((np.ones(part.nnz, dtype=np.int64), part.indices, part.indptr), part.shape)
    left = np.ones(part.shape[1], dtype=np.bool_)
    while True:
        alone = np.flatnonzero(pattern @ left.astype(np.int64) == 1)
        disclosed = np.unique(pattern[alone].indices) if alone.size else alone
        disclosed = disclosed[left[disclosed]]
        if not disclosed.size:
            break
        left[disclosed] = False
    known = suppressed.copy()
    known[np.flatnonzero(unknown)[left]] = False
    return known


def pieces_of(table: CellTable, unknown: BoolArray) -> Iterator[Piece]:
    """Find the connected components of unknown cells, the largest first.

    `unknown` (n,).
    """
    cells = np.flatnonzero(unknown)
    part = sparse.csr_array(table.relations[:, cells])
    numbers = np.flatnonzero(np.diff(part.indptr))
    part = part[numbers]
    links = sparse.csr_array(abs(part).T @ abs(part))
    count, label = connected_components(links, directed=False)
    of_row = label[part.indices[part.indptr[:-1]]]
    by_cell, by_row = np.argsort(label, kind="stable"), np.argsort(of_row, kind="stable")
    cell_ends = np.searchsorted(label[by_cell], np.arange(count + 1))
    row_ends = np.searchsorted(of_row[by_row], np.arange(count + 1))
    sorted_part = sparse.csr_array(part[by_row][:, by_cell])
    below, above = table.below[cells], table.above[cells]
    for at in np.argsort(-np.diff(cell_ends), kind="stable"):
        columns = slice(int(cell_ends[at]), int(cell_ends[at + 1]))
        own = by_cell[columns]
        span = slice(int(row_ends[at]), int(row_ends[at + 1]))
        rows = sorted_part[span]
        relations = sparse.csr_array(
            (rows.data, rows.indices - columns.start, rows.indptr), shape=(rows.shape[0], own.size)
        )
        yield Piece(cells[own], numbers[by_row[span]], relations, below[own], above[own])


_PRIMAL = 4
"""The primal simplex method in HiGHS: if only the goal changes, its last basis stays feasible."""


@dataclass(frozen=True, eq=False)
class Ends:
    """Ranges of cells."""

    # `down`, `up`: (k,) lower bounds, not negative
    down: FloatArray
    up: FloatArray
    # `down_found`, `up_found`: (k,) whether they are proven exact
    down_found: BoolArray
    up_found: BoolArray

    def of(self, at: LongArray) -> Ends:
        """Return those of some cells."""
        return Ends(self.down[at], self.up[at], self.down_found[at], self.up_found[at])


class Furthest:
    """Linear program of a piece, with the points found so far.

    `seen`: ranges shown by all points so far, shape (k,). `on_point`: called with every recomputed point,
    before it is stored.
    """

    def __init__(self, piece: Piece) -> None:
        self.piece = piece
        self.on_point: Callable[[FloatArray], None] | None = None
        cells = piece.cells.size
        self._unit = unit_of(piece)
        none = np.zeros(piece.relations.shape[0])
        self._columns = np.arange(cells)
        self._goal = self._columns[:0]
        self._by_cell = sparse.csr_array(piece.relations.T)
        self._program = linear_program(
            LinearModel(
                objective=np.zeros(cells),
                matrix=piece.relations,
                row_lower=none,
                row_upper=none,
                column_lower=-piece.below / self._unit,
                column_upper=piece.above / self._unit,
            ),
            LinearOptions(feasibility=1e-9, optimality=1e-9, own={"simplex_strategy": _PRIMAL}),
        )
        self._close = tolerances.MOVABLE * np.maximum(np.maximum(piece.below, piece.above), 1.0)
        self.seen = Ends(np.zeros(cells), np.zeros(cells), piece.below <= 0, piece.above <= 0)

    def find(self, at: LongArray, clock: Clock) -> Ends:
        """Compute the ranges of some cells, given by their places; not all if the clock expires."""
        self._move_many(clock)
        seen = self.seen
        for place in at.tolist():
            for sign, found in ((1.0, seen.up_found), (-1.0, seen.down_found)):
                if not found[place] and not clock.expired:
                    self.settle(place, sign, clock)
        return seen.of(at)

    def _move_many(self, clock: Clock) -> None:
        """Move all cells at once, up and down: those that attain their public bounds are done."""
        seen, generator = self.seen, np.random.default_rng(0)
        for _ in range(steering.ROUNDS_OF_MANY_CELLS):
            before = int(seen.up_found.sum() + seen.down_found.sum())
            signs = generator.choice([-1.0, 1.0], self._columns.size)
            for way in (signs, -signs):
                if not clock.expired:
                    goal = way * generator.uniform(0.5, 1.0, signs.size)
                    self.see(self._solve(self._columns, goal, clock))
            after = int(seen.up_found.sum() + seen.down_found.sum())
            if after - before < 4:
                break

    def settle(self, place: int, sign: float, clock: Clock | None = None) -> LinearSolution:
        """Move one cell as far as possible with a warm start, and from scratch if that proves nothing."""
        seen, at = self.seen, np.array([place])
        way, found = (seen.up, seen.up_found) if sign > 0 else (seen.down, seen.down_found)
        for attempt in range(2):
            if attempt:
                self._program.forget_basis()
            solution = self._solve(at, np.array([sign]), clock)
            self.see(solution)
            if not found[place] and solution.optimal:
                bound = self.bound(place, sign, solution.duals)
                found[place] = bound <= way[place] + self._close[place]
            if found[place] or (clock is not None and clock.expired):
                break
        return solution

    def _solve(self, at: LongArray, goal: FloatArray, clock: Clock | None) -> LinearSolution:
        """Maximise a goal over some cells, in the time that is left."""
        program = self._program
        program.change_objective(self._goal, np.zeros(self._goal.size))
        program.change_objective(at, -goal)
        self._goal = at
        return program.solve() if clock is None else solved_by(program, clock)

    def see(self, solution: LinearSolution) -> None:
        """Recompute a point and store how far it moves each cell."""
        if solution.optimal:
            self.count(self.deviations(solution))

    def deviations(self, solution: LinearSolution) -> FloatArray:
        """Return the deviations of a solution, shape (k,)."""
        return np.asarray(solution.point * self._unit)

    def count(self, point: FloatArray) -> None:
        """Store how far feasible deviations move each cell, shape (k,)."""
        piece, seen = self.piece, self.seen
        point = np.clip(point, -piece.below, piece.above)
        off = np.abs(piece.relations @ point)
        if (off > tolerances.MOVABLE * np.maximum(abs(piece.relations) @ np.abs(point), 1.0)).any():
            return
        if self.on_point is not None:
            self.on_point(point)
        np.maximum(seen.up, point, out=seen.up)
        np.maximum(seen.down, -point, out=seen.down)
        np.logical_or(seen.up_found, seen.up >= piece.above, out=seen.up_found)
        np.logical_or(seen.down_found, seen.down >= piece.below, out=seen.down_found)

    def bound(self, place: int, sign: float, duals: FloatArray) -> float:
        """Bound the range of a cell by any multipliers of the relations."""
        piece, found = self.piece, np.inf
        for multipliers in (-duals, -np.round(duals, 6)):  # noise weighs heavily at wide bounds
            reduced = -(self._by_cell @ multipliers)
            reduced[place] += sign
            found = min(found, float(np.maximum(reduced * piece.above, -reduced * piece.below).sum()))
        return found


def unit_of(piece: Piece) -> float:
    """Return the unit of deviations: 1, or the power of 2 that keeps all of them small."""
    largest = float(max(piece.below.max(), piece.above.max()))
    return float(2.0 ** max(0.0, np.ceil(np.log2(largest / tolerances.LARGEST_DEVIATION))))
