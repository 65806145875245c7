"""Linear programs that improve an attack: widen its margin, link one more block, give up the right blocks."""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.solver.engines.attacks.growing_program import GrowingProgram, row_entries
from linkrisk.solver.engines.attacks.scoring import STRICT, Scorer
from linkrisk.solver.run.clock import Clock

_MOST_ROUNDS = 60
_MOST_IDLE_ROWS = 80
_FEW = 20
_MOST_REMEMBERED = 12


class Multipliers(NamedTuple):
    """Multipliers of rows, of cuts and of the domain's rows that combine to a bound on the widest margin."""

    rows: FloatArray
    cuts: FloatArray
    domain: FloatArray


class WidestMargin:
    """Maximise t such that every row of some open blocks has activity at least t.

    The rows enter as they are violated, so only a few dozen of thousands ever do.

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
        """A program with no rows but those of the domain."""
        self._program = GrowingProgram(
            self._system.aggregator, cost=np.array([-1.0]), lower=np.array([-1.0]), upper=np.array([1.0])
        )
        self.rows = np.empty(0, dtype=np.intp)
        self._known[:] = False
        self._on = np.empty(0, dtype=bool)
        self._places = np.empty(0, dtype=np.intp)
        self._cut_places = np.empty(0, dtype=np.intp)

    def require(self, blocks: IndexArray) -> None:
        """Ask for exactly these open blocks, switching off the rows of all others."""
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
        """Start again with these rows: every step costs time for the rows that are switched off, too."""
        cuts, self.cuts = self.cuts, self.cuts[:0]
        self._begin()
        if len(cuts):
            self.cut(cuts)
        if rows.size:
            self._add(rows)

    def solve(self, *, widest: bool = True) -> tuple[FloatArray, float] | None:
        """The parameters of widest margin and that margin; None when time ran out.

        The margin is that of all rows, so a value at or below zero says that the blocks cannot all be
        linked, up to the solver's tolerance. Without `widest` any parameters that link the blocks will do.
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
        """Keep the rows of each block that were violated last, to begin with when it is asked for again."""
        for row in rows.tolist():
            kept = self._remembered.setdefault(int(self._system.row_open[row]), [])
            kept.append(row)
            del kept[:-_MOST_REMEMBERED]

    def _violated(self, theta: FloatArray, margin: float, *, everywhere: bool) -> tuple[IndexArray, float]:
        """Rows that fall short of the margin and are not in the program yet, and the smallest activity."""
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
        """Those of `rows` that are switched on: the rows of the blocks asked for."""
        return self.rows[self._on]

    def multipliers(self) -> Multipliers:
        """Multipliers of `rows`, of `cuts` and of the domain's rows at the last solution.

        Those of rows that are switched off are zero, whatever rounding has left of them: a core must be one
        of the blocks asked for.
        """
        duals = self._program.duals()
        domain = duals[: self._program.domain_rows]
        of_rows = np.where(self._on, np.clip(duals[self._places], 0.0, None), 0.0)
        return Multipliers(of_rows, np.clip(duals[self._cut_places], 0.0, None), domain)

    def extend(self, theta: FloatArray) -> bool:
        """Add the tightest row of each block asked for that `theta` does not link; False if none is new."""
        inside = np.flatnonzero(self._inside)
        rows, smallest = self._scorer.tightest_of(inside, theta)
        fresh = rows[(smallest <= 0.0) & ~self._known[rows]]
        if fresh.size:
            self._add(fresh)
        return bool(fresh.size)

    def cut(self, rows: FloatArray) -> None:
        """Add rows that are non-negative on the true domain, for good."""
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
