"""Branch and bound on simplices of the parameter space: for domains that are a simplex of few dimensions.

Best first over simplices whose subtrees compiled code explores depth first for a while; what it leaves is
put back with its bound. So the largest bound that waits is an upper bound at every moment.
"""

from __future__ import annotations

import heapq
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.solver.engines.base import rounded_bound
from linkrisk.solver.engines.exact.simplex_tree.kernels import (
    ROOM,
    STACK,
    Rows,
    Simplices,
    explore,
    undecided,
)
from linkrisk.solver.engines.steering import STEERING, TreeSteering
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.run.incumbent import Incumbent
from linkrisk.solver.run.work import ENTRY

_LOOKS, _UNDECIDED = 4.0, 0.1
"""Looks at all rows before a subtree, and the share of them that its simplices leave undecided, roughly."""


class _Part(NamedTuple):
    """Rows that are undecided in a simplex, and the weight of the blocks that are linked on all of it."""

    rows: NDArray[np.int32] | None
    sure: float


class _Answer(NamedTuple):
    """What one exploration found; weights include the blocks that are always linked."""

    part: _Part
    nodes: int
    stuck: float
    best: float
    point: FloatArray
    vertices: list[FloatArray]
    bounds: list[float]
    inexact: list[float]


_Entry = tuple[float, int, FloatArray, float, _Part]
"""Negative bound, number, vertices, halvings at a middle that is not a double, and the rows of a simplex."""


_FAR_APART = 2.0**10
"""Sizes of columns relative to each other from which they are put into like units."""


class SimplexTree:
    """The search of one block system.

    `system`: of an aggregator whose domain is the simplex. `incumbent`: takes every improvement of attack and
    bound. `evaluator`: counts the attacks. `nodes`: simplices looked at.
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
        """Search until all is proven or the clock shows `until` seconds."""
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
        """How many of the simplices that wait to explore now: as many as there are threads and memory for.

        None where memory does not suffice for one: the search is over then.
        """
        if not self._waiting:
            return 0
        clock, part = self._incumbent.clock, self._waiting[0][-1]
        rows = len(self._rows) if part.rows is None else part.rows.size
        # Lists of rows, the rows themselves once more, and their values at the vertices twice.
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
            self._steering.crowd,
            effort,
            Simplices(vertices, bounds, inexact),
            point,
        )
        rest = [simplex.copy() for simplex in vertices[:left]]
        totals = (bounds[:left] + part.sure).tolist()
        halved = inexact[:left].tolist()
        return _Answer(part, nodes, stuck + part.sure, best + part.sure, point, rest, totals, halved)

    def _effort(self) -> int:
        """Pairs of rows to look at in one simplex: few enough to end before the time does."""
        left = self._incumbent.clock.remaining
        return (
            self._steering.most_pairs
            if left is None
            else int(min(self._steering.most_pairs, 1 + self._steering.pairs_at_once * left / 4))
        )

    def _narrowed(self, part: _Part, simplex: FloatArray, inexact: float) -> _Part:
        """Leave out the rows that are decided on the simplex, where there are many."""
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
                # The evaluator did not confirm the centre: simplices closed on its account count again.
                self._stuck = max(self._stuck, answer.best)
        left = zip(answer.bounds, answer.vertices, answer.inexact, strict=True)
        for bound, simplex, inexact in left:
            heapq.heappush(self._waiting, (-bound, self._count, simplex, inexact, answer.part))
            self._count += 1

    def _tighten(self) -> None:
        """Take the largest bound that waits, or that could not be split any more, as the upper bound."""
        waiting = -self._waiting[0][0] if self._waiting else -np.inf
        bound = max(waiting, self._stuck, self._incumbent.value)
        self._incumbent.work = f"{self.nodes} nodes"
        self._incumbent.tighten(rounded_bound(bound, self._system.pair.weight))
        self._incumbent.tell()


def _in_like_units(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rows whose columns are of like sizes, where they are far from it, and the unit of each parameter.

    Whether a row is positive is a matter of the direction of the parameters alone, and non-negative ones stay
    so in any unit: so simplices are halved where the rows differ. Units and lengths are powers of two, so
    nothing is rounded.

    `rows` (rows, dimension): of unit length. Returns (rows, dimension): in these units, of a length between
    one and two; as they were, where all units are one. Returns (dimension,): what one of each parameter of
    the tree is in parameters of the aggregator.
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
