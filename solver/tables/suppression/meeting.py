"""Needs of one attacker met by suppressing the cheapest cells: many together first, then one by one.

What a movement moves is suppressed, and costs nothing from then on. A pattern only grows, so that what is met
stays met. One by one, cells near by may move first, then those farther away, at last all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.suppression.movements import Movements, Needs

_STEPS = (2, 4)
"""Relations in a row around a cell, before all cells may move."""

_MANY = 20
"""Needs from which they are moved together."""

_TOGETHER = 0.3
"""Of the time that is left, for moving them together."""

_ALONE = 10
"""Needs moved one by one, after which it is seen what else their cells do for."""

_ROUNDS = 20
_GAIN = 0.02
"""Rounds of moving cells together, and the share of them that one has to move for another to follow."""

Tell = Callable[[int], None]
"""Told how many needs are left."""


@dataclass(eq=False)
class Attacked:
    """The table as one attacker sees it."""

    view: CellTable
    # (n,) how far cells are known to go up when all are suppressed; of sliding demands all the way
    most_up: FloatArray
    movements: Movements = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.movements = Movements(self.view)

    def needs(self, demands: Sequence[Demand]) -> Needs:
        """What has to move for some demands."""
        return Needs.of(demands, self.most_up)


class CannotMeetError(Exception):
    """A need that no movement of the cells that may move meets.

    `need`: of one.
    """

    def __init__(self, need: Needs) -> None:
        super().__init__("no movement meets a need")
        self.need = need


@dataclass(eq=False)
class Meeting:
    """A pattern that grows until the needs of an attacker are met."""

    attacked: Attacked
    allowed: BoolArray  # (n,) cells that may be suppressed
    suppressed: BoolArray  # (n,) grows in place
    generator: np.random.Generator  # in which order cells are moved

    def run(self, needs: Needs, clock: Clock, tell: Tell) -> bool:
        """Meet all of them; False where the clock was out before that.

        Raises CannotMeetError if one cannot be met by the cells that are allowed.
        """
        if len(needs) > _MANY:
            left = clock.seconds_left
            part = clock.part(None if left is None or clock.counts else _TOGETHER * left)
            needs = self._together(self.allowed, needs, part, tell)
        alone = 0
        while len(needs) and not clock.expired:
            tell(len(needs))
            at = int(np.argmax(needs.level))
            moved = self._one(needs[np.array([at])], clock)
            if moved is None:
                break
            met = self._take(needs, moved)
            met[at], alone = True, alone + 1
            needs = needs[~met]
            if len(needs) > _MANY and not alone % _ALONE:  # what was suppressed may do for others
                needs = self._together(self.allowed & self.suppressed, needs, clock, tell)
        return not len(needs)

    def _together(self, allowed: BoolArray, needs: Needs, clock: Clock, tell: Tell) -> Needs:
        """Those that are left after some rounds of moving many cells at once."""
        for _ in range(_ROUNDS):
            tell(len(needs))
            order = self.generator.permutation(len(needs))
            batch = needs[order[np.unique(needs.cell[order], return_index=True)[1]]]
            moved = self.attacked.movements.most(
                np.flatnonzero(allowed), batch, self.suppressed, self.attacked.view.cost, clock
            )
            if moved is None or clock.expired:
                break
            met = self._take(needs, moved)
            needs = needs[~met]
            if len(needs) <= _MANY or met.sum() < _GAIN * len(batch):
                break
        return needs

    def _one(self, need: Needs, clock: Clock) -> FloatArray | None:
        """The cheapest movement that meets one need, the nearer the better; None where the clock is out."""
        for moving in self._nearer(int(need.cell[0])):
            moved = self.attacked.movements.cheapest(
                moving, need, self.suppressed, self.attacked.view.cost, clock
            )
            if moved is not None or clock.expired:
                return moved
        raise CannotMeetError(need)

    def _nearer(self, cell: int) -> Iterator[LongArray]:
        for steps in _STEPS:
            near = self.attacked.movements.around(cell, steps)
            yield near[self.allowed[near]]
        yield np.flatnonzero(self.allowed)

    def _take(self, needs: Needs, moved: FloatArray) -> BoolArray:
        """Suppress what moved; which needs it meets, turned round and made smaller, too."""
        self.suppressed |= moved != 0
        view = self.attacked.view
        at = np.flatnonzero(moved)
        room = np.where(moved[at] > 0, view.below[at], view.above[at]) / np.abs(moved[at])
        part = min(1.0, float(room.min(initial=1.0)))
        return needs.met_by(moved) | needs.met_by(-part * moved)
