"""All movements that relations allow, as combinations of few: a basis of the kernel of the relations.

Relations of large linked tables mostly follow from each other, and those that do not leave little open: a
table of 6,546 cells may have no more than 1,447 ways to move. Whatever is asked of movements is then a
question of as many numbers, and the relations hold of themselves.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from linkrisk.arrays import LongArray

_NOTHING = 1e-9
"""Coefficients are sums of few whole numbers; what is smaller is rounding."""

_LONGER = 1.5
"""Relations that are solved at a time are at most so much longer than the shortest."""

_LEAST_PIVOT = 0.5
"""Of the largest coefficient of a relation: that of the cell that it is solved for."""


def kernel(relations: sparse.csr_array) -> sparse.csr_array:
    """A basis of the movements d with ``relations @ d = 0``.

    Relations are solved for one of their cells each, the shortest first, many at a time: of those no cell
    that is solved for is in another one. What they say is put into all others, until none is left.

    Parameters
    ----------
    relations : scipy.sparse.csr_array, shape (m, n)

    Returns
    -------
    scipy.sparse.csr_array, shape (n, k)
        Every movement is ``basis @ z`` for one z: that of k of the cells.
    """
    left = sparse.csr_array(relations.astype(np.float64))
    basis = sparse.csc_array(sparse.eye_array(relations.shape[1], format="csc"))
    while True:
        left = sparse.csr_array(_without_nothing(left))
        left = sparse.csr_array(left[np.flatnonzero(np.diff(left.indptr))])
        if not left.shape[0]:
            return sparse.csr_array(basis)
        rows, solved = _solvable(left)
        free = np.setdiff1d(np.arange(left.shape[1]), solved)
        own = left[rows]
        pivots = np.asarray(own[np.arange(rows.size), solved]).ravel()
        others = sparse.csc_array(-(sparse.diags_array(1.0 / pivots) @ sparse.csc_array(own)[:, free]))
        stays = np.setdiff1d(np.arange(left.shape[0]), rows)
        by_cell = sparse.csc_array(left[stays])
        left = sparse.csr_array(by_cell[:, free] + by_cell[:, solved] @ others)
        basis = sparse.csc_array(_without_nothing(basis[:, free] + basis[:, solved] @ others))


def _solvable(left: sparse.csr_array) -> tuple[LongArray, LongArray]:
    """Short relations, and a cell of each that is in none of the others."""
    sizes, count = np.diff(left.indptr), np.bincount(left.indices, minlength=left.shape[1])
    used, is_solved = np.zeros(left.shape[1], dtype=np.bool_), np.zeros(left.shape[1], dtype=np.bool_)
    rows, solved = [], []
    order = np.argsort(sizes, kind="stable")
    most = _LONGER * max(int(sizes[order[0]]), 2) + 1.0
    for row in order[sizes[order] <= most].tolist():
        inside = slice(left.indptr[row], left.indptr[row + 1])
        cells, size = left.indices[inside], np.abs(left.data[inside])
        if is_solved[cells].any():
            continue
        fit = cells[~used[cells] & (size >= _LEAST_PIVOT * size.max())]
        if fit.size:
            cell = int(fit[np.argmin(count[fit])])
            rows.append(row)
            solved.append(cell)
            is_solved[cell] = True
            used[cells] = True
    return np.array(rows, dtype=np.int64), np.array(solved, dtype=np.int64)


def _without_nothing(matrix: sparse.csr_array | sparse.csc_array) -> sparse.csr_array | sparse.csc_array:
    matrix.data[np.abs(matrix.data) < _NOTHING] = 0.0
    matrix.eliminate_zeros()
    return matrix
