"""Many attacks on one pattern, each from where the one before ended."""

from __future__ import annotations

import numpy as np

from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.tables.cell_table import BoolArray, FloatArray, IntArray
from linkrisk.formulations.tables.primal_simplex import OPTIMAL, furthest

SMALLER = 1.0 - 1e-12


@kernel
def _bounded(
    below: FloatArray,
    above: FloatArray,
    share: FloatArray,
    free: BoolArray,
    within: float,
    lower: FloatArray,
    upper: FloatArray,
    point: FloatArray,
) -> None:
    """Bounds where free cells move within so much when suppressed wholly; the point is made to keep them."""
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
def _residual(
    starts: IntArray, rows: IntArray, values: FloatArray, point: FloatArray, relations: int
) -> float:
    """By how much a point is off the relations, of its largest deviation."""
    sums, size = np.zeros(relations), 1.0
    for cell in range(point.size):
        size = max(size, abs(point[cell]))
        for at in range(starts[cell], starts[cell + 1]):
            sums[rows[at]] += values[at] * point[cell]
    most = 0.0
    for row in range(relations):
        most = max(most, abs(sums[row]))
    return most / size


@kernel
def in_turn(
    starts: IntArray,
    rows: IntArray,
    values: FloatArray,
    below: FloatArray,
    above: FloatArray,
    share: FloatArray,
    free: BoolArray,
    inverse: FloatArray,
    basis: IntArray,
    point: FloatArray,
    up: FloatArray,
    down: FloatArray,
    asked: tuple[IntArray, FloatArray, FloatArray, FloatArray],
    stop: float,
    residual: float,
    points: FloatArray,
    multipliers: FloatArray,
    needless: BoolArray,
) -> int:
    """Move cells as far as they go, or as is enough, one after the other.

    Parameters
    ----------
    starts, rows, values, inverse, basis, point
        As for `furthest`.
    below, above : ndarray of float64, shape (n,)
        How far cells go when they are suppressed wholly.
    share : ndarray of float64, shape (n,)
        How much of each is suppressed.
    free : ndarray of bool, shape (n,)
    up, down : ndarray of float64, shape (n,)
        How far cells were moved by attacks in which all cells may move as far as they go.
    asked : tuple of ndarray, shape (a,) each
        The cell of each attack, which way it goes, what is enough, and how far free cells may move at most.
    stop : float
        The attacks end with the first that falls short of this share of what is enough, if anything is.
    residual : float
        What relations may be off by, of the largest deviation.
    points : ndarray of float64, shape (a, n)
        Deviations, for each attack.
    multipliers : ndarray of float64, shape (a, m)
        Of the relations.
    needless : ndarray of bool, shape (a,)
        Becomes whether an attack before moved the cell far enough already; only where all move freely.

    Returns
    -------
    int
        How many attacks were made: fewer than there are where one ended them, or failed.
    """
    lower, upper, last = np.empty(point.size), np.empty(point.size), -1.0
    goals, signs, enough, within = asked
    steps = 20 * (basis.size + point.size)
    for number in range(goals.size):
        goal, sign = goals[number], signs[number]
        needless[number] = 0.0 < enough[number] <= (up[goal] if sign > 0 else down[goal])
        if needless[number]:
            continue
        if within[number] != last:
            last = within[number]
            _bounded(below, above, share, free, last, lower, upper, point)
        ended = furthest(
            starts, rows, values, lower, upper, inverse, basis, point, goal, sign, enough[number], steps
        )
        if ended != OPTIMAL or _residual(starts, rows, values, point, basis.size) > residual:
            return number
        points[number] = point
        multipliers[number] = 0.0
        for row in range(basis.size):
            if basis[row] == goal:
                multipliers[number] = sign * inverse[row]
        if last == np.inf:
            for cell in range(point.size):
                up[cell], down[cell] = max(up[cell], point[cell]), max(down[cell], -point[cell])
        if enough[number] < np.inf and sign * point[goal] < stop * enough[number]:
            return number + 1
    return goals.size
