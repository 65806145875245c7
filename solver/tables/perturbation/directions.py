"""Which way each sensitive cell goes where squares of changes are summed: a branch and bound.

The relaxation takes the convex envelope of the square of each undecided cell, which has to be far up or far
down: a chord from the nearest value down to the nearest value up, and the square beyond. Each node is a
separable quadratic program, and its bound that of its multipliers (`TabularAdjustment.least`), whatever the
optimiser's precision.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.tables.tabular_adjustment import TabularAdjustment
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.perturbation.separable_quadratic import least_squares

UP, DOWN, OPEN = 1, -1, 0
_SAFE = 1e-9


@dataclass(order=True)
class _Node:
    """Some ways are decided; no adjustment that goes them costs less than the bound."""

    bound: float
    number: int
    ways: LongArray = field(compare=False)


class Directions:
    """A branch and bound on the ways of sensitive cells.

    Parameters
    ----------
    problem : TabularAdjustment
        Quadratic, and not whole.
    possible : callable
        Whether there are changes that go these ways, shape (k,): 1 up, -1 down, 0 either.
    clock : Clock
    """

    def __init__(
        self, problem: TabularAdjustment, possible: Callable[[LongArray], bool], clock: Clock
    ) -> None:
        self._problem, self._possible, self._clock = problem, possible, clock
        self._number = count()
        self._open = [_Node(0.0, next(self._number), np.zeros(problem.choices.size, dtype=np.int64))]
        self._closed = np.inf

    @property
    def bound(self) -> float:
        """No adjustment costs less; inf where there is none."""
        return min(self._closed, min((node.bound for node in self._open), default=np.inf))

    def run(
        self,
        propose: Callable[[BoolArray], float],
        enough: Callable[[float], float],
        tell: Callable[[float], bool],
    ) -> None:
        """Search.

        Parameters
        ----------
        propose : callable
            Takes ways that are worth a look, which of `choices` go up; returns the least cost so far.
        enough : callable
            The bound that is enough, for a cost.
        tell : callable
            Called with the bound at every node; answering True ends the search.
        """
        cost = np.inf
        while self._open and self._open[0].bound < enough(cost) and not tell(self.bound):
            node = heapq.heappop(self._open)
            if not self._possible(node.ways):
                continue
            change, bound = self._relaxed(node.ways)
            if self._clock.expired:  # the relaxation may not be finished
                heapq.heappush(self._open, node)
                return
            node.bound = max(node.bound, bound)
            cost = propose(self._rounded(node.ways, change))
            if node.bound >= enough(cost) or (node.ways != OPEN).all():
                self._closed = min(self._closed, node.bound)
            else:
                self._branch(node, change)

    def _branch(self, node: _Node, change: FloatArray) -> None:
        """Decide the cell whose square its envelope is furthest below."""
        at = self._problem.choices
        up, down = self._problem.least_up[at], self._problem.least_down[at]
        short = (
            self._problem.weight[at] * np.maximum(up - change[at], 0.0) * np.maximum(change[at] + down, 0.0)
        )
        left = np.flatnonzero(node.ways == OPEN)
        for way in (UP, DOWN):
            ways = node.ways.copy()
            ways[left[np.argmax(short[left])]] = way
            heapq.heappush(self._open, _Node(node.bound, next(self._number), ways))

    def _rounded(self, ways: LongArray, change: FloatArray) -> BoolArray:
        """Each undecided cell the way it is nearer to."""
        at = self._problem.choices
        middle = (self._problem.least_up[at] - self._problem.least_down[at]) / 2.0
        return np.asarray(np.where(ways == OPEN, change[at] > middle, ways == UP))

    def _relaxed(self, ways: LongArray) -> tuple[FloatArray, float]:
        """The optimum of the relaxation, and the bound of its multipliers."""
        problem, choices = self._problem, self._problem.choices
        lower, upper = problem.bounds(ways == UP)
        weight, slope = problem.weight.copy(), np.zeros(len(problem))
        at = choices[ways == OPEN]
        up, down, heavy = problem.least_up[at], problem.least_down[at], problem.weight[at]
        lower[at], upper[at], weight[at], slope[at] = -down, up, 0.0, heavy * (up - down)
        beyond_up, beyond_down = problem.above[at] - up, problem.below[at] - down
        none, part = np.zeros(at.size), sparse.csc_array(problem.table.relations)[:, at]
        change, multipliers = least_squares(
            np.concatenate([weight, heavy, heavy]),
            np.concatenate([slope, 2.0 * heavy * up, 2.0 * heavy * down]),
            sparse.csr_array(sparse.hstack([problem.table.relations, part, -part], format="csr")),
            (np.concatenate([lower, none, none]), np.concatenate([upper, beyond_up, beyond_down])),
            self._clock,
        )
        bound = problem.least(multipliers, (ways != DOWN, ways != UP))
        return change[: len(problem)], bound - _SAFE * abs(bound)
