"""Solves many attacks on one pattern, each with a warm start from the one before."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.kernel_parts import put
from linkrisk.formulations.tables.primal_simplex import OPTIMAL, Bounds, Relations, State, furthest

SMALLER = 1.0 - 1e-12


class Reach(NamedTuple):
    """Ranges of cells.

    Attributes
    ----------
    below, above : ndarray of float64, shape (n,)
        When they are fully suppressed.
    share : ndarray of float64, shape (n,)
        How much of each is suppressed.
    free : ndarray of bool, shape (n,)
    """

    below: FloatArray
    above: FloatArray
    share: FloatArray
    free: BoolArray


class Attacked(NamedTuple):
    """Results of attacks.

    Attributes
    ----------
    points : ndarray of float64, shape (a, n)
        Deviations, for each attack.
    multipliers : ndarray of float64, shape (a, m)
        Of the relations.
    needless : ndarray of bool, shape (a,)
        Whether an attack before moved the cell far enough already; only where all move freely.
    """

    points: FloatArray
    multipliers: FloatArray
    needless: BoolArray


@kernel
def _bounded(reach: Reach, within: float, bounds: Bounds, point: FloatArray) -> None:
    """Bound free cells by a limit when they are fully suppressed; the point is scaled to keep the bounds."""
    below, above, share, free = reach
    lower, upper = bounds
    part = 1.0
    for cell in range(point.size):
        most = within if free[cell] else np.inf
        lower[cell] = -min(below[cell], most) * share[cell]
        upper[cell] = min(above[cell], most) * share[cell]
        if point[cell] > upper[cell]:
            part = min(part, SMALLER * upper[cell] / point[cell])
        elif point[cell] < lower[cell]:
            part = min(part, SMALLER * lower[cell] / point[cell])
    if part < 1.0:
        for cell in range(point.size):
            point[cell] *= part


@kernel
def _residual(relations: Relations, point: FloatArray, many: int) -> float:
    """Return the largest residual of the relations, relative to the largest deviation."""
    starts, rows, values = relations
    sums, size = np.zeros(many), 1.0
    for cell in range(point.size):
        size = max(size, abs(point[cell]))
        for at in range(starts[cell], starts[cell + 1]):
            sums[rows[at]] += values[at] * point[cell]
    most = 0.0
    for row in range(many):
        most = max(most, abs(sums[row]))
    return most / size


@kernel
def in_turn(
    relations: Relations,
    reach: Reach,
    state: State,
    moved: tuple[FloatArray, FloatArray],
    asked: tuple[LongArray, FloatArray, FloatArray, FloatArray],
    stop: float,
    residual: float,
    found: Attacked,
) -> int:
    """Move cells one after the other, as far as possible or required.

    Parameters
    ----------
    relations, state
        As for `furthest`.
    reach : Reach
    moved : two ndarrays of float64, shape (n,)
        How far cells were moved up, and down, by attacks in which all cells may move as far as they go.
    asked : tuple of ndarray, shape (a,) each
        Cell, direction, required movement, and limit on free cells, for each attack.
    stop : float
        Attacks end with the first below this share of its required movement.
    residual : float
        Largest residual of relations, relative to the largest deviation.
    found : Attacked
        Out.

    Returns
    -------
    int
        How many attacks were made: fewer than there are where one ended them, or failed.
    """
    _, basis, point = state
    inverse, (up, down) = state.inverse, moved
    points, multipliers, needless = found
    bounds, last = Bounds(np.empty(point.size), np.empty(point.size)), -1.0
    goals, signs, enough, within = asked
    steps = 20 * (basis.size + point.size)
    for number in range(goals.size):
        goal, sign = goals[number], signs[number]
        needless[number] = 0.0 < enough[number] <= (up[goal] if sign > 0 else down[goal])
        if needless[number]:
            continue
        if within[number] != last:
            last = within[number]
            _bounded(reach, last, bounds, point)
        ended = furthest(relations, bounds, state, goal, sign, enough[number], steps)
        if ended != OPTIMAL or _residual(relations, point, basis.size) > residual:
            return number
        put(point, points[number])
        multipliers[number] = 0.0
        for row in range(basis.size):
            if basis[row] == goal:
                put(sign * inverse[row], multipliers[number])
        if last == np.inf:
            for cell in range(point.size):
                up[cell], down[cell] = max(up[cell], point[cell]), max(down[cell], -point[cell])
        if enough[number] < np.inf and sign * point[goal] < stop * enough[number]:
            return number + 1
    return goals.size
