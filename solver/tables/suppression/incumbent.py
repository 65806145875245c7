"""Keeps the incumbent of a search, and drops redundant cells from patterns."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.formulations.programs import Separator
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.formulations.tables.suppression_model import BridgeRows
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables import steering, tolerances
from linkrisk.solver.tables.attackers.insider_attacks import OutOfTimeError

Holds = Callable[[BoolArray], bool]
"""Tells whether a pattern, shape (n,), protects."""


def protection(separator: Separator) -> Holds:
    """Return a test of protection: `holds` of the separator, else whether no cut is violated."""
    shorter: Holds | None = getattr(separator, "holds", None)
    return shorter or (lambda suppressed: separator(suppressed.astype(np.float64)).count == 0)


class Thinning:
    """Drops redundant cells from protecting patterns."""

    def __init__(self, table: CellTable, holds: Holds) -> None:
        self._table, self._holds, self._bridges = table, holds, BridgeRows(table)

    def __call__(self, suppressed: BoolArray, least_likely: FloatArray, clock: Clock) -> BoolArray:
        """Return a minimal protecting subset of a pattern.

        Dropping a cell also drops cells left alone in a relation: they protect nothing.

        `suppressed` (n,): it protects. `least_likely` (n,): cells are tried in descending order of it.
        `clock`: when it has expired, no more cells are dropped.
        """
        found = suppressed
        try:
            for smaller in self._smaller(suppressed, least_likely, clock):
                found = smaller
        except OutOfTimeError:  # protects: it was tested before
            pass
        return found

    def _smaller(self, suppressed: BoolArray, least_likely: FloatArray, clock: Clock) -> Iterator[BoolArray]:
        """Yield protecting patterns, each a subset of the one before."""
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


Thinned = Callable[[BoolArray, FloatArray, Clock], BoolArray]
"""Drops redundant cells from a pattern, in descending order of given numbers."""


class Incumbent:
    """Cheapest protecting pattern found so far.

    `pattern` (n,): protects. `objective` (n,): integral where `whole`; 0 for cells that are not free. `most`:
    the largest cost searched for; bounds exceed it by one unit at most. `best` (n,).
    """

    def __init__(
        self, pattern: BoolArray, objective: FloatArray, *, whole: bool, most: float = np.inf
    ) -> None:
        self.objective, self.whole, self._most = objective, whole, most
        self.best, self.cost = pattern, float(objective[pattern].sum())

    def up_to(self, most: float) -> Incumbent:
        """Return the same pattern for a search limited to this cost."""
        return Incumbent(self.best, self.objective, whole=self.whole, most=most)

    @property
    def limit(self) -> float:
        """Cost from which patterns are not searched for."""
        return min(self.cost, self._most + 1.0)

    @property
    def cutoff(self) -> float:
        """Bound above which a node is pruned."""
        return self.limit - 1.0 + 1e-9 if self.whole else self.cost * (1.0 - tolerances.COST)

    def flat(self, bound: float) -> bool:
        """Tell whether bounds no longer guide the search, as it is for one cost alone."""
        return self.cost > self._most and self.cutoff - bound < steering.FLAT_GAP

    def take(self, pattern: BoolArray | None) -> None:
        """Keep a protecting pattern if it is cheaper."""
        cost = np.inf if pattern is None else float(self.objective[pattern].sum())
        if pattern is not None and cost < self.cost:
            self.best, self.cost = pattern.copy(), cost


class Supports:
    """Primal heuristic: suppresses all cells of a point that violates no cut, if they protect.

    They usually do, but not always: capacity constraints count a cell for up to its level, and it may be
    unable to contribute that much together with others.
    """

    def __init__(self, separator: Separator, thinned: Thinned) -> None:
        self._protects, self._thinned = protection(separator), thinned
        self._tried: set[bytes] = set()

    def __call__(self, point: FloatArray, objective: FloatArray, clock: Clock) -> BoolArray | None:
        """Return a protecting pattern, or None if the support does not protect or was tried before.

        `point`, `objective` (n,).
        """
        support = point > tolerances.INTEGRAL
        key = np.packbits(support).tobytes()
        if key in self._tried or len(self._tried) >= steering.SUPPORTS_KEPT:
            return None
        self._tried.add(key)
        return self._thinned(support, objective * (1.0 - point), clock) if self._protects(support) else None
