"""What a basis proves: multipliers are added up anew, and parameters looked at, whatever the pivots said."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations.compiled import kernel
from solver.engines.exact.cores import NEGLIGIBLE, ROUNDING
from solver.engines.exact.polytope import Basis, Columns

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


@kernel
def violation(columns: Columns, theta: FloatArray) -> Any:
    """By how much a bound of the domain is violated at most."""
    worst = 0.0
    for k in range(theta.size):
        worst = max(worst, columns.lower[k] - theta[k], theta[k] - columns.upper[k])
    starts, places, values = columns.domain
    for row in range(columns.row_lower.size):
        total = 0.0
        for at in range(starts[row], starts[row + 1]):
            total += values[at] * theta[places[at]]
        worst = max(worst, columns.row_lower[row] - total, total - columns.row_upper[row])
    return worst


@kernel
def largest(columns: Columns, chosen: IndexArray, multipliers: FloatArray, domain: FloatArray) -> Any:
    """An upper bound of a combination of rows over the domain: weak duality holds for any multipliers."""
    rest, fixed = np.zeros(columns.lower.size), 0.0
    starts, places, values = columns.rows
    for place in range(chosen.size):
        for at in range(starts[chosen[place]], starts[chosen[place] + 1]):
            rest[places[at]] += multipliers[place] * values[at]
    starts, places, values = columns.domain
    for row in range(domain.size):
        if domain[row] == 0.0:
            continue
        fixed += domain[row] * (columns.row_upper[row] if domain[row] > 0.0 else columns.row_lower[row])
        for at in range(starts[row], starts[row + 1]):
            rest[places[at]] -= domain[row] * values[at]
    for k in range(rest.size):
        fixed += max(rest[k] * columns.lower[k], rest[k] * columns.upper[k])
    return fixed


@kernel
def _without(
    chosen: IndexArray, multipliers: FloatArray, domain: FloatArray, count: int, negligible: float
) -> Any:
    """The first `count` rows without those of negligible multipliers; the others sum to one."""
    few, shares = np.empty(count, dtype=np.intp), np.empty(count)
    largest, total, size = 0.0, 0.0, 0
    for at in range(count):
        largest = max(largest, multipliers[at])
    for at in range(count):
        if multipliers[at] > negligible * largest:
            few[size], shares[size] = chosen[at], multipliers[at]
            total += multipliers[at]
            size += 1
    for at in range(size):
        shares[at] /= total
    return few[:size], shares[:size], domain / total


@kernel
def core_proof(columns: Columns, basis: Basis, block: IndexArray, inside: BoolArray) -> Any:
    """Rows of the blocks inside whose multipliers in the basis prove a core; none if they do not.

    Parameters
    ----------
    columns : Columns
    basis : Basis
    block : ndarray of int, shape (rows,)
        Block of each row.
    inside : ndarray of bool, shape (blocks,)

    Returns
    -------
    chosen : ndarray of int, shape (any,)
    multipliers : ndarray of float64, shape (any,)
        Positive; they sum to one.
    domain : ndarray of float64, shape (rows of the domain,)
        Multipliers of these.
    """
    d, m = columns.lower.size, columns.row_lower.size
    chosen, multipliers, domain = np.empty(d + 1, dtype=np.intp), np.empty(d + 1), np.zeros(m)
    count, x = 0, basis.inverse[d]
    for i in range(d + 1):
        column = basis.columns[i] - 2 * d
        if x[i] <= 0.0 or column < 0:
            continue
        if column < m:
            domain[column] -= x[i]
        elif column < 2 * m:
            domain[column - m] += x[i]
        elif inside[block[column - 2 * m]]:
            chosen[count], multipliers[count] = column - 2 * m, x[i]
            count += 1
    if count:
        for negligible in NEGLIGIBLE:
            few, shares, of_rows = _without(chosen, multipliers, domain, count, negligible)
            if largest(columns, few, shares, of_rows) < -ROUNDING * max(1.0, np.abs(of_rows).sum()):
                return few, shares, of_rows
    return chosen[:0], multipliers[:0], domain
