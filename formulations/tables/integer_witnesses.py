"""Integral witnesses: tables of counts that an attacker cannot distinguish from the true one.

In a table of counts only integral deviations are possible. A stored vector is a witness for every pattern
that suppresses the cells it moves, and for every attacker whose bounds allow it; so is its opposite if the
bounds allow that. The insiders who exclude it are stored with it, so that it is tested for all of them at
once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.tables.attacker_knowledge import AttackerKnowledge
from linkrisk.formulations.tables.cell_table import Demand

_CLOSE = 1e-9
"""Residual of a relation with decimal coefficients, relative to its terms; integral ones must sum to 0."""


class Whole(NamedTuple):
    """Integral deviation vector that only some insiders can exclude.

    Attributes
    ----------
    cells : ndarray of int64, shape (k,)
        Those that move.
    deviations : ndarray of float64, shape (k,)
    excluded : ndarray of int64
        The attackers who know that it is not so.
    """

    cells: LongArray
    deviations: FloatArray
    excluded: LongArray

    def of(self, cell: int) -> float:
        """Return how far a cell moves."""
        return float(self.deviations[self.cells == cell].sum())


class IntegerWitnesses:
    """Stores integral deviation vectors d with ``M d = 0`` within public bounds, verified when added.

    Parameters
    ----------
    knowledge : AttackerKnowledge
        The attackers of a table.
    most : int
        As many are kept, the latest.
    """

    def __init__(self, knowledge: AttackerKnowledge, most: int = 20_000) -> None:
        table = knowledge.table
        self._knowledge, self._most = knowledge, most
        self._by_cell = sparse.csc_array(table.relations)
        self._below, self._above = table.below, table.above
        self._rows: list[Whole] = []
        self._of_cell: dict[int, list[int]] = {}
        self._kept: set[bytes] = set()
        self.gone = 0
        self._matrix: sparse.csr_array | None = None

    def add(self, cells: LongArray, deviations: FloatArray) -> Whole | None:
        """Add a vector and its opposite, if they are witnesses; return the vector itself if it is one.

        Parameters
        ----------
        cells : ndarray of int64, shape (k,)
        deviations : ndarray of float64, shape (k,)
            Whole numbers; others are none.
        """
        moves = deviations != 0
        cells, deviations = cells[moves], deviations[moves]
        if (deviations != np.round(deviations)).any() or not self._balanced(cells, deviations):
            return None
        found = [self._kept_one(cells, moved) for moved in (deviations, -deviations)]
        if len(self._rows) > self._most:
            self._forget(len(self._rows) - self._most // 2)
        return found[0]

    def _kept_one(self, cells: LongArray, moved: FloatArray) -> Whole | None:
        if not ((-self._below[cells] <= moved) & (moved <= self._above[cells])).all():
            return None
        one = Whole(cells, moved, self._knowledge.excluding(cells, moved))
        key = cells.tobytes() + moved.tobytes()
        if cells.size and key not in self._kept:
            self._kept.add(key)
            self._index(one, len(self))
            self._rows.append(one)
            self._matrix = None
        return one

    def _index(self, one: Whole, number: int) -> None:
        for cell in one.cells.tolist():
            self._of_cell.setdefault(cell, []).append(number)

    def _forget(self, count: int) -> None:
        """Remove the oldest."""
        self._rows, self.gone = self._rows[count:], self.gone + count
        self._kept = {one.cells.tobytes() + one.deviations.tobytes() for one in self._rows}
        self._of_cell, self._matrix = {}, None
        for number, one in enumerate(self._rows, start=self.gone):
            self._index(one, number)

    def __len__(self) -> int:
        """Return the number ever added."""
        return self.gone + len(self._rows)

    def __getitem__(self, number: int) -> Whole:
        """Return a stored one by its number of addition."""
        return self._rows[number - self.gone]

    def moving(self, cell: int) -> Iterator[tuple[int, Whole]]:
        """Yield those that move a cell, with their numbers, the latest first."""
        for number in reversed(self._of_cell.get(cell, [])):
            yield number, self[number]

    def _balanced(self, cells: LongArray, deviations: FloatArray) -> bool:
        matrix = self._by_cell
        sizes = np.diff(matrix.indptr)[cells]
        starts = np.repeat(matrix.indptr[cells] - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
        at = starts + np.arange(starts.size)
        terms, rows = matrix.data[at] * np.repeat(deviations, sizes), matrix.indices[at]
        total, size = (np.bincount(rows, weights=one) for one in (terms, np.abs(terms)))
        return bool((np.abs(total) <= _CLOSE * size).all())

    @property
    def matrix(self) -> sparse.csr_array:
        """Return the stored vectors, shape (w, n)."""
        if self._matrix is None:
            sizes = [one.cells.size for one in self._rows]
            starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
            none: list[FloatArray] = [np.zeros(0)]
            inside = np.concatenate([*none, *(one.cells for one in self._rows)]).astype(np.int64)
            data = np.concatenate([*none, *(one.deviations for one in self._rows)])
            shape = (len(self._rows), self._by_cell.shape[1])
            self._matrix = sparse.csr_array((data, inside, starts), shape=shape)
        return self._matrix

    def possible(self, suppressed: BoolArray) -> BoolArray:
        """Tell which stored vectors move suppressed cells only, shape (w,)."""
        matrix = self.matrix
        outside = np.concatenate([[0], np.cumsum(~suppressed[matrix.indices])])
        return np.asarray(outside[matrix.indptr[1:]] == outside[matrix.indptr[:-1]], dtype=np.bool_)

    def within(self, suppressed: BoolArray) -> sparse.csr_array:
        """Return their vectors, shape (v, n)."""
        return sparse.csr_array(self.matrix[np.flatnonzero(self.possible(suppressed))])


class Onlooking:
    """Tests for all attackers which demands the witnesses of a pattern meet.

    Parameters
    ----------
    seen : IntegerWitnesses
    suppressed : ndarray of bool, shape (n,)
        The pattern; where more cells are suppressed later, `again` says so.
    covers : dict
        By which witnesses demands were met in other patterns.
    """

    def __init__(
        self, seen: IntegerWitnesses, suppressed: BoolArray, covers: dict[Demand, tuple[int, ...]]
    ) -> None:
        self._seen, self.suppressed, self._covers = seen, suppressed, covers
        self.again()

    def again(self) -> None:
        """Restart with all witnesses."""
        self._gone, self._possible = self._seen.gone, self._seen.possible(self.suppressed).tolist()

    def _has(self, number: int) -> bool:
        """Tell whether a witness is possible."""
        if self._gone != self._seen.gone:
            self.again()
        for later in range(self._gone + len(self._possible), len(self._seen)):
            self._possible.append(bool(self.suppressed[self._seen[later].cells].all()))
        return number >= self._gone and self._possible[number - self._gone]

    def open(self, demand: Demand, levels: FloatArray) -> LongArray:
        """Return the attackers against whom no witness meets a demand.

        Parameters
        ----------
        demand : Demand
        levels : ndarray of float64, shape (m,)
            What has to hold against each attacker.
        """
        cover = self._covers.get(demand)
        if cover is not None and all(self._has(one) for one in cover):
            return np.zeros(0, dtype=np.int64)
        reached, used = Reached(demand, levels), []
        for number, one in self._seen.moving(demand.cell):
            if self._has(number) and reached.by(one):
                used.append(number)
                if not reached.open.size:
                    self._covers[demand] = tuple(used)
                    break
        return reached.open


class Reached:
    """Ranges of a demand's cell for all attackers, by the witnesses tried so far.

    Parameters
    ----------
    demand : Demand
    levels : ndarray of float64, shape (m,)

    Attributes
    ----------
    open : ndarray of int64
        Those against whom it does not hold yet.
    """

    def __init__(self, demand: Demand, levels: FloatArray) -> None:
        self._demand, self._levels = demand, levels
        self._up, self._down = np.zeros((2, levels.size))
        self.open: LongArray = np.flatnonzero(levels > 0)

    def by(self, one: Whole) -> bool:
        """Apply a witness; tell whether it enlarges a range."""
        moved = one.of(self._demand.cell)
        if not (self._demand.up if moved > 0 else self._demand.down):
            return False
        known, far = (self._up if moved > 0 else self._down), abs(moved)
        more = known < far
        more[one.excluded] = False
        known[more] = far
        self.open = np.flatnonzero(self._up + self._down < self._levels)
        return bool(more.any())


def reach_of(vectors: sparse.csr_array) -> tuple[FloatArray, FloatArray]:
    """Return how far vectors move each cell down and up, shape (n,) each."""
    down, up = np.zeros(vectors.shape[1]), np.zeros(vectors.shape[1])
    np.maximum.at(up, vectors.indices, vectors.data)
    np.maximum.at(down, vectors.indices, -vectors.data)
    return down, up
