"""A rounding without any program: cells flip between their neighbouring multiples until all adds up.

It takes seconds for 150,000 cells in three dimensions, where the relaxation takes minutes, and proves
nothing: where it finds no zero-restricted rounding, there may still be one. Then some totals are farther from
their values than the next multiple: a relaxed rounding with few such cells.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.formulations.tables.controlled_rounding import ControlledRounding
from linkrisk.formulations.tables.inner_sums import InnerSums
from linkrisk.formulations.tables.rounding_flips import Flippable, cheaper, mended
from linkrisk.solver.run.clock import Clock

_FLIPS, _MOST, _FOR_EACH = 10_000, 200_000, 20
"""Flips at a time; and at most, with so many more for each cell."""

_TRIES, _FOR_SMALL = 20_000, 20
"""Cells that are tried at a time to make it cheaper; in small tables so many for each cell."""

_DEPTHS, _ROUNDS, _GAIN = (4, 8, 16, 32), 5, 1e-4
"""Flips for each try; and rounds of a try for each cell, of which the last saves less than this share."""

_MIDDLE = 0.5

_WRONG = 2.0
"""What each base counts that a total is beyond its multiples, in bases of the heaviest cell."""


def walked(
    table: ControlledRounding, clock: Clock, seed: int = 0, near: FloatArray | None = None
) -> LongArray | None:
    """A rounding that adds up, zero-restricted if such a one was found.

    Parameters
    ----------
    table : ControlledRounding
    clock : Clock
        When it has expired, one more lot of flips is made, and none to make it cheaper.
    seed : int
    near : ndarray of float64, shape (n,), optional
        A point of the relaxation to begin near, z of each cell; without it each cell begins at its nearest
        multiple.

    Returns
    -------
    ndarray of int64, shape (n,), or None
        None where cells do not follow from others by whole sums.
    """
    sums = InnerSums.of(table.relations)
    if sums is None or (sums.matrix.data != np.round(sums.matrix.data)).any():
        return None
    walk = _Walk(table, sums, seed, near)
    if walk.mend(clock):
        walk.cheapen(clock)
    return sums.whole(table.base * (table.steps[sums.inner] + walk.upper))


class _Walk:
    """The state, and what flips it."""

    def __init__(
        self, table: ControlledRounding, sums: InnerSums, seed: int, near: FloatArray | None
    ) -> None:
        inner, totals = sums.inner, sums.totals
        steps, left, between = table.steps, table.left, table.left > 0
        rows, columns = sparse.csr_array(sums.matrix), sparse.csc_array(sums.matrix)
        gain = table.weight[inner] * (table.base - 2.0 * left[inner])
        self._table = Flippable(
            row_starts=rows.indptr.astype(np.int64),
            row_cells=rows.indices.astype(np.int64),
            starts=columns.indptr.astype(np.int64),
            totals=columns.indices.astype(np.int64),
            times=np.round(columns.data).astype(np.int64),
            may=between[inner],
            gain=gain,
            low=steps[totals],
            high=steps[totals] + between[totals],
            value=table.value[totals],
            weight=table.weight[totals],
            base=float(table.base),
            wrong=_WRONG * table.base * max(1e-300, float(table.weight.max(initial=0.0))),
        )
        begin = gain < 0.0 if near is None else near[inner] > _MIDDLE
        self.upper = (between[inner] & begin).astype(np.int64)
        self._steps = np.round(rows @ (steps[inner] + self.upper)).astype(np.int64)
        self._random, self._cost = np.random.default_rng(seed), table.least

    def mend(self, clock: Clock) -> bool:
        """Flip cells until no total is wrong; whether that came about. The state is the least wrong one."""
        best, least = (self.upper.copy(), self._steps.copy()), np.inf
        for _ in range(1 + (_MOST + _FOR_EACH * self.upper.size) // _FLIPS):
            wrong = mended(self._table, self.upper, self._steps, _FLIPS, self._random)
            if wrong < least:
                best, least = (self.upper.copy(), self._steps.copy()), wrong
            if not wrong or clock.expired:
                break
        self.upper, self._steps = best
        return least == 0

    def cheapen(self, clock: Clock) -> None:
        """Save what can be saved in few flips, then in more at a time."""
        tries, lots = min(_TRIES, _FOR_SMALL * self.upper.size), 1 + self.upper.size // _TRIES
        for depth in _DEPTHS:
            for _ in range(_ROUNDS):
                saved = 0.0
                for _ in range(lots):
                    if clock.expired:
                        return
                    saved += cheaper(self._table, self.upper, self._steps, tries, depth, self._random)
                if saved <= _GAIN * self._cost:
                    break
