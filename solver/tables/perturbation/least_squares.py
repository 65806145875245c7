"""Least squares of adjustment: a separable quadratic program, and the branch and bound on ways of cells.

    minimise    sum of weight_i d_i^2 + slope_i d_i
    subject to  M d = 0,   lower <= d <= upper

is solved by Clarabel, an interior point method for sparse quadratic programs (Goulart and Chen 2024).

The branch and bound relaxes the square of each undecided cell, which has to be far up or far down, to its
convex envelope: a chord from the nearest value down to the nearest value up, and the square beyond. The bound
of a node is that of its multipliers (`TabularAdjustment.least`), whatever the precision of the optimiser.
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
from linkrisk.solver.tables import tolerances

UP, DOWN, OPEN = 1, -1, 0


def least_squares(
    weight: FloatArray,
    slope: FloatArray,
    relations: sparse.csr_array,
    bounds: tuple[FloatArray, FloatArray],
    clock: Clock,
) -> tuple[FloatArray, FloatArray]:
    """Return the changes of least cost, and the multipliers of the relations; imprecise when time is over.

    Weights of squares are not negative and not all 0; there must be changes within the bounds that keep the
    relations. The program is scaled such that changes and weights are near 1.
    """
    import clarabel

    lower, upper = bounds
    free = np.flatnonzero(upper > lower)
    found = np.where(upper > lower, 0.0, lower)
    if not free.size:
        return found, np.zeros(relations.shape[0])
    unit = float(np.abs(np.clip(0.0, lower, upper)).max()) or 1.0
    heavy = float(np.median(weight[free][weight[free] > 0])) if (weight[free] > 0).any() else 1.0
    low, high = lower[free] / unit, upper[free] / unit
    below, above = np.isfinite(low), np.isfinite(high)
    one = sparse.eye_array(free.size, format="csr")
    part = sparse.csc_array(relations)[:, free]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerances.QUADRATIC_GAP
    program = clarabel.DefaultSolver(
        sparse.csc_matrix(sparse.diags_array(2.0 * weight[free] / heavy)),
        slope[free] / (heavy * unit),
        sparse.csc_matrix(sparse.vstack([part, -one[below], one[above]])),
        np.concatenate([-np.asarray(relations @ found) / unit, -low[below], high[above]]),
        [
            clarabel.ZeroConeT(part.shape[0]),
            clarabel.NonnegativeConeT(int(below.sum() + above.sum())),
        ],
        settings,
    )
    program.set_termination_callback(lambda _: clock.expired)
    answer = program.solve()
    found[free] = np.clip(unit * np.array(answer.x), lower[free], upper[free])
    return found, -unit * heavy * np.array(answer.z)[: part.shape[0]]


@dataclass(order=True)
class _Node:
    """Node of the search: some directions are fixed; no adjustment with them costs less than the bound."""

    bound: float
    number: int
    ways: LongArray = field(compare=False)


class Directions:
    """Branch and bound on the directions (k,) of sensitive cells: 1 up, -1 down, 0 undecided."""

    def __init__(
        self, problem: TabularAdjustment, possible: Callable[[LongArray], bool], clock: Clock
    ) -> None:
        self._problem, self._possible, self._clock = problem, possible, clock
        self._number = count()
        self._open = [_Node(0.0, next(self._number), np.zeros(problem.choices.size, dtype=np.int64))]
        self._closed = np.inf

    @property
    def bound(self) -> float:
        """Dual bound; inf if there is no adjustment."""
        return min(self._closed, min((node.bound for node in self._open), default=np.inf))

    def run(
        self,
        propose: Callable[[BoolArray], float],
        enough: Callable[[float], float],
        tell: Callable[[float], bool],
    ) -> None:
        """Search until the bound is `enough` for the cost that `propose` returns, or `tell` returns true."""
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
        """Branch on the cell with the largest difference between square and envelope."""
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
        """Round undecided cells to the nearer direction."""
        at = self._problem.choices
        middle = (self._problem.least_up[at] - self._problem.least_down[at]) / 2.0
        return np.asarray(np.where(ways == OPEN, change[at] > middle, ways == UP))

    def _relaxed(self, ways: LongArray) -> tuple[FloatArray, float]:
        """Solve the relaxation; return its optimum and the bound of its multipliers."""
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
        return change[: len(problem)], bound - tolerances.COST * abs(bound)
