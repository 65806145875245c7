"""States the knowledge of all insiders at once, and tests which deviations each of them considers possible.

An attacker is a view of the table (`CellTable.seen_by`). Thousands of insiders differ in few cells each, so
that one deviation vector is tested against all of them without a linear program.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.tables.cell_table import CellTable, Demand

OUTSIDER = 0
"""The attacker with public knowledge only; insiders are numbered from 1."""


@dataclass(frozen=True, eq=False)
class AttackerKnowledge:
    """The outsider and all insiders of a table.

    Attributes
    ----------
    table : CellTable
    names : tuple of str
        Of the attackers, the outsider first; m of them.
    owner, cell : ndarray of int64, shape (t,)
        Pairs of an insider and a cell known better than publicly, sorted by attacker.
    below, above : ndarray of float64, shape (t,)
        Their bounds on its distance from its value.
    """

    table: CellTable
    names: tuple[str, ...]
    owner: LongArray
    cell: LongArray
    below: FloatArray
    above: FloatArray

    @classmethod
    def of(cls, table: CellTable) -> AttackerKnowledge:
        """Return the knowledge of a table."""
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
        """Return the positions of an attacker's knowledge."""
        first, last = np.searchsorted(self.owner, [owner, owner + 1])
        return slice(int(first), int(last))

    def bounds(self, owner: int) -> tuple[FloatArray, FloatArray]:
        """Return the bounds of an attacker: how far below and above cells can be, shape (n,) each."""
        mine = self.mine(owner)
        below, above = self.table.below.copy(), self.table.above.copy()
        below[self.cell[mine]] = self.below[mine]
        above[self.cell[mine]] = self.above[mine]
        return below, above

    def levels(self, demand: Demand) -> FloatArray:
        """Return the level required against each attacker, shape (m,); 0 for those who know the cell.

        As in `CellTable.seen_by`, levels are cut to the attacker's own uncertainty.
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
        """Tell which attackers know the exact value of a cell beforehand, shape (m,)."""
        found = np.zeros(len(self), dtype=np.bool_)
        mine = self._of_cell(cell)
        found[self.owner[mine]] = self.below[mine] + self.above[mine] <= 0
        return found

    def excluding(self, cells: LongArray, deviations: FloatArray) -> LongArray:
        """Return the attackers whose own knowledge excludes deviations; public bounds are not tested.

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
        """Knowledge sorted by cell, with the start of each cell."""
        order = np.argsort(self.cell, kind="stable")
        return order, np.searchsorted(self.cell[order], np.arange(len(self.table) + 1))

    @cached_property
    def _lowered(self) -> tuple[int, ...]:
        """Attackers with lowered levels."""
        return tuple(at for at, one in enumerate(self.table.insiders, start=1) if one.lowered)

    def within(self, suppressed: FloatArray) -> PatternKnowledge:
        """Restrict the knowledge to a pattern, shape (n,); fractional cells have proportional bounds."""
        seen = np.flatnonzero(suppressed[self.cell] > 0)
        share = suppressed[self.cell[seen]]
        return PatternKnowledge(
            len(self),
            self.owner[seen],
            self.cell[seen],
            self.below[seen] * share,
            self.above[seen] * share,
            self.table.below * suppressed,
            self.table.above * suppressed,
        )


@dataclass(frozen=True, eq=False)
class PatternKnowledge:
    """Knowledge of all attackers about the suppressed cells of a pattern.

    Attributes
    ----------
    count : int
        m, how many attackers there are.
    owner, cell : ndarray of int64, shape (s,)
    below, above : ndarray of float64, shape (s,)
        See `AttackerKnowledge`, of suppressed cells only.
    below_all, above_all : ndarray of float64, shape (n,)
        Public bounds.
    """

    count: int
    owner: LongArray
    cell: LongArray
    below: FloatArray
    above: FloatArray
    below_all: FloatArray
    above_all: FloatArray

    def together(self, group: LongArray) -> tuple[FloatArray, FloatArray]:
        """Return common bounds of a group: how far below and above cells can be, shape (n,) each.

        Deviations within these bounds are possible for each of them.
        """
        chosen = np.zeros(self.count, dtype=np.bool_)
        chosen[group] = True
        mine = chosen[self.owner]
        below, above = self.below_all.copy(), self.above_all.copy()
        np.minimum.at(below, self.cell[mine], self.below[mine])
        np.minimum.at(above, self.cell[mine], self.above[mine])
        return below, above

    def at_most(self, reduced: FloatArray) -> FloatArray:
        """Bound the range of a cell for each attacker by multipliers, shape (m,).

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
        """Scale deviations to the bounds of each attacker; return the factors, up to 1, shape (m,).

        Scaled deviations satisfy the relations, and no deviation is always possible: a factor t proves
        everything up to t times the deviations.

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
    """Return the share of each deviation within its bounds, up to 1."""
    room = np.where(deviations > 0, above, below)
    size = np.abs(deviations)
    return np.divide(room, size, out=np.ones(size.size), where=size > room)
