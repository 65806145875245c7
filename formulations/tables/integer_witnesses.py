"""Witnesses in whole numbers: tables of counts that an attacker cannot tell from the true one.

A table of counts has whole numbers only, so that a deviation vector is possible only if it is whole. Each one
that was found serves every pattern that suppresses all cells that it moves, and every attacker who thinks
them possible; so does its opposite, where bounds let cells go that way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from linkrisk.formulations.tables.cell_table import BoolArray, CellTable, FloatArray, IntArray

_CLOSE = 1e-9
"""Of the size of its terms, what a relation with decimal coefficients may miss 0 by; whole ones miss none."""


class IntegerWitnesses:
    """Whole deviation vectors d with ``M d = 0`` within what everybody knows, added up when they are added.

    Parameters
    ----------
    table : CellTable
    most : int
        As many are kept, the latest.
    """

    def __init__(self, table: CellTable, most: int = 4000) -> None:
        self._relations, self._most = sparse.csr_array(table.relations), most
        self._by_cell = sparse.csc_array(table.relations)
        self._below, self._above = table.below, table.above
        self._rows: list[tuple[IntArray, FloatArray]] = []
        self._kept: set[bytes] = set()
        self._gone = 0
        self._matrix: sparse.csr_array | None = None

    def add(self, cells: IntArray, deviations: FloatArray) -> bool:
        """Keep a vector and its opposite, as far as they are witnesses; whether the vector itself is one.

        Parameters
        ----------
        cells : ndarray of int64, shape (k,)
        deviations : ndarray of float64, shape (k,)
            Whole numbers; others are none.
        """
        moves = deviations != 0
        cells, deviations = cells[moves], deviations[moves]
        if (deviations != np.round(deviations)).any() or not self._balanced(cells, deviations):
            return False
        good = self._within(cells, deviations)
        for moved in (deviations, -deviations):
            key = cells.tobytes() + moved.tobytes()
            if cells.size and key not in self._kept and self._within(cells, moved):
                self._kept.add(key)
                self._rows.append((cells, moved))
                self._matrix = None
        if len(self._rows) > self._most:
            self._gone += len(self._rows) - self._most // 2
            self._rows = self._rows[-(self._most // 2) :]
            self._kept = {one.tobytes() + moved.tobytes() for one, moved in self._rows}
        return good

    def __len__(self) -> int:
        return self._gone + len(self._rows)

    def after(self, number: int) -> Sequence[tuple[IntArray, FloatArray]]:
        """Cells and deviations of the vectors that were added when there had been so many already."""
        return self._rows[max(number - self._gone, 0) :]

    def _balanced(self, cells: IntArray, deviations: FloatArray) -> bool:
        part = self._by_cell[:, cells]
        size = abs(part) @ np.abs(deviations)
        return bool((np.abs(part @ deviations) <= _CLOSE * size).all())

    def _within(self, cells: IntArray, deviations: FloatArray) -> bool:
        return bool(((-self._below[cells] <= deviations) & (deviations <= self._above[cells])).all())

    @property
    def matrix(self) -> sparse.csr_array:
        """The vectors, shape (w, n)."""
        if self._matrix is None:
            sizes = [cells.size for cells, _ in self._rows]
            starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
            none: list[FloatArray] = [np.zeros(0)]
            inside = np.concatenate([*none, *(cells for cells, _ in self._rows)]).astype(np.int64)
            data = np.concatenate([*none, *(moved for _, moved in self._rows)])
            shape = (len(self._rows), self._relations.shape[1])
            self._matrix = sparse.csr_array((data, inside, starts), shape=shape)
        return self._matrix

    def within(self, suppressed: BoolArray) -> sparse.csr_array:
        """Those that move no cell but suppressed ones, shape (v, n)."""
        matrix = self.matrix
        if not matrix.shape[0]:
            return matrix
        outside = abs(matrix) @ (~suppressed).astype(np.float64)
        return sparse.csr_array(matrix[np.flatnonzero(outside == 0)])


def seen_within(
    vectors: sparse.csr_array, cells: IntArray, below: FloatArray, above: FloatArray
) -> sparse.csr_array:
    """The vectors that move some cells no further than somebody thinks possible, shape (v, n).

    Parameters
    ----------
    vectors : scipy.sparse.csr_array, shape (w, n)
    cells : ndarray of int64, shape (k,)
        Of which somebody knows more than everybody does.
    below, above : ndarray of float64, shape (k,)
        How far below and above their values they can be.
    """
    if not vectors.shape[0] or not cells.size:
        return vectors
    there = vectors[:, cells].toarray()
    good = ((there >= -below) & (there <= above)).all(axis=1)
    return sparse.csr_array(vectors[np.flatnonzero(good)])


def reach_of(vectors: sparse.csr_array) -> tuple[FloatArray, FloatArray]:
    """How far vectors move each cell down, and up, shape (n,) each."""
    down, up = np.zeros(vectors.shape[1]), np.zeros(vectors.shape[1])
    np.maximum.at(up, vectors.indices, vectors.data)
    np.maximum.at(down, vectors.indices, -vectors.data)
    return down, up
