"""Repairs a pattern: meets demands that are open over all relations at the least cost.

Each open demand is met by the movement that suppresses the cheapest additional cells (Kelly, Golden and Assad
1992), which cost nothing from then on. The pattern only grows, so that demands stay met.

Thinning then meets all demands again, with cells of the pattern only, in another order and at other costs.
Cells not needed in a round are published; the pattern protects at any time. Both work against any attackers,
each given as a view of the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.formulations.tables.witnesses import Witness
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables import steering
from linkrisk.solver.tables.attackers.demands import unmet
from linkrisk.solver.tables.attackers.insider_attacks import OutOfTimeError
from linkrisk.solver.tables.suppression.primal_heuristics import Witnesses

Tell = Callable[[int], None]
"""Called with the number of demands left."""


class CannotMeetError(Exception):
    """Raised for a demand that no movement meets, whatever is suppressed."""


@dataclass(eq=False)
class Attacked:
    """Table as one attacker sees it."""

    view: CellTable
    # (n,) how far up cells can go if all are suppressed; all the way for sliding demands
    most_up: FloatArray
    witnesses: Witnesses = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.witnesses = Witnesses(self.view, most_up=self.most_up)


def repaired(
    attackers: Sequence[Attacked],
    pattern: BoolArray,
    clock: Clock,
    tell: Tell,
    known: Sequence[Witness] = (),
) -> tuple[BoolArray, int, bool]:
    """Extend a pattern until it protects against all attackers; count the demands that were open.

    `attackers`: the outsider first. `pattern` (n,). `known`: movements that may meet some of them. Returns
    shape (n,). Returns: False if the clock expired before all demands were met; the pattern is then the given
    one. Raises CannotMeetError if a demand cannot be met, whatever is suppressed.
    """
    suppressed, opened = pattern, 0
    for attacked in attackers:
        found = unmet(attacked.view, suppressed, clock, known=known)
        left = [*found.unmet, *found.undecided]
        opened += len(left)
        try:
            more = attacked.witnesses.extended(suppressed, left, clock, tell=tell)
        except OutOfTimeError:
            return pattern, opened, False
        if more is None:
            raise CannotMeetError
        suppressed = more
    return suppressed, opened, True


@dataclass(eq=False)
class Thinning:
    """Makes a protecting pattern cheaper."""

    attackers: Sequence[Attacked]
    suppressed: BoolArray  # (n,)
    _demands: list[tuple[Demand, ...]] = field(default_factory=list, init=False)

    def run(self, table: CellTable, clock: Clock, tell: Tell, most_rounds: int, patience: int) -> int:
        """Meet all demands in rounds; return the number of cells published.

        `table`: whose costs count. `tell`: called with the number of demands left in this round. `patience`:
        rounds without gain before it ends.
        """
        if clock.expired:
            return 0
        for attacked in self.attackers:
            alone = unmet(attacked.view, attacked.view.primary, clock)
            self._demands.append((*alone.unmet, *alone.undecided))
        generator, idle, before = np.random.default_rng(1), 0, int(self.suppressed.sum())
        for turn in range(most_rounds):
            if idle >= patience or clock.expired:
                break
            other = self._again(table, clock, tell, generator, turn)
            if other is not None and table.cost_of(other) < table.cost_of(self.suppressed):
                self.suppressed, idle = other, 0
            else:
                idle += 1
        return before - int(self.suppressed.sum())

    def _again(
        self, table: CellTable, clock: Clock, tell: Tell, generator: np.random.Generator, turn: int
    ) -> BoolArray | None:
        """Return the cells needed in this round, or None if the clock expired."""
        needed = table.primary
        likely = generator.uniform(0.0, steering.REPAIR_NOISE, len(table)) if turn else None
        for attacked, demands in zip(self.attackers, self._demands, strict=True):
            cells = np.flatnonzero(self.suppressed & ~attacked.view.fixed)
            witnesses = Witnesses(attacked.view, cells)
            try:
                more = witnesses.extended(
                    needed, demands, clock, likely, generator=generator if turn % 2 else None, tell=tell
                )
            except OutOfTimeError:
                return None
            if more is None:  # missed by less than the tolerance of the optimiser: give this round up
                return None
            needed = more
        return needed
