"""Compiled code of the branch and bound on simplices: classify rows, cover conflicts by cliques, explore.

A node is a simplex in parameter space, given by its vertices. A row that is positive at every vertex is
positive on the whole simplex, and one that is positive at no vertex is nowhere positive: the values of the
rows at the vertices are all that is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

SAFE = 1e-14
"""More than the rounding error of a row's value at a vertex: rows have unit length, vertices sum to one."""

STACK = 400
"""Simplices that may wait at once in one call of `explore`."""

_ROOM = 8
_SLACK = 1e-9
_SMALLEST_EDGE = 1e-13


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
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


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
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


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _rows_conflict(first: FloatArray, second: FloatArray) -> bool:
    """Whether some ``first + x * second`` with x >= 0 is negative at every vertex.

    Then the two rows are nowhere positive together on the simplex.
    """
    low, high = 0.0, np.inf
    for vertex in range(first.size):
        a, b = first[vertex] + SAFE, second[vertex] + SAFE
        if b < 0.0:
            if a > 0.0:
                low = max(low, a / -b)
        elif a >= 0.0:
            return False
        elif b > 0.0:
            high = min(high, -a / b)
        if low > high:
            return False
    # The quotients are rounded, so the interval must be wider than that.
    return low * (1.0 + 4e-16) < high


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _blocks_conflict(
    values: FloatArray, first: int, after_first: int, second: int, after_second: int
) -> bool:
    """Whether a row of one block and a row of another conflict; the rows are given by their ranges."""
    for row in range(first, after_first):
        for other in range(second, after_second):
            if _rows_conflict(values[row], values[other]):
                return True
    return False


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _joins(values: FloatArray, starts: IndexArray, clique: IndexArray, other: int) -> bool:
    """Whether a block conflicts with every member of a clique."""
    for member in clique:
        if not _blocks_conflict(values, starts[member], starts[member + 1], starts[other], starts[other + 1]):
            return False
    return True


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _clique_saving(
    values: FloatArray, keep: IndexArray, block: IndexArray, weight: FloatArray, needed: float
) -> Any:
    """Weight that conflicts take off the undecided blocks: of a clique of conflicts only one can be linked.

    Greedy: each block starts a clique, which takes every later block that conflicts with all of it. Stops
    when `needed` is reached.
    """
    starts = np.empty(values.shape[0] + 1, dtype=np.intp)
    many = 0
    for at in range(values.shape[0]):
        if at == 0 or block[keep[at]] != block[keep[at - 1]]:
            starts[many] = at
            many += 1
    starts[many] = values.shape[0]
    taken = np.zeros(many, dtype=np.uint8)
    clique = np.empty(many, dtype=np.intp)
    saving = 0.0
    for seed in range(many):
        if taken[seed] == 1:
            continue
        size, heaviest = 1, weight[block[keep[starts[seed]]]]
        clique[0] = seed
        for other in range(seed + 1, many):
            if taken[other] == 1:
                continue
            if _joins(values, starts, clique[:size], other):
                own = weight[block[keep[starts[other]]]]
                clique[size] = other
                size += 1
                taken[other] = 1
                saving += min(own, heaviest)
                heaviest = max(heaviest, own)
                if saving >= needed:
                    return saving
    return saving


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
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


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
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


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _centre(vertices: FloatArray, point: FloatArray) -> None:
    """The centre of the simplex into `point`."""
    for k in range(vertices.shape[0]):
        point[k] = vertices[k].mean()


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
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


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def explore(
    rows: FloatArray,
    block: IndexArray,
    weight: FloatArray,
    target: float,
    budget: int,
    crowd: int,
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
        Look for conflicts only where at most this many rows are undecided.
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
            if kept <= crowd:
                needed = linked + undecided - target - _SLACK / 2
                saving = _clique_saving(values[:kept], keep[:kept], block, weight, needed)
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
