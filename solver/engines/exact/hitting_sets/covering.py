"""The linear program of a hitting set, with only those inequalities that have mattered.

``minimise weight . x`` where block b is given up to the share ``x_b`` in [0, 1], and of every core at least
one block is.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.programs import box_model
from linkrisk.solver.backends.linear.base import linear_program
from linkrisk.solver.engines.exact.hitting_sets.hitting_set import VIOLATED, HittingSet, Rows
from linkrisk.solver.engines.exact.rounding import rounding_error
from linkrisk.solver.engines.steering import STEERING, HittingSteering
from linkrisk.solver.run.work import ITERATION, PROGRAM, Spend, ignore

_NEARLY = 1e-9


class CoveringProgram:
    """The program of one thread, solved again and again with other blocks fixed.

    `master`: names the inequalities that a point violates. `spend`: called with the cost of every solve.
    """

    def __init__(
        self, master: HittingSet, spend: Spend = ignore, steering: HittingSteering = STEERING.hitting
    ) -> None:
        self._spend, self._steering = spend, steering
        self._master, self._weight = master, master.weight
        self._program = linear_program(box_model(self._weight))
        self._lower, self._upper = np.zeros(self._weight.size), np.ones(self._weight.size)
        self._names = np.empty(0, dtype=np.intp)
        self._rows = Rows.made((), ())
        self._idle = np.empty(0, dtype=np.intp)

    def fix(self, given_up: Mapping[int, bool]) -> None:
        """Give up or keep these blocks, and free all others."""
        lower, upper = np.zeros(self._weight.size), np.ones(self._weight.size)
        for block, value in given_up.items():
            lower[block] = upper[block] = float(value)
        changed = np.flatnonzero((lower != self._lower) | (upper != self._upper))
        if changed.size:
            self._program.change_column_bounds(changed, lower[changed], upper[changed])
        self._lower, self._upper = lower, upper

    def solve(self) -> tuple[FloatArray, float]:
        """A lightest fractional hitting set of all inequalities known, and a lower bound on its weight.

        Returns shape (blocks,). Returns: infinite when what is kept leaves no hitting set.
        """
        self._forget()
        while True:
            point, value = self.resolve()
            if np.isinf(value):
                return point, value
            names, rows = self._master.violated(point, self._steering.most_at_once)
            # Others are violated within the tolerance of HiGHS.
            fresh = np.flatnonzero(~np.isin(names, self._names))
            if fresh.size == 0:
                return point, value
            self._add(names[fresh], rows.of(fresh))

    def resolve(self) -> tuple[FloatArray, float]:
        """Like `solve`, with only those inequalities that are in it now."""
        if (self._rows.activity(self._upper) < self._rows.least - VIOLATED).any():
            return self._upper, np.inf
        solution = self._program.solve()
        size = self._program.rows + self._program.columns
        self._spend(PROGRAM + ITERATION * solution.iterations * size)
        multipliers = np.clip(solution.duals, 0.0, None)
        self._idle = np.where(multipliers > 0.0, 0, self._idle + 1)
        return solution.point, self._value(multipliers)

    def _value(self, multipliers: FloatArray) -> float:
        """What these multipliers prove, as any do that are not negative: so rounding cannot hurt it.

        By weak duality, ``weight . x`` is at least ``multipliers . least + (weight - load) . x``. What is
        left of a weight is rounded with each row that is taken off it, and all is rounded in the last sum.
        """
        load = self._rows.load(multipliers, self._weight.size)
        rest = self._weight - load
        products = multipliers * self._rows.least
        free = np.minimum(rest * self._lower, rest * self._upper)
        # Else rounding cannot make it negative.
        counts = (rest <= _NEARLY * self._weight) | (self._lower > 0.0)
        used, touched = int(np.count_nonzero(multipliers)), int(np.count_nonzero(counts))
        before = rounding_error(1 + used, float((load + self._weight)[counts].sum()))
        error = rounding_error(1 + used + touched, float(products.sum() + np.abs(free).sum()))
        return float(products.sum() + free.sum()) - before - error

    def _add(self, names: IndexArray, rows: Rows) -> None:
        self._names = np.concatenate([self._names, names])
        self._rows = self._rows.and_(rows)
        self._idle = np.concatenate([self._idle, np.zeros(names.size, dtype=np.intp)])
        starts = np.concatenate([[0], np.cumsum(rows.sizes)[:-1]])
        above, ones = np.full(names.size, np.inf), np.ones(rows.members.size)
        self._program.add_row_entries(starts, rows.members, ones, rows.least, above)

    def _forget(self) -> None:
        """Leave out inequalities that have not mattered for long."""
        idle = self._idle > self._steering.most_idle
        if self._names.size < self._steering.most_rows or not idle.any():
            return
        self._program.delete_rows(np.flatnonzero(idle))
        kept = np.flatnonzero(~idle)
        self._names, self._idle, self._rows = self._names[kept], self._idle[kept], self._rows.of(kept)
