"""The incumbent of a search, and patterns made smaller: cells are published that are not needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.formulations.programs import Separator
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.formulations.tables.suppression_model import BridgeRows
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.attackers.crowd_attacks import OutOfTimeError

Holds = Callable[[BoolArray], bool]
"""Whether a pattern, shape (n,), protects."""


def protection(separator: Separator) -> Holds:
    """Whether patterns violate no row of a separator; it may know a shorter way (`holds`)."""
    shorter: Holds | None = getattr(separator, "holds", None)
    return shorter or (lambda suppressed: separator(suppressed.astype(np.float64)).count == 0)


class Thinning:
    """Makes patterns smaller that protect."""

    def __init__(self, table: CellTable, holds: Holds) -> None:
        self._table, self._holds, self._bridges = table, holds, BridgeRows(table)

    def __call__(self, suppressed: BoolArray, least_likely: FloatArray, clock: Clock) -> BoolArray:
        """A part of a pattern that protects, without any cell that could be left out.

        With a cell those go that are alone in a relation without it: they protect nothing.

        `suppressed` (n,): it protects. `least_likely` (n,): cells are tried in the order of these numbers,
        the largest first. `clock`: when to leave out no more.
        """
        found = suppressed
        try:
            for smaller in self._smaller(suppressed, least_likely, clock):
                found = smaller
        except OutOfTimeError:  # what was found before protects
            pass
        return found

    def _smaller(self, suppressed: BoolArray, least_likely: FloatArray, clock: Clock) -> Iterator[BoolArray]:
        """Patterns that protect, each a part of the one before."""
        found = self._bridges.without_bridges(suppressed)
        if not self._holds(found):  # where a sensitive cell is alone in a relation
            found = suppressed
        yield found
        tried = np.flatnonzero(found & self._table.free)
        for cell in tried[np.argsort(-least_likely[tried], kind="stable")]:
            if clock.expired:
                break
            if found[cell]:
                without = found.copy()
                without[cell] = False
                without = self._bridges.without_bridges(without)
                if self._holds(without):
                    found = without
                    yield found


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
