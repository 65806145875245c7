"""Leaving out of a pattern what it does not need, by asking nothing but whether a pattern protects."""

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
