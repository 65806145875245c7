"""Compiled search for a simplex tree that proves a bound which is known beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solver.verification.simplex_kernels import DEEPEST, classify, clique_saving, edge_ends, enlarged

WholeArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

CROWD = 200
"""Undecided rows up to which conflicts are looked for: among more, they seldom save enough."""


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _longest_edge(vertices: FloatArray) -> Any:
    """Number of the edge between the two vertices (rows) that are farthest apart."""
    best, longest, edge = 1, -1.0, 0
    for one in range(vertices.shape[0]):
        for two in range(one + 1, vertices.shape[0]):
            edge += 1
            length = ((vertices[one] - vertices[two]) ** 2).sum()
            if length > longest:
                best, longest = edge, length
    return best


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _closed(values: WholeArray, block: WholeArray, weight: WholeArray, needed: int) -> bool:
    """Whether conflicts take enough weight off a simplex to close it."""
    return needed <= 0 or (
        values.shape[0] <= CROWD and clique_saving(values, block, weight, needed) >= needed
    )


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def grow(
    rows: WholeArray, row_block: WholeArray, weight: WholeArray, most: int, codes: NDArray[np.uint8]
) -> int:
    """Write the tree that `solver.verification.simplex_kernels.replay` reads.

    Parameters
    ----------
    rows, row_block : shapes (rows, corners), (rows,)
        Values at the corners of the whole simplex and the block of each row; blocks ascend.
    weight : shape (blocks,)
    most : int
        The bound to prove.
    codes : out, ndarray of uint8
        Takes the tree.

    Returns
    -------
    int
        Length of the tree; -1 when `codes` is too short or a simplex too small.
    """
    corners = rows.shape[1]
    values = np.empty((4 * rows.shape[0] + 4, corners), dtype=np.int64)
    block = np.empty(values.shape[0], dtype=np.int64)
    vertices = np.empty((DEEPEST + 2, corners, corners))
    vertices[0] = np.eye(corners)
    start, linked = np.zeros(DEEPEST + 2, dtype=np.int64), np.zeros(DEEPEST + 2, dtype=np.int64)
    edge, side = np.zeros(DEEPEST + 2, dtype=np.int64), np.zeros(DEEPEST + 2, dtype=np.int64)
    size, undecided, sure = classify(rows, row_block, weight, 0, 0, values, block)
    start[1], linked[0] = size, sure
    level = 0
    for at in range(codes.size):
        first, after = start[level], start[level + 1]
        needed = linked[level] + undecided - most
        if _closed(values[first:after], block[first:after], weight, needed):
            codes[at] = 0
            level -= 1
            while level >= 0 and side[level] == 1:
                level -= 1
            if level < 0:
                return at + 1
            side[level] = 1
        else:
            if level >= DEEPEST:
                return -1
            edge[level], side[level] = _longest_edge(vertices[level]), 0
            codes[at] = edge[level]
        first, after = start[level], start[level + 1]
        values, block = enlarged(values, block, 2 * after - first + 1)
        one, two = edge_ends(edge[level], corners)
        kept, moved = (one, two) if side[level] == 0 else (two, one)
        size, undecided, sure = classify(
            values[first:after], block[first:after], weight, kept, moved, values[after:], block[after:]
        )
        vertices[level + 1] = vertices[level]
        vertices[level + 1, moved] = 0.5 * (vertices[level, one] + vertices[level, two])
        linked[level + 1] = linked[level] + sure
        level += 1
        start[level + 1] = after + size
    return -1
