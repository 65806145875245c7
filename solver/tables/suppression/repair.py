"""Repairs a pattern: demands that are open over all relations are met by the cheapest more cells.

Every open demand is met by the movement that suppresses the cheapest more cells (Kelly, Golden and Assad
1992); what it suppresses costs nothing from then on. A pattern only grows, so that what is met stays met.

Thinning comes after the repair: all demands are met once more, by cells of the pattern only, in another order
and at other costs. What is not needed this time is published, so that a pattern gets cheaper and cheaper; it
protects at any time. Both take any attackers, each as a view of the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.formulations.tables.witnesses import Witness
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.attackers.crowd_attacks import OutOfTimeError
from linkrisk.solver.tables.attackers.demands import unmet
from linkrisk.solver.tables.suppression.patterns import Witnesses

Tell = Callable[[int], None]
"""Told how many demands are left."""


class CannotMeetError(Exception):
    """A demand that no movement meets, whatever is suppressed."""


@dataclass(eq=False)
class Attacked:
    """The table as one attacker sees it."""

    view: CellTable
    # (n,) how far cells are known to go up when all are suppressed; of sliding demands all the way
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
    """A pattern with more cells, such that no attacker finds out too much; and how many demands were open.

    `attackers`: the outsider first. `pattern` (n,). `known`: movements that may meet some of them. Returns
    shape (n,). Returns: False where the clock was out before all demands were met; the pattern is the given
    one then. Raises CannotMeetError if a demand cannot be met, whatever is suppressed.
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


_NOISE = 0.5
"""Costs are taken to be less by up to this share, by chance, so that each round finds other movements."""


@dataclass(eq=False)
class Thinning:
    """A pattern that protects, made cheaper."""

    attackers: Sequence[Attacked]
    suppressed: BoolArray  # (n,)
    _demands: list[tuple[Demand, ...]] = field(default_factory=list, init=False)

    def run(self, table: CellTable, clock: Clock, tell: Tell, most_rounds: int, patience: int) -> int:
        """Meet all demands again and again; how many cells are published in the end that were not.

        `table`: whose costs count. `tell`: told how many demands are still to be met in this round.
        `patience`: rounds without gain after which it ends.
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
        """The cells of the pattern that are needed this time; None where the clock was out."""
        needed = table.primary
        likely = generator.uniform(0.0, _NOISE, len(table)) if turn else None
        for attacked, demands in zip(self.attackers, self._demands, strict=True):
            cells = np.flatnonzero(self.suppressed & ~attacked.view.fixed)
            witnesses = Witnesses(attacked.view, cells)
            try:
                more = witnesses.extended(
                    needed, demands, clock, likely, generator=generator if turn % 2 else None, tell=tell
                )
            except OutOfTimeError:
                return None
            if more is None:  # by less than an optimiser can tell: this round is none
                return None
            needed = more
        return needed
