"""The same combination from fewer rows: at most its number of entries plus one (Caratheodory 1911).

Interior point steps end with multipliers for every row that might matter. Where many rows are alike, as in
recoded data, these are far more than a proof needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.formulations.compiled import kernel

_NOTHING = 1e-13
"""Entries below this are rounding."""


@kernel
def _largest_entry(matrix: FloatArray, rank: int) -> Any:
    """Row and column of the largest entry from row and column `rank` on, and its size."""
    largest, row, column = 0.0, rank, rank
    for i in range(rank, matrix.shape[0]):
        for j in range(rank, matrix.shape[1]):
            if abs(matrix[i, j]) > largest:
                largest, row, column = abs(matrix[i, j]), i, j
    return row, column, largest


@kernel
def _eliminate(matrix: FloatArray, rank: int, row: int, column: int) -> None:
    """Bring a pivot to row and column `rank`, and make what is below it zero."""
    for j in range(matrix.shape[1]):
        matrix[rank, j], matrix[row, j] = matrix[row, j], matrix[rank, j]
    for i in range(matrix.shape[0]):
        matrix[i, rank], matrix[i, column] = matrix[i, column], matrix[i, rank]
    for i in range(rank + 1, matrix.shape[0]):
        factor = matrix[i, rank] / matrix[rank, rank]
        for j in range(rank, matrix.shape[1]):
            matrix[i, j] -= factor * matrix[rank, j]


@kernel
def null_vector(matrix: FloatArray) -> Any:
    """Some z other than zero with ``matrix @ z = 0``.

    `matrix` (rows, rows + 1): of size about one; overwritten. Returns shape (rows + 1,).
    """
    rows, columns = matrix.shape
    order = np.arange(columns)
    rank = 0
    while rank < rows:
        row, column, largest = _largest_entry(matrix, rank)
        if largest < _NOTHING:
            break
        _eliminate(matrix, rank, row, column)
        order[rank], order[column] = order[column], order[rank]
        rank += 1
    z = np.zeros(columns)
    z[order[rank]] = 1.0
    for i in range(rank - 1, -1, -1):
        value = matrix[i, rank]
        for j in range(i + 1, rank):
            value += matrix[i, j] * z[order[j]]
        z[order[i]] = -value / matrix[i, i]
    return z


@kernel
def few_multipliers(values: FloatArray, multipliers: FloatArray, cost: FloatArray) -> Any:
    """Multipliers of at most ``dimension + 1`` rows that combine to the same row and have the same sum.

    As long as there are more, some of them depend on each other; their multipliers are moved along that
    dependence, the way in which the cost of all does not grow, until one is zero.

    `values` (rows, dimension). `multipliers` (rows,): positive. `cost` (rows,): rows of large cost are rather
    left out. Returns (rows,): not negative, most of them zero.
    """
    many, dimension = values.shape
    y = multipliers.copy()
    used = np.argsort(-cost)
    left = many
    matrix = np.empty((dimension + 1, dimension + 2))
    while left > dimension + 1:
        for at in range(dimension + 2):
            matrix[:dimension, at] = values[used[at]]
            matrix[dimension, at] = 1.0
        z = null_vector(matrix)
        change = 0.0
        for at in range(dimension + 2):
            change += cost[used[at]] * z[at]
        if change > 0.0:
            z = -z
        step, gone = np.inf, -1
        for at in range(dimension + 2):
            if z[at] < 0.0 and y[used[at]] < -step * z[at]:
                step, gone = y[used[at]] / -z[at], at
        if gone < 0:  # rounding: the entries of z sum to zero
            break
        for at in range(dimension + 2):
            y[used[at]] = max(0.0, y[used[at]] + step * z[at])
        y[used[gone]] = 0.0
        used[gone : left - 1] = used[gone + 1 : left].copy()
        left -= 1
    return y
