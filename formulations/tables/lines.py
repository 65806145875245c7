"""Finds the relations of one line of a table: sums over codes of one variable, with all others fixed.

If hierarchies of a variable do not nest, the relations of a line form circles: a chain by common cells that
returns to the first. Codes are not needed: two relations of different variables span a grid.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from linkrisk.arrays import LongArray
from linkrisk.formulations.compiled import kernel


def in_circles(relations: sparse.csr_array) -> tuple[LongArray, LongArray]:
    """Find for every relation the others of its line that share a cell with it, if these form circles.

    Lines are inferred: where cells are missing, a grid may be overlooked.

    Parameters
    ----------
    relations : scipy.sparse.csr_array, shape (m, n)

    Returns
    -------
    starts : ndarray of int64, shape (m + 1,)
        Those of relation i are ``others[starts[i]:starts[i + 1]]``.
    others : ndarray of int64
    """
    count, width = relations.shape
    pattern = relations.copy()
    pattern.data = np.ones(pattern.nnz)
    holders, near = sparse.csr_array(pattern.T), sparse.csr_array(pattern.T @ pattern)
    first, second, shared = _same_line(*_places(pattern), *_places(holders), *_places(near))
    pair = sparse.csr_array((np.ones(first.size), (first, second)), shape=(count, count))
    lines, line = connected_components(pair, directed=False)
    # The relations of a line and their common cells form a graph: a tree has one edge less than nodes.
    ends = np.unique(np.concatenate([first * width + shared, second * width + shared]))
    cells = np.unique(line[first] * width + shared)
    nodes = np.bincount(line, minlength=lines) + np.bincount(cells // width, minlength=lines)
    circle = (np.bincount(line[ends // width], minlength=lines) >= nodes)[line[first]]
    one, other = first[circle], second[circle]
    pairs = np.unique(np.concatenate([one * count + other, other * count + one]))
    return np.searchsorted(pairs // count, np.arange(count + 1)), pairs % count


def _places(matrix: sparse.csr_array) -> tuple[LongArray, LongArray]:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)


@kernel
def _same_line(
    starts: LongArray,
    cells: LongArray,
    holder_starts: LongArray,
    holders: LongArray,
    near_starts: LongArray,
    near: LongArray,
) -> tuple[LongArray, LongArray, LongArray]:
    """Return pairs of relations with a common cell that span no grid, and that cell."""
    first, second, shared = [0 for _ in range(0)], [0 for _ in range(0)], [0 for _ in range(0)]
    stamp, now = np.zeros(near_starts.size, dtype=np.int64), 0
    for one in range(starts.size - 1):
        own = cells[starts[one] : starts[one + 1]]
        for common in own:
            for other in holders[holder_starts[common] : holder_starts[common + 1]]:
                if other <= one:
                    continue
                others = cells[starts[other] : starts[other + 1]]
                corners = 0
                for d in own:
                    if d != common:
                        now += 1
                        stamp[near[near_starts[d] : near_starts[d + 1]]] = now
                        corners += _corners(others, common, near_starts, near, stamp, now)
                if 2 * corners <= (own.size - 1) * (others.size - 1):
                    first.append(one)
                    second.append(other)
                    shared.append(common)
    return np.array(first), np.array(second), np.array(shared)


@kernel
def _corners(
    others: LongArray, common: int, near_starts: LongArray, near: LongArray, stamp: LongArray, now: int
) -> int:
    """Cells e of a relation that are at the end of a grid.

    A cell d of the other relation, near which cells are stamped, and e have relations with a fourth cell
    besides the common one, and none with each other.
    """
    found = 0
    for e in others:
        if e == common or stamp[e] == now:
            continue
        for fourth in near[near_starts[e] : near_starts[e + 1]]:
            if fourth != common and stamp[fourth] == now:
                found += 1
                break
    return found
