"""Expresses totals as sums of inner cells, which no relation sums up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from linkrisk.arrays import LongArray


@dataclass(frozen=True, eq=False)
class InnerSums:
    """Table by its inner cells.

    Attributes
    ----------
    inner : ndarray of int64, shape (k,)
        Cells that no relation sums up.
    totals : ndarray of int64, shape (t,)
        All others.
    matrix : scipy.sparse.csr_array, shape (t, k)
        Each total as a sum of inner cells.
    """

    inner: LongArray
    totals: LongArray
    matrix: sparse.csr_array

    @classmethod
    def of(cls, relations: sparse.csr_array) -> InnerSums | None:
        """Derive the sums from relations M, ``M value = 0`` of shape (m, n).

        Returns
        -------
        InnerSums or None
            None where a relation sums up none or several cells, or totals run in circles.
        """
        relations = sparse.csr_array(relations)
        parts = sparse.csr_array(relations.maximum(0.0))
        summed = sparse.csr_array((-relations).maximum(0.0))
        parts.eliminate_zeros()
        summed.eliminate_zeros()
        if (np.diff(summed.indptr) != 1).any():
            return None
        total, cells = summed.indices.astype(np.int64), relations.shape[1]
        parts = sparse.csr_array(sparse.diags_array(1.0 / summed.data) @ parts)
        is_inner = np.ones(cells, dtype=np.bool_)
        is_inner[total] = False
        inner = np.flatnonzero(is_inner)
        sums = _chosen(inner, np.arange(inner.size), (cells, inner.size))
        known, left = is_inner.copy(), np.arange(total.size)
        while left.size:
            unknown = np.asarray(parts[left] @ (~known).astype(np.float64)) > 0
            ready = left[~unknown]
            if not ready.size:
                return None
            rows = ready[np.unique(total[ready], return_index=True)[1]]
            rows = rows[~known[total[rows]]]
            sums = sparse.csr_array(
                sums + _chosen(total[rows], np.arange(rows.size), (cells, rows.size)) @ (parts[rows] @ sums)
            )
            known[total[ready]] = True
            left = left[unknown]
        totals = np.flatnonzero(~is_inner)
        return cls(inner, totals, sparse.csr_array(sums[totals]))

    def whole(self, inner: LongArray) -> LongArray:
        """Extend integral inner cells, shape (k,), to all cells, shape (n,)."""
        values = np.empty(self.inner.size + self.totals.size, dtype=np.int64)
        values[self.inner] = inner
        values[self.totals] = np.round(self.matrix @ inner)
        return values


def _chosen(rows: LongArray, columns: LongArray, shape: tuple[int, int]) -> sparse.csr_array:
    return sparse.csr_array((np.ones(rows.size), (rows, columns)), shape=shape)
