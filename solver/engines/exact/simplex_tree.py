"""Branch and bound on simplices of the parameters, where the domain is a simplex of few dimensions.

A node is a simplex in parameter space, given by its vertices. A row that is positive at every vertex is
positive on the simplex, and one that is positive at no vertex is nowhere positive: the values of the rows at
the vertices suffice.

Rounding errors of these values: a sum of products of entries, none above one, and coordinates, which sum to
one (`rounding.rounding_error`); and where the middle of an edge is not a double, the parameters of both
halves are those of the simplex moved by at most a unit in each coordinate. Each such bisection on the way to
a simplex counts; most middles are doubles, as all coordinates are sums of few powers of two.

Nodes are taken best first; compiled code explores each subtree depth first within a budget, and returns the
open simplices with their bounds. So the largest open bound is an upper bound at every moment.
"""

from __future__ import annotations

import heapq
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.kernel_parts import put, put_rows
from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.solver.engines.base import rounded_bound
from linkrisk.solver.engines.exact.rounding import UNIT, rounding_error
from linkrisk.solver.engines.exact.simplex_conflicts import clique_saving, matching_saving
from linkrisk.solver.engines.steering import STEERING, TreeSteering
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.run.incumbent import Incumbent
from linkrisk.solver.run.work import ENTRY

STACK = 400
"""Open simplices in one call of `explore`: more cost memory."""

ROOM = 8
"""Room for lists of rows, as a multiple of a simplex's rows."""

_SLACK = 1e-9
_SMALLEST_EDGE = 1e-13


@kernel
def hidden(dimension: int, inexact: float) -> float:
    """Bound the rounding error of a row's value at a vertex, after so many rounded bisections."""
    return rounding_error(1 + dimension, 1.0) + 1.01 * inexact * UNIT


@kernel
def _row_values(row: FloatArray, vertices: FloatArray, error: float, out: FloatArray) -> tuple[float, float]:
    """Write upper bounds of a row's values at the vertices to `out`; return bounds of them all."""
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
    """Classify the blocks of a simplex as linked everywhere, linked nowhere or undecided.

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
    """List the rows that a simplex leaves undecided, among `listed`, and the weight of the blocks it links.

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
    """Sum the weight of the undecided blocks that are linked at the simplex's centre."""
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
    """Find the longest edge, as two vertices (columns), and its squared length."""
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
    """Write the centre of the simplex to `point`."""
    for k in range(vertices.shape[0]):
        point[k] = vertices[k].mean()


@kernel
def _halve(vertices: FloatArray, first: FloatArray, second: FloatArray) -> Any:
    """Bisect the simplex at the middle of its longest edge; the halves go into the last two arguments.

    Returns the square of that edge's length, and 0 or 1: whether the middle is rounded.
    """
    one, two, longest = _longest_edge(vertices)
    put_rows(vertices, first)
    put_rows(vertices, second)
    rounded = 0
    for k in range(vertices.shape[0]):
        a, b = vertices[k, one], vertices[k, two]
        both = a + b
        share = both - a
        if (a - (both - share)) + (b - share) != 0.0:  # compensated summation (Knuth 1969)
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
    """Open simplices: their bounds, and how many bisections on the way to each were inexact."""

    vertices: FloatArray  # (STACK, dimension, corners) one vertex a column
    # `bound`, `inexact`: (STACK,) a bisection is inexact where the middle is not a double
    bound: FloatArray
    inexact: FloatArray


@kernel
def explore(
    given: Rows,
    target: float,
    budget: int,
    few_undecided: int,
    effort: int,
    simplices: Simplices,
    point: FloatArray,
) -> tuple[int, int, float, float]:
    """Search a simplex depth first for parameters that link more than `target`.

    `target`: weight of the incumbent; simplices that cannot exceed it are pruned. `budget`: simplices to
    explore before the open ones are returned. `few_undecided`: up to this many undecided rows, conflicts are
    searched among all blocks, and beyond, among those that the centre misses. `effort`: pairs of rows tested
    for the latter in one simplex. `simplices`: in: the first of them. Out: the open ones. `point`
    (dimension,): the best centre found. Returns: simplices explored, and open. Returns: largest bound of a
    simplex too small to bisect; -inf if there was none. Returns: weight linked at `point`, where above
    `target`; else -inf.
    """
    rows, block, weight = given
    vertices, bound, inexact = simplices
    many = rows.shape[0]
    arena = np.empty(ROOM * many, dtype=np.intp)
    put(np.arange(many), arena)
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
        put_rows(vertices[at], here)
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
            if kept <= few_undecided:
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


_LOOKS, _UNDECIDED = 4.0, 0.1
"""Passes over all rows before a subtree, and the average share of rows that its simplices leave undecided."""


class _Part(NamedTuple):
    """Rows that are undecided in a simplex, and the weight of the blocks that are linked everywhere on it."""

    rows: NDArray[np.int32] | None
    sure: float


class _Answer(NamedTuple):
    """The outcome of one exploration; weights include the blocks that are always linked."""

    part: _Part
    nodes: int
    stuck: float
    best: float
    point: FloatArray
    vertices: list[FloatArray]
    bounds: list[float]
    inexact: list[float]


_Entry = tuple[float, int, FloatArray, float, _Part]
"""Heap entry: negative bound, number, vertices, rounded bisections, and the rows of a simplex."""


_FAR_APART = 2.0**10
"""Ratio of column sizes above which columns are rescaled."""


class SimplexTree:
    """Branch and bound on simplices for one block system.

    `system`: of an aggregator whose domain is the simplex. `incumbent`: receives every improvement of attack
    and bound. `evaluator`: recounts the attacks. `nodes`: simplices explored.
    """

    def __init__(
        self,
        system: BlockSystem,
        incumbent: Incumbent[FloatArray],
        evaluator: Evaluator,
        steering: TreeSteering = STEERING.tree,
    ) -> None:
        self._steering = steering
        self._system, self._incumbent, self._evaluator = system, incumbent, evaluator
        values = system.values
        rows = values if isinstance(values, np.ndarray) else values.toarray()
        self._rows, self._unit = _in_like_units(rows)
        self._weight = system.open_weight
        self._threads = incumbent.clock.threads
        self._stuck = -np.inf
        self.nodes = 0
        sure = system.sure_weight
        corners = np.eye(system.aggregator.dimension)
        self._waiting: list[_Entry] = [
            (-float(self._weight.sum()) - sure, 0, corners, 0.0, _Part(None, sure))
        ]
        self._count = 1

    def run(self, until: float) -> None:
        """Search until optimality is proven or the clock reaches `until` seconds."""
        incumbent = self._incumbent
        incumbent.enter("branch and bound")
        with ThreadPoolExecutor(self._threads) as pool:
            while not incumbent.proven and not incumbent.clock.expired and incumbent.clock.now < until:
                taken = [heapq.heappop(self._waiting) for _ in range(self._at_once())]
                for answer in pool.map(self._explore, taken):
                    self._put_back(answer)
                self._tighten()
                if not self._waiting:
                    break

    def _at_once(self) -> int:
        """Choose how many open simplices to explore in parallel, by threads and memory.

        None where memory does not suffice for one, which ends the search.
        """
        if not self._waiting:
            return 0
        clock, part = self._incumbent.clock, self._waiting[0][-1]
        rows = len(self._rows) if part.rows is None else part.rows.size
        # Lists of rows, a copy of the rows, and two copies of their values at the vertices.
        needed = rows * (8e-6 * (ROOM + 3 * self._rows.shape[1] + 3))
        fitting = int(min(self._threads, clock.megabytes_left / max(needed, 1e-3)))
        if fitting == 0:
            clock.run_out_of_memory()
        return min(fitting, len(self._waiting))

    def _explore(self, entry: _Entry) -> _Answer:
        bound, _, simplex, rounded, part = entry
        part = self._narrowed(part, simplex, rounded)
        rows, block = self._rows, self._system.row_open
        if part.rows is not None:
            rows, block = rows[part.rows], block[part.rows]
        dimension = rows.shape[1]
        vertices = np.empty((STACK, dimension, dimension))
        bounds, inexact = np.empty(STACK), np.empty(STACK)
        vertices[0], bounds[0], inexact[0] = simplex, -bound - part.sure, rounded
        point = np.empty(dimension)
        target = self._incumbent.value - part.sure
        budget = max(1, min(self._steering.budget, self._steering.budget_rows // max(1, len(rows))))
        effort = self._effort()
        nodes, left, stuck, best = explore(
            Rows(rows, block, self._weight),
            target,
            budget,
            self._steering.few_undecided,
            effort,
            Simplices(vertices, bounds, inexact),
            point,
        )
        rest = [simplex.copy() for simplex in vertices[:left]]
        totals = (bounds[:left] + part.sure).tolist()
        halved = inexact[:left].tolist()
        return _Answer(part, nodes, stuck + part.sure, best + part.sure, point, rest, totals, halved)

    def _effort(self) -> int:
        """Limit the pairs of rows tested in one simplex, so that a step ends before the time does."""
        left = self._incumbent.clock.remaining
        return (
            self._steering.most_pairs
            if left is None
            else int(min(self._steering.most_pairs, 1 + self._steering.pairs_at_once * left / 4))
        )

    def _narrowed(self, part: _Part, simplex: FloatArray, inexact: float) -> _Part:
        """Drop the rows that are decided on the simplex, if there are many."""
        rows = np.arange(len(self._rows), dtype=np.int32) if part.rows is None else part.rows
        if rows.size <= self._steering.few_rows:
            return part
        keep, linked = undecided(self._rows, self._system.row_open, self._weight, rows, simplex, inexact)
        return _Part(keep, part.sure + linked) if keep.size < rows.size else part

    def _put_back(self, answer: _Answer) -> None:
        self.nodes += answer.nodes
        rows = len(self._rows) if answer.part.rows is None else answer.part.rows.size
        corners = self._rows.shape[1] ** 2
        self._incumbent.clock.spend(ENTRY * rows * corners * (_LOOKS + _UNDECIDED * answer.nodes))
        self._stuck = max(self._stuck, answer.stuck)
        if answer.best > -np.inf:
            aggregator = self._system.aggregator
            theta = aggregator.domain.repair(self._unit * answer.point / (self._unit @ answer.point))
            linked = self._evaluator.weight(aggregator.form(theta))
            self._incumbent.improve(theta, linked)
            if linked < answer.best - 1e-9:
                # The evaluator did not confirm the centre, so simplices pruned by its weight are open again.
                self._stuck = max(self._stuck, answer.best)
        left = zip(answer.bounds, answer.vertices, answer.inexact, strict=True)
        for bound, simplex, inexact in left:
            heapq.heappush(self._waiting, (-bound, self._count, simplex, inexact, answer.part))
            self._count += 1

    def _tighten(self) -> None:
        """Update the upper bound by the largest bound of open simplices and of those too small to bisect."""
        waiting = -self._waiting[0][0] if self._waiting else -np.inf
        bound = max(waiting, self._stuck, self._incumbent.value)
        self._incumbent.work = f"{self.nodes} nodes"
        self._incumbent.tighten(rounded_bound(bound, self._system.pair.weight))
        self._incumbent.tell()


def _in_like_units(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rescale the parameters so that columns of the rows have similar sizes, and return their units.

    The sign of a row depends on the direction of the parameters alone, and non-negative parameters stay so in
    any unit; rescaled, bisections separate the rows better. Units and lengths are powers of two, so nothing
    is rounded.

    `rows` (rows, dimension): of unit length. Returns (rows, dimension): rescaled, of a length between one and
    two; unchanged if all units are one. Returns (dimension,): the unit of each parameter of the tree, in
    parameters of the aggregator.
    """
    if len(rows) == 0:
        return rows, np.ones(rows.shape[1])
    size = np.median(np.abs(rows), axis=0)
    size[size == 0.0] = size.max(initial=0.0) or 1.0
    if size.max() < _FAR_APART * size.min():
        return rows, np.ones(rows.shape[1])
    unit = np.ldexp(1.0, -np.frexp(size)[1])
    scaled = rows * unit
    length = np.ldexp(1.0, np.frexp(np.linalg.norm(scaled, axis=1))[1] - 1)
    return scaled / length[:, None], unit / unit.max()
