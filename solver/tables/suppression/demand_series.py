"""Demands as attacks in an order: which are made, and which of them belong together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.formulations.tables.cell_table import Demand
from linkrisk.solver.tables.attackers.attack_programs import Asked
from linkrisk.solver.tables.attackers.attacks import signs_of

SHORT = 2e-6
"""By how much of its level a demand may be short and still hold, which is beyond what optimisers can tell."""


class Series:
    """Attacks that demands ask for, in the order in which they are made."""

    def __init__(self, demands: Sequence[Demand]) -> None:
        ways = [(at, sign) for at, demand in enumerate(demands) for sign in signs_of(demand)]
        self._demands, self._owner = demands, np.array([at for at, _ in ways], dtype=np.int64)
        self._sign = np.array([sign for _, sign in ways], dtype=np.float64)
        self.cell = np.array([one.cell for one in demands], dtype=np.int64)[self._owner]
        self._level = np.array([one.level for one in demands], dtype=np.float64)[self._owner]
        self._both = np.array([one.up and one.down for one in demands], dtype=np.bool_)[self._owner]

    def first(self, number: int) -> None:
        """Make the attacks of the demand that one is for the first ones."""
        own = self._owner == self._owner[number]
        order = np.concatenate([np.flatnonzero(own), np.flatnonzero(~own)])
        self._owner, self._sign, self.cell = self._owner[order], self._sign[order], self.cell[order]
        self._level, self._both = self._level[order], self._both[order]

    def unmet(self, up: FloatArray, down: FloatArray) -> LongArray:
        """Attacks of demands that are not known to be met where cells go so far, shape (n,)."""
        up, down = up[self.cell], down[self.cell]
        reached = np.where(self._both, up + down, np.where(self._sign > 0, up, down))
        return np.flatnonzero(reached < self._level * (1.0 - SHORT))

    def asked(self, chosen: LongArray, *, parts: bool) -> Asked:
        """Some attacks; in parts where no cell is to move by more than the level."""
        enough = np.where(self._both, np.inf, self._level)[chosen]
        within = enough if parts else np.full(chosen.size, np.inf)
        return Asked(self.cell[chosen], self._sign[chosen], enough, within)

    def demand(self, number: int) -> Demand:
        """Of an attack."""
        return self._demands[int(self._owner[number])]

    def second(self, number: int) -> bool:
        """Whether it is the second of two whose sum counts."""
        return bool(self._both[number] and self._sign[number] < 0)

    def last(self, number: int) -> bool:
        """Whether it is the only one or the second."""
        return bool(not self._both[number] or self._sign[number] < 0)
