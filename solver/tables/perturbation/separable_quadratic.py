"""A separable quadratic program over relations and bounds: an interior point method.

    minimise    sum of weight_i d_i^2 + slope_i d_i
    subject to  M d = 0,   lower <= d <= upper

Its matrix of normal equations is ``M D M'`` with a diagonal D, as sparse as the relations (Castro 2006,
section 4). Predictor and corrector as in Mehrotra (1992), On the implementation of a primal-dual interior
point method, SIAM Journal on Optimization 2, 575-601.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import SuperLU, splu

from linkrisk.arrays import FloatArray
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
