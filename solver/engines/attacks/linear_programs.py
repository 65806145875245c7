"""Improve an attack by linear programs with row generation: widest margin, one more block, hinge loss."""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.linkage.aggregators import Aggregator
from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.formulations.programs import LinearModel
from linkrisk.solver.backends.linear.base import (
    LinearOptions,
    LinearProgram,
    LinearSolution,
    LinearStatus,
    linear_program,
)
from linkrisk.solver.engines.attacks.scoring import STRICT, Scorer
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.work import ITERATION, PROGRAM

_OPTIONS = LinearOptions(own={"dual_simplex_cost_perturbation_multiplier": 0.0})
"""HiGHS options: presolve and cost perturbation cost programs of this size more time than they save."""

_SETTLED = (LinearStatus.OPTIMAL, LinearStatus.TIME)


def new_program(
    matrix: sparse.csr_array,
    cost: FloatArray,
    column_lower: FloatArray,
    column_upper: FloatArray,
    row_lower: FloatArray,
    row_upper: FloatArray,
) -> LinearProgram:
    """Minimise ``cost @ x`` such that ``matrix @ x`` and x keep their bounds."""
    model = LinearModel(
        objective=cost,
        matrix=matrix,
        row_lower=row_lower,
        row_upper=row_upper,
        column_lower=column_lower,
        column_upper=column_upper,
    )
    return linear_program(model, _OPTIONS)


def row_entries(
    values: FloatArray | sparse.csr_array, rows: IndexArray
) -> tuple[IndexArray, IndexArray, FloatArray]:
    """Count the entries of each of these rows, and list their columns and values, row after row.

    Equivalent to indexing a sparse matrix, in a third of the time for few rows.
    """
    if isinstance(values, np.ndarray):
        columns = values.shape[1]
        return np.full(rows.size, columns), np.tile(np.arange(columns), rows.size), values[rows].ravel()
    begin = values.indptr[rows]
    counts = values.indptr[rows + 1] - begin
    ends = np.cumsum(counts)
    places = np.arange(counts.sum()) + np.repeat(begin - ends + counts, counts)
    return counts, values.indices[places], values.data[places]


class GrowingProgram:
    """Linear program over ``theta`` in its domain and extra columns, with row generation.

    `aggregator`: its domain constrains ``theta``, the first columns. `cost`, `lower`, `upper` (extra,): cost
    (minimised) and bounds of the extra columns. `theta_cost` (dimension,): cost of ``theta``; zero when
    absent.
    """

    def __init__(
        self,
        aggregator: Aggregator,
        cost: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        theta_cost: FloatArray | None = None,
    ) -> None:
        domain = aggregator.domain.rows
        self.dimension = aggregator.dimension
        self.domain_rows = self.rows = domain.matrix.shape[0]
        leading = np.zeros(self.dimension) if theta_cost is None else theta_cost
        self._program = new_program(
            sparse.csr_array(
                sparse.hstack([domain.matrix, sparse.csr_array((self.rows, cost.size))], format="csr")
            ),
            np.concatenate([leading, cost]),
            np.concatenate([domain.column_lower, lower]),
            np.concatenate([domain.column_upper, upper]),
            domain.row_lower,
            domain.row_upper,
        )
        self._solution: LinearSolution | None = None

    def add(self, rows: sparse.csr_array, lower: FloatArray) -> IndexArray:
        """Add ``rows @ x >= lower`` and return their positions in the program."""
        starts, columns = rows.indptr[:-1].astype(np.intp), rows.indices.astype(np.intp)
        return self.add_entries(starts, columns, rows.data, lower)

    def add_entries(
        self, starts: IndexArray, columns: IndexArray, values: FloatArray, lower: FloatArray
    ) -> IndexArray:
        """Add rows given by consecutive entries; those of each row begin at its place in `starts`."""
        count = lower.size
        if count:
            above = np.full(count, np.inf)
            self._program.add_row_entries(starts, columns, values, lower, above)
        self.rows += count
        return np.arange(self.rows - count, self.rows)

    def bound_below(self, positions: IndexArray, lower: FloatArray) -> None:
        """Change the lower bounds of rows; -inf switches one off."""
        self._program.change_row_bounds(positions, lower, np.full(positions.size, np.inf))

    def duals(self) -> FloatArray:
        """Dual value of every row at the last solution, shape (rows,)."""
        assert self._solution is not None
        return self._solution.duals

    def price(self, cost: FloatArray) -> None:
        """Change the cost of the extra columns."""
        self._program.change_objective(np.arange(self.dimension, self.dimension + cost.size), cost)

    def solve(self, clock: Clock) -> FloatArray | None:
        """Solve from the last basis in the remaining time; return the point, or None unless it is optimal."""
        self._solution = self._solved(clock)
        if self._solution.status not in _SETTLED:
            self._program.forget_basis()  # the basis may be numerically bad
            self._solution = self._solved(clock)
        return self._solution.point if self._solution.optimal else None

    def _solved(self, clock: Clock) -> LinearSolution:
        solution = self._program.solve(seconds=clock.seconds_left)
        clock.spend(PROGRAM + ITERATION * solution.iterations * (self._program.rows + self._program.columns))
        return solution


_MOST_ROUNDS = 60
_MOST_IDLE_ROWS = 80
_FEW = 20
_MOST_REMEMBERED = 12


class Multipliers(NamedTuple):
    """Dual multipliers of rows, cuts and the domain's rows, which prove a bound on the widest margin."""

    rows: FloatArray
    cuts: FloatArray
    domain: FloatArray


class WidestMargin:
    """Maximise the margin t such that every row of some open blocks has activity at least t.

    Row generation adds rows when they are violated: a few dozen of thousands.

    `clock`: stops the rounds of row generation.
    """

    def __init__(self, system: BlockSystem, scorer: Scorer, clock: Clock) -> None:
        self._system, self._scorer, self._clock = system, scorer, clock
        self._inside = np.zeros(system.open_blocks.size, dtype=bool)
        self._known = np.zeros(system.rows, dtype=bool)
        self.cuts = np.empty((0, system.aggregator.dimension))
        self._remembered: dict[int, list[int]] = {}
        self._begin()

    def _begin(self) -> None:
        """Build the program with the domain's rows alone."""
        self._program = GrowingProgram(
            self._system.aggregator, cost=np.array([-1.0]), lower=np.array([-1.0]), upper=np.array([1.0])
        )
        self.rows = np.empty(0, dtype=np.intp)
        self._known[:] = False
        self._on = np.empty(0, dtype=bool)
        self._places = np.empty(0, dtype=np.intp)
        self._cut_places = np.empty(0, dtype=np.intp)

    def require(self, blocks: IndexArray) -> None:
        """Switch on the rows of exactly these open blocks, and switch off all others."""
        self._inside = np.zeros_like(self._inside)
        self._inside[blocks] = True
        wanted = self._inside[self._system.row_open[self.rows]]
        if wanted.size > _MOST_IDLE_ROWS + 2 * int(wanted.sum()):
            self._renew(self.rows[wanted])
        else:
            changed = np.flatnonzero(wanted != self._on)
            if changed.size:
                self._program.bound_below(self._places[changed], np.where(wanted[changed], 0.0, -np.inf))
                self._on = wanted
        if blocks.size <= _FEW:
            remembered = chain.from_iterable(self._remembered.get(block, ()) for block in blocks.tolist())
            rows = np.fromiter(remembered, dtype=np.intp)
            rows = rows[~self._known[rows]]
            if rows.size:
                self._add(rows)

    def _renew(self, rows: IndexArray) -> None:
        """Rebuild the program with these rows: rows that are switched off slow down every pivot."""
        cuts, self.cuts = self.cuts, self.cuts[:0]
        self._begin()
        if len(cuts):
            self.cut(cuts)
        if rows.size:
            self._add(rows)

    def solve(self, *, widest: bool = True) -> tuple[FloatArray, float] | None:
        """Compute the parameters of widest margin and that margin; None when time ran out.

        The margin is over all rows: a value at or below zero means that the blocks cannot all be linked, up
        to the solver's tolerance. Without `widest`, any parameters that link the blocks are returned.
        """
        few = bool(np.count_nonzero(self._inside) <= _FEW)
        for _ in range(_MOST_ROUNDS):
            point = self._program.solve(self._clock)
            if point is None or self._clock.expired:
                return None
            theta, margin = point[:-1], float(point[-1])
            if margin <= STRICT:
                return theta, margin
            fresh, least = self._violated(theta, margin, everywhere=few)
            if few:
                self._remember(fresh)
            elif fresh.size == 0 or (least > STRICT and not widest):
                fresh, least = self._violated(theta, margin, everywhere=True)
            if fresh.size == 0 or (least > STRICT and not widest):
                return theta, min(margin, least)
            self._add(fresh)
        return None

    def _remember(self, rows: IndexArray) -> None:
        """Remember the rows of each block that were violated last, to start from them in the next query."""
        for row in rows.tolist():
            kept = self._remembered.setdefault(int(self._system.row_open[row]), [])
            kept.append(row)
            del kept[:-_MOST_REMEMBERED]

    def _violated(self, theta: FloatArray, margin: float, *, everywhere: bool) -> tuple[IndexArray, float]:
        """Separate rows that fall short of the margin; also returns the smallest activity."""
        inside = np.flatnonzero(self._inside)
        if inside.size <= _FEW:
            rows, smallest = self._scorer.tightest_of(inside, theta)
        else:
            rows, smallest = self._scorer.tightest_rows(theta, everywhere=everywhere)
            rows, smallest = rows[inside], smallest[inside]
        wanted = rows[smallest < margin - 1e-7]
        return wanted[~self._known[wanted]], float(smallest.min(initial=margin))

    @property
    def required(self) -> IndexArray:
        """Select those of `rows` that are switched on, because they belong to the required blocks."""
        return self.rows[self._on]

    def multipliers(self) -> Multipliers:
        """Read the multipliers of `rows`, `cuts` and the domain's rows from the last solution.

        Multipliers of rows that are switched off are set to zero, against rounding: a core must consist of
        required blocks.
        """
        duals = self._program.duals()
        domain = duals[: self._program.domain_rows]
        of_rows = np.where(self._on, np.clip(duals[self._places], 0.0, None), 0.0)
        return Multipliers(of_rows, np.clip(duals[self._cut_places], 0.0, None), domain)

    def extend(self, theta: FloatArray) -> bool:
        """Add the tightest row of each required block that `theta` does not link; False if none is new."""
        inside = np.flatnonzero(self._inside)
        rows, smallest = self._scorer.tightest_of(inside, theta)
        fresh = rows[(smallest <= 0.0) & ~self._known[rows]]
        if fresh.size:
            self._add(fresh)
        return bool(fresh.size)

    def cut(self, rows: FloatArray) -> None:
        """Add permanent cutting planes: rows that are non-negative on the true domain."""
        wide = sparse.csr_array(np.hstack([rows, np.zeros((len(rows), 1))]))
        places = self._program.add(wide, np.zeros(len(rows)))
        self.cuts = np.vstack([self.cuts, rows])
        self._cut_places = np.concatenate([self._cut_places, places])

    def _add(self, fresh: IndexArray) -> None:
        counts, own_columns, own_values = row_entries(self._system.values, fresh)
        # The last entry of each row is that of t.
        columns = np.full(own_columns.size + fresh.size, self._system.aggregator.dimension)
        values = np.full(columns.size, -1.0)
        own = np.arange(own_columns.size) + np.repeat(np.arange(fresh.size), counts)
        columns[own], values[own] = own_columns, own_values
        starts = np.cumsum(counts + 1) - counts - 1
        places = self._program.add_entries(starts, columns, values, np.zeros(fresh.size))
        self.rows = np.concatenate([self.rows, fresh])
        self._known[fresh] = True
        self._on = np.concatenate([self._on, np.ones(fresh.size, dtype=bool)])
        self._places = np.concatenate([self._places, places])


def hinge(
    system: BlockSystem, scorer: Scorer, clock: Clock, theta: FloatArray, width: float, rounds: int = 4
) -> list[FloatArray]:
    """Points that minimise a reweighted sum of shortfalls ``max(0, width - activity)`` over the blocks.

    The first is the hinge-loss linear program; each further one weighs a block by the inverse of its last
    shortfall, which approaches the count of blocks that fall short (Candes, Wakin and Boyd 2008).

    `system`, `scorer`, `clock`: as in `WidestMargin`. `theta` (dimension,): where the first rows are looked
    for. `width`: the activity that every row should reach. `rounds`: times the blocks are weighed again.
    Returns: every point on the way, all inside the domain up to the solver's tolerance.
    """
    blocks = system.open_blocks.size
    program = GrowingProgram(
        system.aggregator, cost=system.open_weight, lower=np.zeros(blocks), upper=np.full(blocks, np.inf)
    )
    added: set[int] = set()
    points: list[FloatArray] = []
    shortfall = np.zeros(blocks)
    for weighing in range(rounds):
        for _ in range(25):
            rows, smallest = scorer.tightest_rows(theta)
            short = np.flatnonzero(smallest < width - shortfall - 1e-6)
            fresh = [row for row in rows[short] if row not in added]
            if (not fresh and points) or clock.expired:
                break
            owner = system.row_open[fresh]
            slack = sparse.csr_array(
                (np.ones(len(fresh)), owner, np.arange(len(fresh) + 1)), shape=(len(fresh), blocks)
            )
            rows_with_slack = sparse.hstack(
                [system.part(np.array(fresh, dtype=np.intp)), slack], format="csr"
            )
            program.add(sparse.csr_array(rows_with_slack), np.full(len(fresh), width))
            added.update(fresh)
            point = program.solve(clock)
            if point is None:
                return points
            theta, shortfall = point[: -blocks or None], point[-blocks:]
            points.append(theta)
        if clock.expired or weighing == rounds - 1:
            break
        program.price(system.open_weight * width / (shortfall + 0.1 * width))
        point = program.solve(clock)
        if point is None:
            break
        theta, shortfall = point[:-blocks], point[-blocks:]
        points.append(theta)
    return points
