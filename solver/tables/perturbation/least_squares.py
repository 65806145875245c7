"""Least squares of adjustment: a separable quadratic program, and the branch and bound on ways of cells.

The quadratic program is solved by an interior point method:

    minimise    sum of weight_i d_i^2 + slope_i d_i
    subject to  M d = 0,   lower <= d <= upper

Its matrix of normal equations is ``M D M'`` with a diagonal D, as sparse as the relations (Castro 2006,
section 4). Predictor and corrector as in Mehrotra (1992), On the implementation of a primal-dual interior
point method, SIAM Journal on Optimization 2, 575-601.

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
from scipy.sparse.linalg import SuperLU, splu

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.tables.tabular_adjustment import TabularAdjustment
from linkrisk.solver.run.clock import Clock

_STEPS = 100
_CLOSE = 1e-9
_NONE = 1e-13
"""Where products of distances and multipliers are so small, floating point gives no more."""

_REGULAR = 1e-11
"""Added to the normal equations, relative to their largest: relations may depend on each other."""


@dataclass(eq=False)
class _Point:
    """Changes, their distances to the bounds, and multipliers."""

    d: FloatArray
    low: FloatArray
    high: FloatArray
    by_low: FloatArray
    by_high: FloatArray
    u: FloatArray

    def apart(self) -> float:
        """The mean product of distances and multipliers."""
        return float((self.low @ self.by_low + self.high @ self.by_high) / (2 * self.d.size))


def least_squares(
    weight: FloatArray,
    slope: FloatArray,
    relations: sparse.csr_array,
    bounds: tuple[FloatArray, FloatArray],
    clock: Clock,
) -> tuple[FloatArray, FloatArray]:
    """The changes of least cost, and the multipliers of the relations.

    Parameters
    ----------
    weight, slope : ndarray of float64, shape (n,)
        Of squares, not negative and not all 0, and of the changes themselves.
    relations : scipy.sparse.csr_array, shape (m, n)
    bounds : tuple of two ndarray of float64, shape (n,)
        Lower and upper ones; there must be changes within them that keep the relations.
    clock : Clock

    Returns
    -------
    changes : ndarray of float64, shape (n,)
        What was reached where time or precision ended the search: to be looked at.
    multipliers : ndarray of float64, shape (m,)
    """
    lower, upper = bounds
    free = np.flatnonzero(upper > lower)
    found = np.where(upper > lower, 0.0, lower)
    if not free.size:
        return found, np.zeros(relations.shape[0])
    nearest = np.clip(0.0, lower, upper)  # what is far from 0 says how large changes are
    unit = float(np.abs(nearest).max()) or 1.0
    heavy = float(np.median(weight[free][weight[free] > 0])) if (weight[free] > 0).any() else 1.0
    problem = _Problem(
        weight[free] / heavy,
        slope[free] / (heavy * unit),
        sparse.csr_array(sparse.csc_array(relations)[:, free]),
        -np.asarray(relations @ found) / unit,
        (lower[free] / unit, upper[free] / unit),
    )
    point = problem.solve(clock)
    found[free] = np.clip(unit * point.d, lower[free], upper[free])
    return found, unit * heavy * point.u


@dataclass(eq=False)
class _Problem:
    """In units in which the changes are near 1."""

    weight: FloatArray
    slope: FloatArray
    relations: sparse.csr_array
    wanted: FloatArray
    bounds: tuple[FloatArray, FloatArray]

    def solve(self, clock: Clock) -> _Point:
        """Step until distances times multipliers are nearly 0 and the relations hold."""
        point = best = self._start()
        for _ in range(_STEPS):
            if clock.expired or self._done(point):
                return point
            stepped = self._step(point)
            if stepped is None:
                return best
            point = best = stepped
        return best

    def _start(self) -> _Point:
        lower, upper = self.bounds
        inside = np.minimum(1.0, 0.3 * (upper - lower))
        d, one = np.clip(0.0, lower + inside, upper - inside), np.ones(lower.size)
        return _Point(d, d - lower, upper - d, one.copy(), one.copy(), np.zeros(self.wanted.size))

    def _residuals(self, at: _Point) -> tuple[FloatArray, FloatArray]:
        slope = 2.0 * self.weight * at.d + self.slope - self.relations.T @ at.u - at.by_low + at.by_high
        return slope, np.asarray(self.relations @ at.d - self.wanted)

    def _done(self, at: _Point) -> bool:
        slope, sums = self._residuals(at)
        cost = abs(float(self.weight @ at.d**2 + self.slope @ at.d))
        apart = 2 * at.d.size * at.apart()
        steep = 1.0 + np.abs(2.0 * self.weight * at.d + self.slope).max()
        far = 1.0 + np.abs(at.d).max()
        small = np.abs(slope).max() <= 1e-9 * steep and np.abs(sums).max(initial=0.0) <= 1e-9 * far
        return bool((small and apart <= _CLOSE * max(1.0, cost)) or apart <= _NONE)

    def _step(self, at: _Point) -> _Point | None:
        """One predictor and corrector; None where the equations cannot be solved any more."""
        by = 2.0 * self.weight + at.by_low / at.low + at.by_high / at.high
        normal = sparse.csc_array(self.relations @ sparse.diags_array(1.0 / by) @ self.relations.T)
        size = normal.shape[0]
        normal = sparse.csc_array(normal + _REGULAR * max(normal.max(), 1e-30) * sparse.eye_array(size))
        try:
            factor = splu(
                normal, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
            )
        except RuntimeError:
            return None
        mean = at.apart()
        first = self._direction(at, by, factor, at.low * at.by_low, at.high * at.by_high)
        ahead = _moved(at, first, _length(at, first, 1.0))
        centre = mean * (ahead.apart() / mean) ** 3
        second = self._direction(
            at,
            by,
            factor,
            at.low * at.by_low + first.low * first.by_low - centre,
            at.high * at.by_high + first.high * first.by_high - centre,
        )
        if not np.isfinite(second.d).all():
            return None
        return _moved(at, second, _length(at, second, 0.9995))

    def _direction(
        self, at: _Point, by: FloatArray, factor: SuperLU, low: FloatArray, high: FloatArray
    ) -> _Point:
        """Newton's step towards products of distance and multiplier that are smaller by `low` and `high`."""
        slope, sums = self._residuals(at)
        right = -slope - low / at.low + high / at.high
        goal = -sums - self.relations @ (right / by)
        u = factor.solve(goal)
        for _ in range(2):  # what was added to the equations is taken out again
            rest = goal - self.relations @ ((self.relations.T @ u) / by)
            u = u + factor.solve(rest)
        d = (right + self.relations.T @ u) / by
        return _Point(d, d, -d, -(low + at.by_low * d) / at.low, -(high - at.by_high * d) / at.high, u)


def _length(at: _Point, step: _Point, share: float) -> float:
    """How far to go so that distances and multipliers stay above 0; one length for both, as slopes change."""
    names = ("low", "high", "by_low", "by_high")
    return min(1.0, share * min(_room(getattr(at, name), getattr(step, name)) for name in names))


def _room(value: FloatArray, step: FloatArray) -> float:
    falling = step < 0
    return float((value[falling] / -step[falling]).min(initial=np.inf))


def _moved(at: _Point, step: _Point, length: float) -> _Point:
    names = ("d", "low", "high", "by_low", "by_high", "u")
    return _Point(*(getattr(at, name) + length * getattr(step, name) for name in names))


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
