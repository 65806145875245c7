"""Everybody who attacks at once: what the insiders know, and which deviations each of them thinks possible.

An attacker is a view of the table (`CellTable.seen_by`). Thousands of them differ in few cells each, so that
one deviation vector can be looked at through the eyes of all of them without a program.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.tables.cell_table import CellTable, Demand

OUTSIDER = 0
"""The attacker who knows what everybody knows; insiders are numbered from 1."""


@dataclass(frozen=True, eq=False)
class Crowd:
    """The outsider and all insiders of a table.

    Attributes
    ----------
    table : CellTable
    names : tuple of str
        Of the attackers, the outsider first; m of them.
    owner, cell : ndarray of int64, shape (t,)
        Who knows more of which cell than everybody, sorted by attacker.
    below, above : ndarray of float64, shape (t,)
        How far they think it can be from its value.
    """

    table: CellTable
    names: tuple[str, ...]
    owner: LongArray
    cell: LongArray
    below: FloatArray
    above: FloatArray

    @classmethod
    def of(cls, table: CellTable) -> Crowd:
        """The crowd of a table."""
        insiders = table.insiders
        none = [np.zeros(0)]
        cell = np.concatenate([*none, *(one.cells for one in insiders)]).astype(np.int64)
        lower = np.concatenate([*none, *(one.lower for one in insiders)])
        upper = np.concatenate([*none, *(one.upper for one in insiders)])
        sizes = np.array([one.cells.size for one in insiders], dtype=np.int64)
        owner = np.repeat(np.arange(1, len(insiders) + 1), sizes)
        value = table.value[cell]
        below = value - np.maximum(lower, table.lower[cell])
        above = np.minimum(upper, table.upper[cell]) - value
        more = (below < table.below[cell]) | (above < table.above[cell])
        names = ("the outsider", *(one.name for one in insiders))
        return cls(table, names, owner[more], cell[more], below[more], above[more])

    def __len__(self) -> int:
        return len(self.names)

    def mine(self, owner: int) -> slice:
        """Where what an attacker knows stands."""
        first, last = np.searchsorted(self.owner, [owner, owner + 1])
        return slice(int(first), int(last))

    def bounds(self, owner: int) -> tuple[FloatArray, FloatArray]:
        """How far below and above their values an attacker thinks that cells can be, shape (n,) each."""
        mine = self.mine(owner)
        below, above = self.table.below.copy(), self.table.above.copy()
        below[self.cell[mine]] = self.below[mine]
        above[self.cell[mine]] = self.above[mine]
        return below, above

    def levels(self, demand: Demand) -> FloatArray:
        """What has to hold against each attacker, shape (m,); 0 where the cell is known to them.

        As in `CellTable.seen_by`: no more than what the attacker does not know for certain.
        """
        found = np.full(len(self), demand.level)
        mine = self._of_cell(demand.cell)
        room = self.below[mine] * demand.down + self.above[mine] * demand.up
        unknown = self.below[mine] + self.above[mine] > 0
        found[self.owner[mine]] = np.where(unknown, np.minimum(demand.level, room), 0.0)
        key = (demand.cell, demand.up, demand.down)
        for owner in self._lowered:
            found[owner] = min(found[owner], self.table.insiders[owner - 1].lowered.get(key, np.inf))
        return found

    def knows(self, cell: int) -> BoolArray:
        """Which attackers know the value of a cell exactly beforehand, shape (m,)."""
        found = np.zeros(len(self), dtype=np.bool_)
        mine = self._of_cell(cell)
        found[self.owner[mine]] = self.below[mine] + self.above[mine] <= 0
        return found

    def excluding(self, cells: LongArray, deviations: FloatArray) -> LongArray:
        """The attackers who know that cells do not deviate like this; bounds of everybody are not looked at.

        Parameters
        ----------
        cells : ndarray of int64, shape (k,)
        deviations : ndarray of float64, shape (k,)
        """
        order, first = self._by_cell
        sizes = first[cells + 1] - first[cells]
        starts = np.repeat(first[cells] - np.concatenate([[0], np.cumsum(sizes)])[:-1], sizes)
        known = order[starts + np.arange(starts.size)]
        moved = np.repeat(deviations, sizes)
        return np.unique(self.owner[known[(moved > self.above[known]) | (moved < -self.below[known])]])

    def _of_cell(self, cell: int) -> LongArray:
        order, first = self._by_cell
        return order[first[cell] : first[cell + 1]]

    @cached_property
    def _by_cell(self) -> tuple[LongArray, LongArray]:
        """What is known, sorted by cell, and where each cell begins."""
        order = np.argsort(self.cell, kind="stable")
        return order, np.searchsorted(self.cell[order], np.arange(len(self.table) + 1))

    @cached_property
    def _lowered(self) -> tuple[int, ...]:
        """Attackers for whom levels are lowered."""
        return tuple(at for at, one in enumerate(self.table.insiders, start=1) if one.lowered)

    def within(self, suppressed: FloatArray) -> Onlookers:
        """The crowd in front of a pattern, shape (n,); between 0 and 1, bounds are so much narrower."""
        seen = np.flatnonzero(suppressed[self.cell] > 0)
        share = suppressed[self.cell[seen]]
        return Onlookers(
            len(self),
            self.owner[seen],
            self.cell[seen],
            self.below[seen] * share,
            self.above[seen] * share,
            self.table.below * suppressed,
            self.table.above * suppressed,
        )


@dataclass(frozen=True, eq=False)
class Onlookers:
    """What everybody knows of the suppressed cells of one pattern.

    Attributes
    ----------
    count : int
        m, how many attackers there are.
    owner, cell : ndarray of int64, shape (s,)
    below, above : ndarray of float64, shape (s,)
        See `Crowd`, of suppressed cells only.
    below_all, above_all : ndarray of float64, shape (n,)
        What everybody knows.
    """

    count: int
    owner: LongArray
    cell: LongArray
    below: FloatArray
    above: FloatArray
    below_all: FloatArray
    above_all: FloatArray

    def together(self, group: LongArray) -> tuple[FloatArray, FloatArray]:
        """How far below and above cells can be in the eyes of all attackers of a group, shape (n,) each.

        What is possible within these bounds is possible to each of them.
        """
        chosen = np.zeros(self.count, dtype=np.bool_)
        chosen[group] = True
        mine = chosen[self.owner]
        below, above = self.below_all.copy(), self.above_all.copy()
        np.minimum.at(below, self.cell[mine], self.below[mine])
        np.minimum.at(above, self.cell[mine], self.above[mine])
        return below, above

    def at_most(self, reduced: FloatArray) -> FloatArray:
        """How far each attacker can think that a cell goes, at most, by multipliers, shape (m,).

        Parameters
        ----------
        reduced : ndarray of float64, shape (n,)
            The goal less what the multipliers make of the relations (`attacker.reach`).
        """
        whole = np.maximum(reduced * self.above_all, -reduced * self.below_all)
        factor = reduced[self.cell]
        less = np.maximum(factor * self.above, -factor * self.below) - whole[self.cell]
        return np.asarray(whole.sum() + np.bincount(self.owner, weights=less, minlength=self.count))

    def scales(self, cells: LongArray, deviations: FloatArray) -> FloatArray:
        """The largest part of deviations, up to all of them, that each attacker thinks possible, shape (m,).

        Deviations that satisfy the relations do so when all are scaled alike, and no deviation is always
        possible: with a part t, everything up to t of what they prove is proven.

        Parameters
        ----------
        cells : ndarray of int64, shape (k,)
            The cells that deviate.
        deviations : ndarray of float64, shape (k,)
        """
        room = _largest(deviations, self.below_all[cells], self.above_all[cells])
        found = np.full(self.count, room.min(initial=1.0))
        if self.owner.size:
            whole = np.zeros(self.below_all.size)
            whole[cells] = deviations
            own = _largest(whole[self.cell], self.below, self.above)
            np.minimum.at(found, self.owner, own)
        return found


def _largest(deviations: FloatArray, below: FloatArray, above: FloatArray) -> FloatArray:
    """The part of each deviation that is within its bounds, up to 1."""
    room = np.where(deviations > 0, above, below)
    size = np.abs(deviations)
    return np.divide(room, size, out=np.ones(size.size), where=size > room)
