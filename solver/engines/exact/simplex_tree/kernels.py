"""Compiled code of the branch and bound on simplices: classify rows, explore.

A node is a simplex in parameter space, given by its vertices. A row that is positive at every vertex is
positive on the whole simplex, and one that is positive at no vertex is nowhere positive: the values of the
rows at the vertices are all that is needed.

What rounding may hide of these values: a sum of products of entries, none above one, and coordinates, which
sum to one (`rounding.rounding_error`); and where the middle of an edge is not a double, the parameters of
both halves are those of the simplex moved by at most a unit in each coordinate. Each such halving on the way
to a simplex counts; most middles are doubles, as all coordinates are sums of few powers of two.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.compiled import kernel
from linkrisk.solver.engines.exact.rounding import UNIT, rounding_error
from linkrisk.solver.engines.exact.simplex_tree.conflicts import clique_saving, matching_saving

STACK = 400
"""Simplices that may wait at once in one call of `explore`."""

ROOM = 8
"""Times that the rows of a simplex fit into what a search of it has for lists of rows."""

_SLACK = 1e-9
_SMALLEST_EDGE = 1e-13


@kernel
def hidden(dimension: int, inexact: float) -> float:
    """What rounding may hide of a row's value at a vertex, after so many halvings at rounded middles."""
    return rounding_error(1 + dimension, 1.0) + 1.01 * inexact * UNIT


@kernel
def _row_values(row: FloatArray, vertices: FloatArray, error: float, out: FloatArray) -> tuple[float, float]:
    """Upper bounds of a row's values at the vertices, into `out`; a lower bound of all, and an upper one."""
    low, high = np.inf, -np.inf
    for corner in range(vertices.shape[1]):
        value = 0.0
        for k in range(row.size):
            value += row[k] * vertices[k, corner]
        out[corner] = value + error
        low, high = min(low, value - error), max(high, value + error)
    return low, high


@kernel
def _classify(
    rows: FloatArray,
    block: IndexArray,
    weight: FloatArray,
    listed: IndexArray,
    vertices: FloatArray,
    error: float,
    keep: IndexArray,
    values: FloatArray,
) -> tuple[int, float, float]:
    """Sort the blocks of a simplex into linked everywhere, linked nowhere and undecided.

    `keep` and `values` take the rows of undecided blocks that are not positive everywhere, of those
    `listed`, and upper bounds of their values at the vertices, of which rounding hides `error`. Returns
    their number, the weight of the undecided blocks and that of the blocks linked everywhere.
    """
    kept, undecided, linked = 0, 0.0, 0.0
    at, count = 0, listed.size
    while at < count:
        owner, first, lost = block[listed[at]], kept, False
        while at < count and block[listed[at]] == owner:
            if not lost:
                low, high = _row_values(rows[listed[at]], vertices, error, values[kept])
                lost = high <= 0.0
                if low <= 0.0:
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
    rows: FloatArray,
    block: IndexArray,
    weight: FloatArray,
    listed: NDArray[np.int32],
    vertices: FloatArray,
    inexact: float,
) -> tuple[NDArray[np.int32], float]:
    """The rows among `listed` that a simplex leaves undecided, and the weight of the blocks it links.

    Left out are rows that are positive everywhere on it and those of blocks that it links nowhere; the
    parameters are as in `explore`.
    """
    keep = np.empty(listed.size, dtype=np.intp)
    values = np.empty((listed.size + 1, vertices.shape[1]))
    error = hidden(vertices.shape[0], inexact)
    kept, _, linked = _classify(rows, block, weight, listed.astype(np.intp), vertices, error, keep, values)
    return keep[:kept].astype(np.int32), linked


@kernel
def _weight_at_centre(
    values: FloatArray, error: float, keep: IndexArray, block: IndexArray, weight: FloatArray
) -> Any:
    """Weight of the undecided blocks that are linked at the simplex's centre."""
    total, at, count = 0.0, 0, values.shape[0]
    while at < count:
        owner, linked = block[keep[at]], True
        while at < count and block[keep[at]] == owner:
            if linked and values[at].sum() <= 2.0 * error * values.shape[1]:
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

    Returns the square of that edge's length, and 0 or 1: whether the middle is rounded.
    """
    one, two, longest = _longest_edge(vertices)
    first[:] = vertices
    second[:] = vertices
    rounded = 0
    for k in range(vertices.shape[0]):
        a, b = vertices[k, one], vertices[k, two]
        both = a + b
        share = both - a
        if (a - (both - share)) + (b - share) != 0.0:  # what the sum has lost (Knuth 1969)
            rounded = 1
        first[k, one] = 0.5 * both
        second[k, two] = 0.5 * both
    return longest, rounded


class Rows(NamedTuple):
    """Rows of unit length, shape (rows, dimension), the block of each, ascending, and weights of blocks."""

    rows: FloatArray
    block: IndexArray
    weight: FloatArray


class Simplices(NamedTuple):
    """Simplices that are left: their bounds, and how many halvings on the way to each were inexact."""

    vertices: FloatArray  # (STACK, dimension, corners) one vertex a column
    # `bound`, `inexact`: (STACK,) a halving is inexact where the middle is not a double
    bound: FloatArray
    inexact: FloatArray


@kernel
def explore(
    given: Rows,
    target: float,
    budget: int,
    crowd: int,
    effort: int,
    simplices: Simplices,
    point: FloatArray,
) -> tuple[int, int, float, float]:
    """Search a simplex depth first for parameters that link more than `target`.

    `target`: weight that is reached already; simplices that cannot hold more are closed. `budget`: simplices
    to look at before what is left is handed back. `crowd`: look for conflicts among all blocks only where at
    most this many rows are undecided, and elsewhere for those of blocks that the centre misses. `effort`:
    pairs of rows that may be looked at for the latter in one simplex. `simplices`: in: the first of them.
    Out: those that are left. `point` (dimension,): the best centre found. Returns: simplices looked at, and
    left. Returns: largest bound of a simplex too small to halve; -inf if there was none. Returns: weight
    linked at `point`, where above `target`; else -inf.
    """
    rows, block, weight = given
    vertices, bound, inexact = simplices
    many = rows.shape[0]
    arena = np.empty(ROOM * many, dtype=np.intp)
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
        error = hidden(vertices.shape[1], inexact[at])
        kept, undecided, linked = _classify(rows, block, weight, listed, here, error, keep, values)
        linked += sure[at]
        most = min(bound[at], linked + undecided)
        if most > target + _SLACK:
            found = linked + _weight_at_centre(values[:kept], error, keep[:kept], block, weight)
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
        longest, rounded = _halve(here, vertices[at], vertices[at + 1])
        if longest < _SMALLEST_EDGE**2:
            stuck = max(stuck, most)
            waiting -= 1
            continue
        waiting += 1
        inexact[at] += rounded
        for child in (at, at + 1):
            first[child], size[child], sure[child], bound[child] = after, kept, linked, most
            inexact[child] = inexact[at]
    return nodes, waiting, stuck, best
