"""Compiled code of the branch and bound on simplices: classify rows, explore.

A node is a simplex in parameter space, given by its vertices. A row that is positive at every vertex is
positive on the whole simplex, and one that is positive at no vertex is nowhere positive: the values of the
rows at the vertices are all that is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations.compiled import kernel
from solver.engines.exact.tree_conflicts import clique_saving, matching_saving
from solver.engines.exact.two_rows import SAFE

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

STACK = 400
"""Simplices that may wait at once in one call of `explore`."""

_ROOM = 8
_SLACK = 1e-9
_SMALLEST_EDGE = 1e-13


@kernel
def _row_values(row: FloatArray, vertices: FloatArray, out: FloatArray) -> tuple[float, float]:
    """Values of a row at the vertices into `out`, and the smallest and largest of them."""
    low, high = np.inf, -np.inf
    for corner in range(vertices.shape[1]):
        value = 0.0
        for k in range(row.size):
            value += row[k] * vertices[k, corner]
        out[corner] = value
        low, high = min(low, value), max(high, value)
    return low, high


@kernel
def _classify(
    rows: FloatArray,
    block: IndexArray,
    weight: FloatArray,
    listed: IndexArray,
    vertices: FloatArray,
    keep: IndexArray,
    values: FloatArray,
) -> tuple[int, float, float]:
    """Sort the blocks of a simplex into linked everywhere, linked nowhere and undecided.

    `keep` and `values` take the rows of undecided blocks that are not positive everywhere, of those
    `listed`, and their values at the vertices. Returns their number, the weight of the undecided blocks and
    that of the blocks linked everywhere.
    """
    kept, undecided, linked = 0, 0.0, 0.0
    at, count = 0, listed.size
    while at < count:
        owner, first, lost = block[listed[at]], kept, False
        while at < count and block[listed[at]] == owner:
            if not lost:
                low, high = _row_values(rows[listed[at]], vertices, values[kept])
                lost = high <= -SAFE
                if low < SAFE:
                    keep[kept] = listed[at]
                    kept += 1
            at += 1
        if lost:
            kept = first
        elif kept == first:
            linked += weight[owner]
        else:
            undecided += weight[owner]
    return kept, undecided, linked


@kernel
def undecided(
    rows: FloatArray, block: IndexArray, weight: FloatArray, listed: NDArray[np.int32], vertices: FloatArray
) -> tuple[NDArray[np.int32], float]:
    """The rows among `listed` that a simplex leaves undecided, and the weight of the blocks it links.

    Left out are rows that are positive everywhere on it and those of blocks that it links nowhere; the
    parameters are as in `explore`.
    """
    keep = np.empty(listed.size, dtype=np.intp)
    values = np.empty((listed.size + 1, vertices.shape[1]))
    kept, _, linked = _classify(rows, block, weight, listed.astype(np.intp), vertices, keep, values)
    return keep[:kept].astype(np.int32), linked


@kernel
def _weight_at_centre(values: FloatArray, keep: IndexArray, block: IndexArray, weight: FloatArray) -> Any:
    """Weight of the undecided blocks that are linked at the simplex's centre."""
    total, at, count = 0.0, 0, values.shape[0]
    while at < count:
        owner, linked = block[keep[at]], True
        while at < count and block[keep[at]] == owner:
            if linked and values[at].sum() <= SAFE * values.shape[1]:
                linked = False
            at += 1
        if linked:
            total += weight[owner]
    return total


@kernel
def _longest_edge(vertices: FloatArray) -> tuple[int, int, float]:
    """The two vertices (columns) that are farthest apart, and the square of their distance."""
    one, two, longest = 0, 1, -1.0
    for i in range(vertices.shape[1]):
        for j in range(i + 1, vertices.shape[1]):
            length = 0.0
            for k in range(vertices.shape[0]):
                length += (vertices[k, i] - vertices[k, j]) ** 2
            if length > longest:
                one, two, longest = i, j, length
    return one, two, longest


@kernel
def _centre(vertices: FloatArray, point: FloatArray) -> None:
    """The centre of the simplex into `point`."""
    for k in range(vertices.shape[0]):
        point[k] = vertices[k].mean()


@kernel
def _halve(vertices: FloatArray, first: FloatArray, second: FloatArray) -> Any:
    """Cut the simplex at the middle of its longest edge; the halves go into the last two arguments.

    Returns the square of that edge's length.
    """
    one, two, longest = _longest_edge(vertices)
    first[:] = vertices
    second[:] = vertices
    for k in range(vertices.shape[0]):
        middle = 0.5 * (vertices[k, one] + vertices[k, two])
        first[k, one] = middle
        second[k, two] = middle
    return longest


@kernel
def explore(
    rows: FloatArray,
    block: IndexArray,
    weight: FloatArray,
    target: float,
    budget: int,
    crowd: int,
    effort: int,
    vertices: FloatArray,
    bound: FloatArray,
    point: FloatArray,
) -> tuple[int, int, float, float]:
    """Search a simplex depth first for parameters that link more than `target`.

    Parameters
    ----------
    rows, block : shapes (rows, dimension), (rows,)
        Rows of unit length and the block of each, ascending.
    weight : shape (blocks,)
    target : float
        Weight that is reached already; simplices that cannot hold more are closed.
    budget : int
        Simplices to look at before what is left is handed back.
    crowd : int
        Look for conflicts among all blocks only where at most this many rows are undecided, and elsewhere
        for those of blocks that the centre misses.
    effort : int
        Pairs of rows that may be looked at for the latter in one simplex.
    vertices, bound : in and out, shapes (STACK, dimension, corners), (STACK,)
        In: the simplex (one vertex a column) and its bound in the first place. Out: the simplices that are
        left, with an upper bound each.
    point : out, shape (dimension,)
        The best centre found.

    Returns
    -------
    nodes, left : int
        Simplices looked at, and left.
    stuck : float
        Largest bound of a simplex too small to halve; -inf if there was none.
    best : float
        Weight linked at `point`, where above `target`; else -inf.
    """
    many = rows.shape[0]
    arena = np.empty(_ROOM * many, dtype=np.intp)
    arena[:many] = np.arange(many)
    first = np.zeros(STACK, dtype=np.intp)
    size = np.zeros(STACK, dtype=np.intp)
    sure = np.zeros(STACK)
    size[0] = many
    values = np.empty((many + 1, vertices.shape[2]))
    here = np.empty(vertices.shape[1:])
    nodes, waiting, stuck, best = 0, 1, -np.inf, -np.inf
    while waiting > 0 and nodes < budget and waiting < STACK - 1:
        at = waiting - 1
        after = first[at] + size[at]
        if after + size[at] > arena.size:
            break
        if bound[at] <= target + _SLACK:
            waiting -= 1
            continue
        nodes += 1
        here[:] = vertices[at]
        listed, keep = arena[first[at] : after], arena[after:]
        kept, undecided, linked = _classify(rows, block, weight, listed, here, keep, values)
        linked += sure[at]
        most = min(bound[at], linked + undecided)
        if most > target + _SLACK:
            found = linked + _weight_at_centre(values[:kept], keep[:kept], block, weight)
            if found > target + _SLACK:
                target = best = found
                _centre(here, point)
            needed = linked + undecided - target - _SLACK / 2
            if kept <= crowd:
                saving = clique_saving(values[:kept], keep[:kept], block, weight, needed)
            else:
                saving = matching_saving(values[:kept], keep[:kept], block, weight, needed, effort)
            most = min(most, linked + undecided - saving)
        if most <= target + _SLACK:
            waiting -= 1
            continue
        if _halve(here, vertices[at], vertices[at + 1]) < _SMALLEST_EDGE**2:
            stuck = max(stuck, most)
            waiting -= 1
            continue
        waiting += 1
        for child in (at, at + 1):
            first[child], size[child], sure[child], bound[child] = after, kept, linked, most
    return nodes, waiting, stuck, best
