"""Modular method: one relaxation over all subtables, with diving as primal heuristic.

An attacker who knows the relations of one subtable knows less than one who knows all, so that a pattern that
protects the table protects every subtable: cuts valid for subtables are valid for the table. The relaxation
with all of them is as strong as the best Lagrangian decomposition, which splits the cost of a cell over its
subtables (Guignard and Kim 1987).

Demands that a pattern leaves open over all relations are met by `repair`; `widen` separates joined subtables
around them, which improves the bound and the next pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.programs import Cuts
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.formulations.tables.subtables import Subtable
from linkrisk.formulations.tables.suppression_model import alone_rows
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables import steering, tolerances
from linkrisk.solver.tables.suppression.capacity_cuts import Bridges, CapacityCuts, together
from linkrisk.solver.tables.suppression.pattern import unit_of
from linkrisk.solver.tables.suppression.relaxation import Relaxation, Solved, rounding_cuts


class Block:
    """Part of the demands of a subtable.

    `local`: the subtable alone, with these demands. `cells` (k,): its cells in the table.
    """

    def __init__(self, table: CellTable, local: CellTable, cells: LongArray) -> None:
        self._width, self.cells = len(table), cells
        self._separator = CapacityCuts(local, bridged=False)
        self._last: FloatArray | None = None

    def rows(self, point: FloatArray) -> Cuts | None:
        """Separate a point into rows over all cells; None if it was separated before."""
        here = point[self.cells]
        if self._last is not None and np.abs(here - self._last).max() < tolerances.SAME_POINT:
            return None
        cuts = self._separator(here)
        if not cuts.count:
            self._last = here
        matrix = sparse.csr_array(
            (cuts.matrix.data, self.cells[cuts.matrix.indices], cuts.matrix.indptr),
            shape=(cuts.count, self._width),
        )
        return Cuts(matrix, cuts.lower, cuts.upper)


class Blocks:
    """Blocks of the subtables of a table."""

    def __init__(self, table: CellTable, parts: Sequence[Subtable]) -> None:
        self._table, self._parts = table, parts
        cells = np.concatenate([part.cells for part in parts])
        rows = np.repeat(np.arange(len(parts)), [part.cells.size for part in parts])
        shape = (len(parts), len(table))
        self._inside = sparse.csr_array((np.ones(cells.size, dtype=np.int8), (rows, cells)), shape=shape)
        self._holders = sparse.csr_array(self._inside.T)
        self._steps: dict[int, int] = {}

    def first(self) -> Iterator[Block]:
        """Return the blocks of all subtables."""
        for part in self._parts:
            yield from self._of(part, self._table.primary[part.cells])

    def wider(self, demands: Sequence[Demand]) -> Iterator[Block]:
        """Join the subtables around these demands, one step farther at each call."""
        groups: dict[tuple[int, ...], list[int]] = {}
        for cell in sorted({demand.cell for demand in demands}):
            self._steps[cell] = steps = self._steps.get(cell, 0) + 1
            near = self._holders[[cell]].indices
            for _ in range(steps):
                near = np.unique(self._holders[np.unique(self._inside[near].indices)].indices)
            groups.setdefault(tuple(near.tolist()), []).append(cell)
        for near_, cells in groups.items():
            relations = np.unique(np.concatenate([self._parts[at].relations for at in near_]))
            inside = np.unique(np.concatenate([self._parts[at].cells for at in near_]))
            yield from self._of(Subtable(relations, inside, 0), np.isin(inside, cells))

    def _of(self, part: Subtable, asked: BoolArray) -> Iterator[Block]:
        """Split the demands of a subtable into blocks."""
        primary = self._table.primary[part.cells]
        local = within(self._table, part, primary, np.zeros(len(self._table)))
        wanted = np.flatnonzero(asked & primary)
        for start in range(0, wanted.size, steering.BLOCK_DEMANDS):
            chosen: BoolArray = np.zeros(len(local), dtype=np.bool_)
            chosen[wanted[start : start + steering.BLOCK_DEMANDS]] = True
            some = replace(
                local,
                lower_level=np.where(chosen, local.lower_level, 0.0),
                upper_level=np.where(chosen, local.upper_level, 0.0),
                sliding_level=np.where(chosen, local.sliding_level, 0.0),
            )
            yield Block(self._table, some, part.cells)


def within(table: CellTable, part: Subtable, hidden: BoolArray, moves: FloatArray) -> CellTable:
    """Return a subtable alone, whose suppressed cells must also move as in the other subtables.

    `hidden` (k,): its suppressed cells, treated as sensitive. `moves` (n,): the movement required of each
    cell of the table by other subtables.
    """
    cells = part.cells
    below, above = table.below[cells], table.above[cells]
    wanted = np.where(hidden, moves[cells], 0.0)
    rows = sparse.csr_array(sparse.csc_array(sparse.csr_array(table.relations)[part.relations])[:, cells])
    return CellTable(
        value=table.value[cells],
        relations=rows,
        lower=table.lower[cells],
        upper=table.upper[cells],
        primary=hidden,
        fixed=table.fixed[cells],
        cost=table.cost[cells],
        lower_level=np.maximum(table.lower_level[cells], np.minimum(wanted, below)),
        upper_level=np.maximum(table.upper_level[cells], np.minimum(wanted, above)),
        sliding_level=table.sliding_level[cells],
    )


class Modular:
    """Computes a dual bound and patterns from the relaxation over the subtables.

    `table`: as the outsider sees it; its bound holds for all attackers. `clock`: when it has expired,
    separation stops and the bound stays valid. `count`: number of subtables. `impossible`: whether the
    relaxation is infeasible, so that no pattern protects. `point` (n,): of the relaxation.
    """

    def __init__(self, table: CellTable, parts: list[Subtable], clock: Clock | None = None) -> None:
        self._table = table
        self._objective = np.where(table.free, table.cost, 0.0)
        lower, upper = table.primary.astype(np.float64), (~table.fixed).astype(np.float64)
        self._relaxation = Relaxation(alone_rows(table), self._objective, lower, upper)
        self._blocks = Blocks(table, parts)
        in_time = takewhile(lambda _: clock is None or not clock.expired, self._blocks.first())
        self._parts, self._bridges = list(in_time), Bridges(table)
        self.bound, self.point, self.count = 0.0, lower, len(parts)
        self.impossible = False

    def run(self, clock: Clock, tell: Callable[[float], None]) -> None:
        """Add cutting planes until the bound stops rising or the clock expires.

        `tell`: called with the bound.
        """
        stale, last = 0, 0.0
        self._relaxation.restrict(self._relaxation.lower, self._relaxation.upper)
        while stale < steering.STALE_ROUNDS and not clock.expired:
            solved = _solved(self._relaxation, clock)
            self.impossible = not np.isfinite(solved.bound)
            if self.impossible:
                break
            self.bound = max(self.bound, self._rounded(solved.bound))
            self.point = self._relaxation.whole_point(solved.point)
            tell(self.bound)
            stale = stale + 1 if solved.bound - last <= steering.LEAST_BOUND_GAIN * self.bound else 0
            last = max(last, solved.bound)
            separated = self._separated(self._relaxation, self.point, clock)
            if not separated and not self._rounded_rows(solved):
                break

    def _rounded_rows(self, solved: Solved) -> bool:
        """Add rounding cuts where the point violates no other rows; tell whether there were any."""
        if self.impossible or solved.point.size > steering.ROUNDING_CUT_CELLS:
            return False
        matrix, right = rounding_cuts(self._relaxation, solved.point)
        self._relaxation.add_open(matrix, right)
        return bool(right.size)

    def widen(self, demands: Sequence[Demand]) -> None:
        """Separate wider subtables around demands that are open over all relations only."""
        self._parts += self._blocks.wider(demands)

    def dive(self, clock: Clock, tell: Callable[[int], None], part: float) -> BoolArray:
        """Dive to a pattern, shape (n,), that protects every subtable if time allows.

        Each round suppresses the cells with the largest values for good and solves the relaxation again,
        until it is integral.

        `tell`: called with the number of fractional cells. `part`: share of the fractional cells fixed per
        round.
        """
        relaxation = self._relaxation
        lower, upper, point = relaxation.lower.copy(), relaxation.upper, relaxation.lower
        for _ in range(steering.DIVE_ROUNDS):
            if clock.expired or self.impossible:
                break
            relaxation.restrict(lower, upper)
            solved = _solved(relaxation, clock)
            if not np.isfinite(solved.bound):
                break
            point = solved.point
            more = self._separated(relaxation, relaxation.whole_point(point), clock)
            between = np.flatnonzero(
                (point > tolerances.INTEGRAL) & (point < 1.0 - tolerances.INTEGRAL) & (lower < 1.0)
            )
            tell(between.size)
            if not more and not between.size:
                break
            lower[point >= 1.0 - tolerances.INTEGRAL] = 1.0
            if between.size:
                many = max(1, int(part * between.size))
                lower[between[np.argsort(-point[between], kind="stable")[:many]]] = 1.0
        return np.asarray(relaxation.whole_point(np.maximum(point, lower)) > 0.5, dtype=np.bool_)

    def _separated(self, relaxation: Relaxation, point: FloatArray, clock: Clock) -> bool:
        """Add violated rows to a relaxation and tell whether there were any."""
        bridges = self._bridges(point)
        found = [bridges] if bridges.count else []
        for part in self._parts:
            if clock.expired or bridges.count >= steering.ENOUGH_GIVEN_ROWS:
                break
            cuts = part.rows(point)
            if cuts is not None and cuts.count:
                found.append(cuts)
        if found:
            matrix, right = relaxation.open_part(together(found))
            most = matrix.maximum(0.0) @ relaxation.upper
            self.impossible = bool((most < right - tolerances.INTEGRAL).any())
            relaxation.add_open(matrix, right)
        return bool(found) and not self.impossible

    def _rounded(self, bound: float) -> float:
        """Round a bound up to the next possible cost."""
        unit = unit_of(self._table.cost[self._table.free])
        return max(0.0, float(np.ceil(bound / unit - 1e-9)) / round(1.0 / unit) if unit else bound)


def _solved(relaxation: Relaxation, clock: Clock) -> Solved:
    """Solve a relaxation; a valid bound, but no optimum, if the clock expires before."""
    for _ in range(steering.MOST_SLICES):
        solved = relaxation.solve(steering.ITERATIONS_PER_SLICE)
        if solved.optimal or not np.isfinite(solved.bound) or clock.expired:
            break
    return solved
