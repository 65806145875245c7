"""The modular method: subtables one after the other, from the top down, each protected at its least cost.

What an upper subtable suppresses is sensitive in the lower ones that it belongs to: it must be able to move
there as far as it moves above (HiTaS, de Wolf 2002). Where a lower subtable suppresses a cell of an upper
one, that is protected again, until nothing changes. Nobody looks at all relations at once here: what that
leaves open, `repair` mends.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from linkrisk.formulations.tables.cell_table import BoolArray, CellTable, FloatArray
from linkrisk.formulations.tables.subtables import Subtable
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.suppression.cell_suppression import suppress_cells
from linkrisk.solver.tables.suppression.movements import Movements, Needs

_SHARE, _LEAST_SECONDS = 0.02, 0.5
"""Of the time that is left: what one subtable may take, and what it may take at any rate."""

_VISITS = 3
"""How often a subtable is protected before the rest is left to the repair."""

_ROUNDS = 6
_GROWN = 1.001


@dataclass(eq=False)
class Modular:
    """A pattern that grows subtable by subtable.

    Attributes
    ----------
    table : CellTable
    parts : list of Subtable
        From the top down.
    clock : Clock
    suppressed : ndarray of bool, shape (n,)
    """

    table: CellTable
    parts: list[Subtable]
    clock: Clock
    suppressed: BoolArray = field(init=False)

    def __post_init__(self) -> None:
        self.suppressed = self.table.primary.copy()
        self._moves = np.zeros(len(self.table))
        self._visits = np.zeros(len(self.parts), dtype=np.int64)
        self._depth = np.array([part.depth for part in self.parts], dtype=np.int64)
        cells = np.concatenate([part.cells for part in self.parts])
        holders = np.repeat(np.arange(len(self.parts)), [part.cells.size for part in self.parts])
        shape = (len(self.table), len(self.parts))
        self._holders = sparse.csr_array((np.ones(cells.size), (cells, holders)), shape=shape)

    def run(self, tell: Callable[[int, int], None]) -> None:
        """Protect every subtable, until nothing changes or the clock is out.

        Parameters
        ----------
        tell : callable
            Told how many subtables wait, and of how many.
        """
        self._waiting = [(int(depth), at) for at, depth in enumerate(self._depth)]
        self._queued = np.ones(len(self.parts), dtype=np.bool_)
        heapq.heapify(self._waiting)
        while self._waiting and not self.clock.expired:
            _, at = heapq.heappop(self._waiting)
            self._queued[at] = False
            self._protect(at)
            tell(len(self._waiting), len(self.parts))

    def _protect(self, at: int) -> None:
        part = self.parts[at]
        hidden = self.suppressed[part.cells]
        if not hidden.any():
            return
        self._visits[at] += 1
        left = self.clock.seconds_left
        clock = self.clock.part(None if left is None else max(_LEAST_SECONDS, _SHARE * left))
        local = _within(self.table, part, hidden, self._moves)
        try:
            found = suppress_cells(local, None, clock)
        except UsageError:  # what moves above cannot move here: this is left to the repair
            local = _within(self.table, part, hidden, np.zeros(len(self.table)))
            found = suppress_cells(local, None, clock)
        self.suppressed[part.cells[found.suppressed]] = True
        moves = _furthest(local, found.suppressed)
        grown = (moves > _GROWN * self._moves[part.cells]) & ~hidden | (found.suppressed & ~hidden)
        self._moves[part.cells] = np.maximum(self._moves[part.cells], moves)
        for other in np.unique(self._holders[part.cells[grown]].indices):
            if other != at and not self._queued[other] and self._visits[other] < _VISITS:
                self._queued[other] = True
                heapq.heappush(self._waiting, (int(self._depth[other]), int(other)))


def _within(table: CellTable, part: Subtable, hidden: BoolArray, moves: FloatArray) -> CellTable:
    """A subtable by itself; cells that are suppressed must move as they do elsewhere."""
    cells = part.cells
    below, above = table.below[cells], table.above[cells]
    wanted = np.where(hidden, moves[cells], 0.0)
    rows = sparse.csr_array(sparse.csc_array(sparse.csr_array(table.relations)[part.relations])[:, cells])
    return CellTable(
        value=table.value[cells],
        relations=rows,
        lower=table.lower[cells],
        upper=table.upper[cells],
        primary=hidden,
        fixed=table.fixed[cells],
        cost=table.cost[cells],
        lower_level=np.maximum(table.lower_level[cells], np.minimum(wanted, below)),
        upper_level=np.maximum(table.upper_level[cells], np.minimum(wanted, above)),
        sliding_level=table.sliding_level[cells],
    )


def _furthest(local: CellTable, suppressed: BoolArray) -> FloatArray:
    """How far each suppressed cell moves when the others are protected by as little movement as can be."""
    needs, movements = Needs.of(local.demands, local.above), Movements(local)
    moving, one = np.flatnonzero(suppressed & ~local.fixed), np.ones(len(local))
    found, left = np.zeros(len(local)), np.arange(len(needs))
    for turn in range(_ROUNDS):
        if not left.size:
            break
        order = left[:: 1 if turn % 2 else -1]
        batch = order[np.unique(needs.cell[order], return_index=True)[1]]
        moved = movements.most(moving, needs[batch], local.primary, one)
        if moved is None:
            break
        met = needs[left].met_by(moved)
        found = np.maximum(found, np.abs(moved))
        left = left[~met]
    return found
