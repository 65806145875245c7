"""Deviations that attackers were seen to find, and how far they show that cells go in any other pattern."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.tables.cell_table import CellTable

_NOTHING = 1e-9
"""What moves by so much less than the cell that moves most does not move."""


class Seen:
    """Deviations d with ``M d = 0``. Any multiple of one that keeps within the bounds is a deviation, too.

    `most`: as many are kept, the latest; of each attack only the last. `asked` (n,): the cells whose reach is
    asked for; all where absent.
    """

    def __init__(self, table: CellTable, most: int = 300, asked: BoolArray | None = None) -> None:
        self._most = most
        self._asked = np.ones(len(table), dtype=np.bool_) if asked is None else asked
        self._above, self._below, self._free = table.above, table.below, table.free
        self._found: dict[Hashable, tuple[LongArray, FloatArray, float]] = {}
        self._stale = True

    def add(self, attack: Hashable, cells: LongArray, deviations: FloatArray, within: float = np.inf) -> None:
        """Remember deviations of some cells, by which attack they were found; all others stay.

        `cells` (k,). `deviations` (k,). `within`: how far cells that are not sensitive may move at most when
        they are suppressed wholly.
        """
        size = np.abs(deviations)
        moves = size > _NOTHING * size.max(initial=0.0)
        if moves.any():
            self._found.pop(attack, None)
            self._found[attack] = cells[moves], deviations[moves], within
            if len(self._found) > self._most:
                del self._found[next(iter(self._found))]
            self._stale = True

    def reach(self, suppressed: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How far each cell that is asked for goes up, and down, in a pattern: at least, shape (n,) each."""
        up, down = np.zeros(suppressed.size), np.zeros(suppressed.size)
        if not self._found:
            return up, down
        if self._stale:
            self._cells = np.concatenate([cells for cells, _, _ in self._found.values()])
            self._moves = np.concatenate([moves for _, moves, _ in self._found.values()])
            sizes = [cells.size for cells, _, _ in self._found.values()]
            self._starts = np.concatenate([[0], np.cumsum(sizes[:-1])]).astype(np.int64)
            self._whose = np.repeat(np.arange(len(sizes)), sizes)
            self._told = np.flatnonzero(self._asked[self._cells])
            told = self._moves[self._told]
            self._up, self._down = np.maximum(told, 0.0), np.maximum(-told, 0.0)
            size = np.abs(self._moves)
            there, other = self._moves > 0, self._cells
            most = np.repeat([within for _, _, within in self._found.values()], sizes)
            most = np.where(self._free[other], most, np.inf)
            above, below = np.minimum(self._above[other], most), np.minimum(self._below[other], most)
            self._forth = np.where(there, above, below) / size
            self._back = np.where(there, below, above) / size
            self._mine, self._of = self._cells[self._told], self._whose[self._told]
            self._stale = False
        share = suppressed[self._cells]
        cells, whose = self._mine, self._of
        forth = np.minimum.reduceat(self._forth * share, self._starts)[whose]
        back = np.minimum.reduceat(self._back * share, self._starts)[whose]
        np.maximum.at(up, cells, np.maximum(forth * self._up, back * self._down))
        np.maximum.at(down, cells, np.maximum(forth * self._down, back * self._up))
        return up, down
