"""Subtables as separators of the whole table, and wider ones where a subtable by itself says too little."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.programs import Cuts
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.formulations.tables.subtables import Subtable
from linkrisk.solver.tables.suppression.capacity import CapacityCuts

_DEMANDS = 300
"""Of a subtable that are looked at between two looks at the clock."""

_SAME = 1e-6


class Block:
    """Some demands of a subtable.

    `local`: the subtable by itself, with these demands. `cells` (k,): its cells in the table.
    """

    def __init__(self, table: CellTable, local: CellTable, cells: LongArray) -> None:
        self._width, self.cells = len(table), cells
        self._separator = CapacityCuts(local, bridged=False)
        self._last: FloatArray | None = None

    def holds(self, pattern: BoolArray) -> bool:
        """Whether a pattern of all cells protects here, shape (n,)."""
        return self._separator.holds(pattern[self.cells])

    def rows(self, point: FloatArray) -> Cuts | None:
        """Rows over all cells that a point violates; None where it was looked at before."""
        here = point[self.cells]
        if self._last is not None and np.abs(here - self._last).max() < _SAME:
            return None
        cuts = self._separator(here)
        if not cuts.count:
            self._last = here
        matrix = sparse.csr_array(
            (cuts.matrix.data, self.cells[cuts.matrix.indices], cuts.matrix.indptr),
            shape=(cuts.count, self._width),
        )
        return Cuts(matrix, cuts.lower, cuts.upper)


class Blocks:
    """Blocks of a table that is seen in subtables."""

    def __init__(self, table: CellTable, parts: Sequence[Subtable]) -> None:
        self._table, self._parts = table, parts
        cells = np.concatenate([part.cells for part in parts])
        rows = np.repeat(np.arange(len(parts)), [part.cells.size for part in parts])
        shape = (len(parts), len(table))
        self._inside = sparse.csr_array((np.ones(cells.size, dtype=np.int8), (rows, cells)), shape=shape)
        self._holders = sparse.csr_array(self._inside.T)
        self._steps: dict[int, int] = {}

    def first(self) -> Iterator[Block]:
        """Those of all subtables."""
        for part in self._parts:
            yield from self._of(part, self._table.primary[part.cells])

    def wider(self, demands: Sequence[Demand]) -> Iterator[Block]:
        """Demands with all subtables around theirs; each time they are asked for, one step farther."""
        groups: dict[tuple[int, ...], list[int]] = {}
        for cell in sorted({demand.cell for demand in demands}):
            self._steps[cell] = steps = self._steps.get(cell, 0) + 1
            near = self._holders[[cell]].indices
            for _ in range(steps):
                near = np.unique(self._holders[np.unique(self._inside[near].indices)].indices)
            groups.setdefault(tuple(near.tolist()), []).append(cell)
        for near_, cells in groups.items():
            relations = np.unique(np.concatenate([self._parts[at].relations for at in near_]))
            inside = np.unique(np.concatenate([self._parts[at].cells for at in near_]))
            yield from self._of(Subtable(relations, inside, 0), np.isin(inside, cells))

    def _of(self, part: Subtable, asked: BoolArray) -> Iterator[Block]:
        """A subtable with some of its levels at a time."""
        primary = self._table.primary[part.cells]
        local = within(self._table, part, primary, np.zeros(len(self._table)))
        wanted = np.flatnonzero(asked & primary)
        for start in range(0, wanted.size, _DEMANDS):
            chosen: BoolArray = np.zeros(len(local), dtype=np.bool_)
            chosen[wanted[start : start + _DEMANDS]] = True
            some = replace(
                local,
                lower_level=np.where(chosen, local.lower_level, 0.0),
                upper_level=np.where(chosen, local.upper_level, 0.0),
                sliding_level=np.where(chosen, local.sliding_level, 0.0),
            )
            yield Block(self._table, some, part.cells)


def within(table: CellTable, part: Subtable, hidden: BoolArray, moves: FloatArray) -> CellTable:
    """A subtable by itself; cells that are suppressed must move as they do elsewhere.

    `hidden` (k,): its suppressed cells, which are sensitive here. `moves` (n,): how far each cell of the
    table moves elsewhere.
    """
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
