"""What a basis proves: multipliers are added up again, and parameters checked, whatever the pivots said."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.formulations.compiled import kernel
from linkrisk.solver.engines.exact.cores.base import NEGLIGIBLE
from linkrisk.solver.engines.exact.polytope.margin import Basis, Columns
from linkrisk.solver.engines.exact.rounding import rounding_error


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
    """An upper bound of a combination of rows over the domain, with what rounding may hide of it.

    Weak duality holds for any multipliers. A product of a multiplier and an entry is rounded once, with each
    that is added to the same column, and counts as often as the column's bound says. What is left of the
    column is rounded again when it is multiplied by that bound, and with each column and row of the domain
    in the last sum.
    """
    d = columns.lower.size
    rest, spread, fixed, size, used = np.zeros(d), np.zeros(d), 0.0, 0.0, 0
    starts, places, values = columns.rows
    for place in range(chosen.size):
        for at in range(starts[chosen[place]], starts[chosen[place] + 1]):
            part = multipliers[place] * values[at]
            rest[places[at]] += part
            spread[places[at]] += abs(part)
    starts, places, values = columns.domain
    for row in range(domain.size):
        if domain[row] == 0.0:
            continue
        used += 1
        part = domain[row] * (columns.row_upper[row] if domain[row] > 0.0 else columns.row_lower[row])
        fixed += part
        size += abs(part)
        for at in range(starts[row], starts[row + 1]):
            part = domain[row] * values[at]
            rest[places[at]] -= part
            spread[places[at]] += abs(part)
    before = 0.0
    for k in range(d):
        fixed += max(rest[k] * columns.lower[k], rest[k] * columns.upper[k])
        bound = max(abs(columns.lower[k]), abs(columns.upper[k]))
        before += spread[k] * bound
        size += abs(rest[k]) * bound
    return fixed + rounding_error(1 + chosen.size + used, before) + rounding_error(1 + used + d, size)


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

    `block` (rows,): block of each row. `inside` (blocks,). Returns shape (any,). Returns (any,): positive;
    they sum to one. Returns (rows of the domain,): multipliers of these.
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
            if largest(columns, few, shares, of_rows) <= 0.0:
                return few, shares, of_rows
    return chosen[:0], multipliers[:0], domain
