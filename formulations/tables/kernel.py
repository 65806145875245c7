"""Computes a basis of all movements: the kernel of the relations.

Most relations of large linked tables depend on each other, and the others leave few degrees of freedom: a
table of 6,546 cells may have only 1,447. Movements are then combinations of so few numbers, and satisfy the
relations by construction.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from linkrisk.arrays import LongArray

_NOTHING = 1e-9
"""Coefficients are sums of few integers; smaller ones are rounding errors."""

_LONGER = 1.5
"""Length of relations solved at a time, relative to the shortest: larger batches against fill-in."""

_LEAST_PIVOT = 0.5
"""Smallest pivot, relative to the largest coefficient of its relation: stability against sparsity."""


def kernel(relations: sparse.csr_array) -> sparse.csr_array:
    """Compute a basis of the movements d with ``relations @ d = 0``.

    Relations are solved for one cell each, the shortest first and many at a time, if the cell of each is in
    no other of them. The solutions are substituted into the remaining relations until none is left.

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
    """Select short relations, and for each a cell that no other of them has."""
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
