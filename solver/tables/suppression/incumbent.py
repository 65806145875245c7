"""The best pattern of a search so far, and what is worth searching for besides."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.formulations.programs import Separator
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.suppression.thinning import protection

_PART = 1e-5
"""A cell that is suppressed by less is published."""

_CLOSE = 1e-9
"""Costs that are no whole numbers are the same when they differ by less, relatively."""

_FLAT = 0.5
"""Of a unit."""

_MOST_TRIED = 100_000

Thinned = Callable[[BoolArray, FloatArray, Clock], BoolArray]
"""Leaves out of a pattern what is not needed, the largest in an order first."""


class Incumbent:
    """The cheapest pattern so far that protects.

    `pattern` (n,): protects. `objective` (n,): whole numbers where `whole`; 0 for cells that are not free.
    `most`: patterns that cost more are not searched for: a bound is then at most one unit above it. `best`
    (n,).
    """

    def __init__(
        self, pattern: BoolArray, objective: FloatArray, *, whole: bool, most: float = np.inf
    ) -> None:
        self.objective, self.whole, self._most = objective, whole, most
        self.best, self.cost = pattern, float(objective[pattern].sum())

    def up_to(self, most: float) -> Incumbent:
        """The same pattern in a search for those that cost no more."""
        return Incumbent(self.best, self.objective, whole=self.whole, most=most)

    @property
    def limit(self) -> float:
        """Nothing that costs as much is searched for."""
        return min(self.cost, self._most + 1.0)

    @property
    def cutoff(self) -> float:
        """Where a bound is above it, nothing is that is searched for."""
        return self.limit - 1.0 + 1e-9 if self.whole else self.cost * (1.0 - _CLOSE)

    def flat(self, bound: float) -> bool:
        """Whether branches of a node hold nothing, or bring nothing: one cost alone is searched for."""
        return self.cost > self._most and self.cutoff - bound < _FLAT

    def take(self, pattern: BoolArray | None) -> None:
        """Keep a pattern that protects, if it is cheaper."""
        cost = np.inf if pattern is None else float(self.objective[pattern].sum())
        if pattern is not None and cost < self.cost:
            self.best, self.cost = pattern.copy(), cost


class Supports:
    """Patterns of points that violate no row: all their cells, suppressed wholly, if these protect.

    Mostly they do, though not always: rows count a cell for its level, and what follows from its moving by so
    much may be less.
    """

    def __init__(self, separator: Separator, thinned: Thinned) -> None:
        self._protects, self._thinned = protection(separator), thinned
        self._tried: set[bytes] = set()

    def __call__(self, point: FloatArray, objective: FloatArray, clock: Clock) -> BoolArray | None:
        """A pattern that protects; None where there is none, and for a point that was asked for before.

        `point`, `objective` (n,).
        """
        support = point > _PART
        key = np.packbits(support).tobytes()
        if key in self._tried or len(self._tried) >= _MOST_TRIED:
            return None
        self._tried.add(key)
        return self._thinned(support, objective * (1.0 - point), clock) if self._protects(support) else None
