"""Branch and bound on simplices of the parameter space: for domains that are a simplex of few dimensions.

Best first over simplices whose subtrees compiled code explores depth first for a while; what it leaves is
put back with its bound. So the largest bound that waits is an upper bound at every moment.
"""

from __future__ import annotations

import heapq
import os
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from formulations.block_system import BlockSystem
from solver.engines.base import Record, rounded_bound
from solver.engines.exact.tree_kernels import STACK, explore
from solver.linkage.evaluator import Evaluator

FloatArray = NDArray[np.float64]

_BUDGET = 2_000
_CROWD = 200


class _Answer(NamedTuple):
    """What one exploration found."""

    nodes: int
    stuck: float
    best: float
    point: FloatArray
    vertices: list[FloatArray]
    bounds: list[float]


class SimplexTree:
    """The search of one block system.

    Parameters
    ----------
    system : BlockSystem
        Of an aggregator whose domain is the simplex.
    record : Record
        Takes every improvement of attack and bound.
    evaluator : Evaluator
        Counts the attacks.

    Attributes
    ----------
    nodes : int
        Simplices looked at.
    """

    def __init__(self, system: BlockSystem, record: Record, evaluator: Evaluator) -> None:
        self._system, self._record, self._evaluator = system, record, evaluator
        values = system.values
        self._rows = values if isinstance(values, np.ndarray) else values.toarray()
        self._weight = system.open_weight
        self._sure = system.sure_weight
        self._threads = os.cpu_count() or 1
        self._stuck = -np.inf
        self.nodes = 0
        corners = np.eye(system.aggregator.dimension)
        self._waiting: list[tuple[float, int, FloatArray]] = [(-float(self._weight.sum()), 0, corners)]
        self._count = 1

    def run(self, until: float) -> None:
        """Search until all is proven or the clock shows `until` seconds."""
        record = self._record
        record.phase = "branch and bound"
        with ThreadPoolExecutor(self._threads) as pool:
            while not record.proven and not record.clock.expired and record.clock.seconds < until:
                taken = [heapq.heappop(self._waiting) for _ in range(min(self._threads, len(self._waiting)))]
                for answer in pool.map(self._explore, taken):
                    self._put_back(answer)
                self._tighten()
                if not self._waiting:
                    break

    def _explore(self, entry: tuple[float, int, FloatArray]) -> _Answer:
        dimension = self._rows.shape[1]
        vertices = np.empty((STACK, dimension, dimension))
        bounds = np.empty(STACK)
        vertices[0], bounds[0] = entry[2], -entry[0]
        point = np.empty(dimension)
        target = self._record.linked - self._sure
        nodes, left, stuck, best = explore(
            self._rows, self._system.row_open, self._weight, target, _BUDGET, _CROWD, vertices, bounds, point
        )
        rest = [simplex.copy() for simplex in vertices[:left]]
        return _Answer(nodes, stuck, best, point, rest, bounds[:left].tolist())

    def _put_back(self, answer: _Answer) -> None:
        self.nodes += answer.nodes
        self._stuck = max(self._stuck, answer.stuck)
        if answer.best > -np.inf:
            aggregator = self._system.aggregator
            theta = aggregator.repair(answer.point)
            linked = self._evaluator.weight(aggregator.form(theta))
            self._record.improve(theta, linked)
            if linked < answer.best + self._sure - 1e-9:
                # The evaluator did not confirm the centre: simplices closed on its account count again.
                self._stuck = max(self._stuck, answer.best)
        for bound, simplex in zip(answer.bounds, answer.vertices, strict=True):
            heapq.heappush(self._waiting, (-bound, self._count, simplex))
            self._count += 1

    def _tighten(self) -> None:
        """Take the largest bound that waits, or that could not be split any more, as the upper bound."""
        waiting = -self._waiting[0][0] if self._waiting else -np.inf
        bound = max(waiting, self._stuck) + self._sure
        bound = max(bound, self._record.linked)
        self._record.tighten(rounded_bound(bound, self._system.pair.weight))
        self._record.tell()
