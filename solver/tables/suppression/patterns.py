"""Where patterns come from in a search: to begin with, and near a point of the relaxation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.suppression.capacity import CapacityCuts
from linkrisk.solver.tables.suppression.heuristic import Witnesses
from linkrisk.solver.tables.suppression.insider_cuts import Noted, SeparatorOf
from linkrisk.solver.tables.suppression.insider_patterns import CrowdWitnesses
from linkrisk.solver.tables.suppression.integer_cuts import IntegerCuts, IntegerPatterns
from linkrisk.solver.tables.suppression.thinning import Thinning, protection

Tell = Callable[[float], None]
"""Told what the cheapest pattern so far costs."""


Rows = CapacityCuts | Noted | SeparatorOf | IntegerCuts
Making = Witnesses | CrowdWitnesses | IntegerPatterns


class Patterns(Protocol):
    """A way to make patterns that protect."""

    def start(self, clock: Clock, tell: Tell) -> BoolArray | None:
        """A pattern to begin with, shape (n,); None where this way finds none."""
        ...

    def like(self, point: FloatArray, clock: Clock) -> BoolArray | None:
        """A pattern of the cells that a point suppresses most, shape (n,); None where none was found."""
        ...

    def thinned(self, pattern: BoolArray, order: FloatArray, clock: Clock) -> BoolArray:
        """A pattern that protects, less what is not needed, the largest in an order first, shape (n,)."""
        ...


@dataclass(eq=False)
class OneByOne:
    """The cheapest movement for one level after the other, less what is not needed in the end."""

    table: CellTable
    separator: Rows
    witnesses: Making

    def __post_init__(self) -> None:
        self.thinned = Thinning(self.table, protection(self.separator))

    def start(self, clock: Clock, tell: Tell) -> BoolArray | None:
        """See `Patterns`; where the clock was out all cells, which nobody has looked at."""
        found = self.witnesses.pattern(self.separator.open, clock)
        if found is None:
            return None
        tell(self.table.cost_of(found))
        return found if clock.expired else self.thinned(found, self.table.cost, clock)

    def like(self, point: FloatArray, clock: Clock) -> BoolArray | None:
        """See `Patterns`."""
        likely = np.clip(point, 0.0, 1.0)
        found = self.witnesses.pattern(self.separator.open, clock, likely=likely)
        return None if found is None else self.thinned(found, self.table.cost * (1.0 - likely), clock)
