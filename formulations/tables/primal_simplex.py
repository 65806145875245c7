"""Solves the attacker's program by the primal simplex method, with a warm start from the attack before.

``maximise sign d_p subject to M d = 0, lower <= d <= upper`` with ``lower <= 0 <= upper``: zero is feasible,
the objective is one cell, and all coefficients are near 1. The inverse of the basis is therefore held
explicitly: its row for cell p has the multipliers, and a pivot changes little of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.compiled import kernel

OPTIMAL, LIMIT = 0, 1

_PIVOT = 1e-7
_OPTIMAL = 1e-9
_ROUNDING, _TIE = 1e-13, 1e-12
_STALLED = 40
"""Degenerate pivots before Bland's rule applies, which cannot cycle (Bland 1977)."""


class Relations(NamedTuple):
    """Relations by column: the entries of cell j are those from ``starts[j]`` on."""

    starts: LongArray
    rows: LongArray
    values: FloatArray


class Bounds(NamedTuple):
    """Bounds of the deviations of cells, shape (n,)."""

    lower: FloatArray
    upper: FloatArray


class State(NamedTuple):
    """A basis, and feasible deviations.

    Attributes
    ----------
    inverse : ndarray of float64, shape (m, m)
        Of the basis.
    basis : ndarray of int64, shape (m,)
        The cell of each place; -1 where the relation follows from the others.
    point : ndarray of float64, shape (n,)
    """

    inverse: FloatArray
    basis: LongArray
    point: FloatArray


@kernel
def begin(relations: Relations, order: LongArray, inverse: FloatArray, basis: LongArray) -> None:
    """Build a first basis, of cells in the given order, for all independent relations.

    Parameters
    ----------
    relations : Relations
    order : ndarray of int64, shape (n,)
    inverse : ndarray of float64, shape (m, m)
        Becomes the inverse of the basis.
    basis : ndarray of int64, shape (m,)
        Becomes the cell of each place; -1 where the relation follows from the others.
    """
    starts, rows, values = relations
    count = basis.size
    inverse[:] = 0.0
    for row in range(count):
        inverse[row, row] = 1.0
        basis[row] = -1
    column = np.zeros(count)
    left = count
    for cell in order:
        if left == 0:
            break
        column[:] = 0.0
        for at in range(starts[cell], starts[cell + 1]):
            column += values[at] * inverse[:, rows[at]]
        place, most = -1, 1e-3
        for row in range(count):
            if basis[row] < 0 and abs(column[row]) > most:
                place, most = row, abs(column[row])
        if place >= 0:
            _exchange(inverse, column, place)
            basis[place] = cell
            left -= 1


@kernel
def _exchange(inverse: FloatArray, column: FloatArray, place: int) -> None:
    """Pivot: exchange a column, given in the basis, into it; most of a row of the inverse is 0."""
    count = column.size
    entries, length = np.empty(count, dtype=np.int64), 0
    for at in range(count):
        if inverse[place, at] != 0.0:
            inverse[place, at] /= column[place]
            entries[length] = at
            length += 1
    for row in range(count):
        factor = column[row]
        if row == place or factor == 0.0:
            continue
        for other in entries[:length]:
            inverse[row, other] -= factor * inverse[place, other]


@kernel
def _column(relations: Relations, inverse: FloatArray, cell: int, column: FloatArray) -> None:
    """Return the column of a cell in the basis, without rounding errors of sums of ones."""
    starts, rows, values = relations
    column[:] = 0.0
    for at in range(starts[cell], starts[cell + 1]):
        column += values[at] * inverse[:, rows[at]]
    for row in range(column.size):
        if abs(column[row]) < _ROUNDING:
            column[row] = 0.0


@kernel
def _room(bounds: Bounds, point: FloatArray, cell: int, way: float) -> float:
    room: float = bounds.upper[cell] - point[cell] if way > 0 else point[cell] - bounds.lower[cell]
    return room


@kernel
def _entering(
    relations: Relations,
    bounds: Bounds,
    point: FloatArray,
    outside: BoolArray,
    multipliers: FloatArray,
    first: bool,
) -> tuple[int, float]:
    """Price: return the cell of steepest gain (or the first), and its direction; -1 at the optimum."""
    starts, rows, values = relations
    found, way, best = -1, 0.0, _OPTIMAL
    for cell in range(point.size):
        if not outside[cell]:
            continue
        gain = 0.0
        for at in range(starts[cell], starts[cell + 1]):
            gain -= values[at] * multipliers[rows[at]]
        if abs(gain) > best:
            there = 1.0 if gain > 0 else -1.0
            if _room(bounds, point, cell, there) > 0.0:
                found, way, best = cell, there, abs(gain)
                if first:
                    break
    return found, way


@kernel
def _leaving(
    bounds: Bounds,
    point: FloatArray,
    basis: LongArray,
    column: FloatArray,
    way: float,
    step: float,
) -> tuple[int, float]:
    """Ratio test: return the place that blocks first, the step, and the bound; -1 if none blocks."""
    found, size = -1, 0.0
    for row in range(basis.size):
        change = -way * column[row]
        if abs(change) < _PIVOT:
            continue
        room = 0.0  # of a dependent relation: it does not move
        if basis[row] >= 0:
            room = max(0.0, _room(bounds, point, basis[row], change) / abs(change))
        if room < step - _TIE or (found >= 0 and room <= step + _TIE and abs(change) > size):
            found, size, step = row, abs(change), min(step, room)
    return found, step


@kernel
def _move(
    bounds: Bounds,
    point: FloatArray,
    basis: LongArray,
    column: FloatArray,
    entering: int,
    move: float,
) -> None:
    """Move a cell, and the basis with it."""
    lower, upper = bounds
    point[entering] = min(max(point[entering] + move, lower[entering]), upper[entering])
    for row in range(basis.size):
        cell = basis[row]
        if cell >= 0 and column[row] != 0.0:
            point[cell] = min(max(point[cell] - move * column[row], lower[cell]), upper[cell])


@kernel
def _place(basis: LongArray, cell: int) -> int:
    """Return the place of a cell in the basis, or -1."""
    for row in range(basis.size):
        if basis[row] == cell:
            return row
    return -1


@kernel
def furthest(
    relations: Relations,
    bounds: Bounds,
    state: State,
    goal: int,
    sign: float,
    enough: float,
    most_steps: int,
) -> int:
    """Maximise the movement of a cell.

    Parameters
    ----------
    relations : Relations
    bounds : Bounds
    state : State
        Where to begin, and where it ends.
    goal : int
        The cell.
    sign : float
        1 for up, -1 for down.
    enough : float
        A deviation from which on it need not go further; inf for as far as it goes.
    most_steps : int

    Returns
    -------
    int
        `OPTIMAL` or `LIMIT`.
    """
    inverse, basis, point = state
    lower, upper = bounds
    outside = np.ones(point.size, dtype=np.bool_)
    for cell in basis:
        if cell >= 0:
            outside[cell] = False
    column = np.zeros(basis.size)
    stalled = 0
    for _ in range(most_steps):
        if sign * point[goal] >= enough:
            return OPTIMAL
        entering, way, place = goal, sign, _place(basis, goal)
        if place >= 0:
            multipliers = sign * inverse[place]
            entering, way = _entering(relations, bounds, point, outside, multipliers, stalled > _STALLED)
        if entering < 0 or _room(bounds, point, entering, way) <= 0.0:
            return OPTIMAL
        _column(relations, inverse, entering, column)
        most = _room(bounds, point, entering, way)
        leaving, step = _leaving(bounds, point, basis, column, way, most)
        stalled = 0 if step > 0.0 else stalled + 1
        _move(bounds, point, basis, column, entering, way * step)
        if leaving < 0:  # from one of its bounds to the other
            point[entering] = upper[entering] if way > 0 else lower[entering]
            continue
        out = basis[leaving]
        if out >= 0:
            outside[out] = True
            point[out] = upper[out] if -way * column[leaving] > 0 else lower[out]
        _exchange(inverse, column, leaving)
        basis[leaving] = entering
        outside[entering] = False
    return LIMIT
