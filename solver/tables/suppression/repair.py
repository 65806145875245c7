"""The repair: demands that a pattern leaves open over all relations at once, met by the cheapest more cells.

And what comes after it: the same demands met once more, by cells of the pattern only. What is not needed
this time is published. Every time the order is another one, so that a pattern gets cheaper and cheaper; it
protects at any time. Both take any attackers, each as a view of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from linkrisk.arrays import BoolArray
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.formulations.tables.witnesses import Witness
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.attackers.demands import unmet
from linkrisk.solver.tables.suppression.meeting import Attacked, CannotMeetError, Meeting, Tell

_LIKELY, _FINE = 0.9, 0.01
"""Share of the cells that is tried first, and that a number of them is found to."""


def repaired(
    attackers: Sequence[Attacked],
    pattern: BoolArray,
    clock: Clock,
    tell: Tell,
    known: Sequence[Witness] = (),
) -> tuple[BoolArray, int, bool]:
    """A pattern with more cells, such that no attacker finds out too much; and how many demands were open.

    `attackers`: the outsider first. `pattern` (n,). `tell`: told how many demands are open. `known`:
    movements that may meet some of them. Returns shape (n,). Returns: False where the clock was out before
    all demands were met: those that were met stay so. Raises CannotMeetError if a demand cannot be met,
    whatever is suppressed.
    """
    suppressed, opened, generator = pattern.copy(), 0, np.random.default_rng(0)
    for attacked in attackers:
        found = unmet(attacked.view, suppressed, clock, known=known)
        left = [*found.unmet, *found.undecided]
        opened += len(left)
        meeting = Meeting(attacked, ~attacked.view.fixed, suppressed, generator)
        if not meeting.run(attacked.needs(left), clock, tell):
            return suppressed, opened, False
    return suppressed, opened, True


def cheapest_that_do(table: CellTable, attackers: Sequence[Attacked], clock: Clock) -> BoolArray:
    """The sensitive cells and the cheapest others, as few as are seen to do, shape (n,).

    Of a table that nothing better was found for in time: its dearest cells are most of its cost. How many
    others there are is halved between too few and enough, as long as the clock has time for it; most of them
    are tried first, which nearly always do.

    `table`: of which all cells together do.
    """
    others = np.flatnonzero(table.free & ~table.fixed)
    order = others[np.argsort(table.cost[others], kind="stable")]
    few, enough, best = 0, order.size, np.asarray(~table.fixed, dtype=np.bool_)
    many = int(_LIKELY * order.size)
    while enough - few > max(1.0, _FINE * order.size) and not clock.expired:
        pattern = table.primary.copy()
        pattern[order[:many]] = True
        if all(unmet(one.view, pattern, clock).all for one in attackers):
            enough, best = many, pattern
        else:
            few = many
        many = (few + enough) // 2
    return best


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
        for _ in range(most_rounds):
            if idle >= patience or clock.expired:
                break
            other = self._again(table, clock, tell, generator)
            if other is not None and table.cost_of(other) < table.cost_of(self.suppressed):
                self.suppressed, idle = other, 0
            else:
                idle += 1
        return before - int(self.suppressed.sum())

    def _again(
        self, table: CellTable, clock: Clock, tell: Tell, generator: np.random.Generator
    ) -> BoolArray | None:
        """The cells of the pattern that are needed this time; None where the clock was out."""
        needed = table.primary.copy()
        for attacked, demands in zip(self.attackers, self._demands, strict=True):
            meeting = Meeting(attacked, self.suppressed & ~attacked.view.fixed, needed, generator)
            try:
                if not meeting.run(attacked.needs(demands), clock, tell):
                    return None
            except CannotMeetError:  # by less than an optimiser can tell: this round is none
                return None
        return needed
