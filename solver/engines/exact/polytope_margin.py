"""Maximise the margin over a polytope by the primal simplex method, and prove it by multipliers.

Of rows r_i the widest margin is ``max t`` such that ``r_i . theta >= t`` and theta lies in the domain

    ``row_lower <= M theta <= row_upper``, ``lower <= theta <= upper``.

The primal simplex method solves its dual: ``min cost . x``, ``sum of x_j a_j = (0, 1)``, ``x >= 0``, with a
column a_j for each bound of the domain and a column ``(r_i, 1)`` of cost zero for each row. A new row is a
new column, so the last basis stays feasible (column generation). Any feasible x proves that the margin is at
most its cost, so the method may stop as soon as that is negative. A row that is no longer required stays in
the basis at a cost so high that it does not pay. The inverse of the basis is explicit, because it is hardly
larger than the dimension.

The code releases Python's lock. Arrays are taken out of tuples before loops: counting references to them
costs more than the work.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.formulations.compiled import kernel
from linkrisk.solver.engines.exact.cores import NEGLIGIBLE
from linkrisk.solver.engines.exact.rounding import rounding_error

NarrowArray = NDArray[np.uint16]

TOLERANCE = 1e-9
"""Feasibility tolerance of the domain's bounds and of rows."""

_PIVOT = 1e-7
_SLACK = 1e-10


class SparseRows(NamedTuple):
    """Rows: row i has ``values[at]`` in ``columns[at]``, `at` from ``starts[i]`` to ``starts[i + 1]``."""

    starts: IndexArray
    columns: NarrowArray
    values: FloatArray


class Columns(NamedTuple):
    """All columns that a basis may contain: d parameters, m rows of the domain, and the rows of blocks.

    The lower bound of parameter k has column k, its upper bound ``d + k``; the lower bound of row e of the
    domain ``2 d + e``, its upper bound ``2 d + m + e``; row i of the blocks ``2 d + 2 m + i``.
    """

    # `rows`, `domain`: rows of blocks, of unit length, and of the domain
    rows: SparseRows
    domain: SparseRows
    # `row_lower`, `row_upper`: (m,)
    row_lower: FloatArray
    row_upper: FloatArray
    # `lower`, `upper`: (d,) finite
    lower: FloatArray
    upper: FloatArray


class Basis(NamedTuple):
    """A simplex basis, of size dimension + 1; all arrays but `right` are written to."""

    # (size, size) transpose of the inverse of the basis matrix. Its last row is x for the right-hand side
    # ``(0, 1)``.
    inverse: FloatArray
    columns: IndexArray  # (size,) its columns; the first is -1 as long as there is no basis
    # `x`, `cost`: (size,) of each of these columns
    x: FloatArray
    cost: FloatArray
    prices: FloatArray  # (size,) ``(-theta, t)``
    # (size,) the right-hand side ``(0, 1)``, perturbed so that x is positive and steps are not degenerate
    right: FloatArray
    pivots: IndexArray  # (1,) number of pivots since `begin`


class Offers(NamedTuple):
    """Columns that may enter the basis: all of the domain, and those of some rows (partial pricing)."""

    rows: IndexArray  # (room,) the rows
    size: IndexArray  # (1,) how many there are
    # `reduced`, `weight`: (columns of the domain and room,) reduced cost of each column, and Devex weight
    reduced: FloatArray
    weight: FloatArray
    used: IndexArray  # (blocks,) how many rows of each block are in the basis


@kernel
def of_domain(columns: Columns) -> Any:
    """Count the columns of the domain."""
    return 2 * (columns.lower.size + columns.row_lower.size)


@kernel
def _add(row: FloatArray, share: float, out: FloatArray) -> None:
    """Add a multiple of a row."""
    for i in range(out.size):
        out[i] += share * row[i]


@kernel
def _add_rows(matrix: FloatArray, rows: SparseRows, row: int, sign: float, out: FloatArray) -> None:
    """Add the rows of a matrix times the entries of a sparse row, and a sign."""
    starts, columns, values = rows
    for at in range(starts[row], starts[row + 1]):
        _add(matrix[columns[at]], sign * values[at], out)


@kernel
def _times_column(matrix: FloatArray, columns: Columns, column: int, out: FloatArray) -> None:
    """Write ``matrix.T`` times a column."""
    d, m = columns.lower.size, columns.row_lower.size
    for i in range(out.size):
        out[i] = 0.0
    if column < d:
        _add(matrix[column], 1.0, out)
    elif column < 2 * d:
        _add(matrix[column - d], -1.0, out)
    elif column < 2 * d + m:
        _add_rows(matrix, columns.domain, column - 2 * d, 1.0, out)
    elif column < 2 * d + 2 * m:
        _add_rows(matrix, columns.domain, column - 2 * d - m, -1.0, out)
    else:
        _add_rows(matrix, columns.rows, column - 2 * d - 2 * m, 1.0, out)
        _add(matrix[d], 1.0, out)


@kernel
def _cost(columns: Columns, column: int) -> Any:
    """Return the cost of a column of the domain; zero for the others."""
    d, m = columns.lower.size, columns.row_lower.size
    if column < d:
        return -columns.lower[column]
    if column < 2 * d:
        return columns.upper[column - d]
    if column < 2 * d + m:
        return -columns.row_lower[column - 2 * d]
    if column < 2 * d + 2 * m:
        return columns.row_upper[column - 2 * d - m]
    return 0.0


@kernel
def begin(basis: Basis, columns: Columns, row: int) -> None:
    """Build the feasible basis of one row and a bound of each parameter."""
    d, (starts, places, values) = columns.lower.size, columns.rows
    inverse, names, x, cost, _, right, pivots = basis
    dense = np.zeros(d)
    for at in range(starts[row], starts[row + 1]):
        dense[places[at]] = values[at]
    for k in range(d):
        for i in range(d + 1):
            inverse[k, i] = 0.0
        sign = 1.0 if right[k] >= dense[k] else -1.0
        inverse[k, k], inverse[d, k], x[k] = sign, -sign * dense[k], sign * (right[k] - dense[k])
        names[k] = k if sign > 0.0 else d + k
        cost[k] = _cost(columns, names[k])
    names[d], inverse[d, d], x[d], cost[d], pivots[0] = of_domain(columns) + row, 1.0, 1.0, 0.0, 0


@kernel
def price(basis: Basis) -> None:
    """Compute prices (simplex multipliers) from the costs."""
    inverse, _, _, cost, prices, _, _ = basis
    for k in range(cost.size):
        prices[k] = 0.0
        for i in range(cost.size):
            prices[k] += inverse[k, i] * cost[i]


@kernel
def copied(basis: Basis) -> Basis:
    """Copy a basis into new arrays."""
    return Basis(
        basis.inverse.copy(),
        basis.columns.copy(),
        basis.x.copy(),
        basis.cost.copy(),
        basis.prices.copy(),
        basis.right,
        basis.pivots.copy(),
    )


@kernel
def overwrite(basis: Basis, by: Basis) -> None:
    """Overwrite a basis by another."""
    inverse, names, x, cost, prices, _, pivots = basis
    for k in range(x.size):
        names[k], x[k], cost[k], prices[k] = by.columns[k], by.x[k], by.cost[k], by.prices[k]
        for i in range(x.size):
            inverse[k, i] = by.inverse[k, i]
    pivots[0] = by.pivots[0]


@kernel
def reprice(basis: Basis, columns: Columns, offers: Offers, first: int) -> None:
    """Compute reduced costs of offered rows from `first` on; if that is 0, of the domain's columns, too."""
    d, m = columns.lower.size, columns.row_lower.size
    chosen, size, reduced, weight, _ = offers
    prices, base = basis.prices, of_domain(columns)
    if first == 0:
        for k in range(d):
            reduced[k] = -prices[k] - columns.lower[k]
            reduced[d + k] = columns.upper[k] + prices[k]
        starts, places, values = columns.domain
        for row in range(m):
            total = 0.0
            for at in range(starts[row], starts[row + 1]):
                total -= values[at] * prices[places[at]]
            reduced[2 * d + row] = total - columns.row_lower[row]
            reduced[2 * d + m + row] = columns.row_upper[row] - total
        for at in range(base):
            weight[at] = 1.0
    starts, places, values = columns.rows
    for place in range(first, size[0]):
        total = -prices[d]
        for at in range(starts[chosen[place]], starts[chosen[place] + 1]):
            total -= values[at] * prices[places[at]]
        reduced[base + place] = total
        weight[base + place] = 1.0


@kernel
def best(offers: Offers, block: IndexArray, shy: float) -> Any:
    """Choose the entering column by Devex pricing; -1 if no reduced cost is negative.

    Rows of blocks without a row in the basis are weighted down by a factor `shy`, to keep cores small.
    """
    place, most = -1, 0.0
    rows, size, reduced, weight, used = offers
    base = reduced.size - rows.size
    for at in range(base + size[0]):
        if reduced[at] < -TOLERANCE:
            promise = reduced[at] * reduced[at]
            if at >= base and used[block[rows[at - base]]] == 0:
                promise *= shy
            if promise > most * weight[at]:
                place, most = at, promise / weight[at]
    return place


@kernel
def _leaving(x: FloatArray, step: FloatArray) -> Any:
    """Choose the leaving column by Harris's ratio test; -1 if there is none.

    Harris (1973): x may fall slightly below zero, so that among near ties the largest pivot can be chosen.
    """
    longest = np.inf
    for i in range(step.size):
        if step[i] > _PIVOT:
            longest = min(longest, (max(x[i], 0.0) + _SLACK) / step[i])
    place, largest = -1, 0.0
    for i in range(step.size):
        if step[i] > _PIVOT and x[i] <= longest * step[i] and step[i] > largest:
            place, largest = i, step[i]
    return place


@kernel
def pivot(
    basis: Basis, columns: Columns, column: int, gain: float, step: FloatArray, share: FloatArray
) -> Any:
    """Pivot on a column of reduced cost `gain`; return the leaving column, -1 where rounding allows none.

    `step` is overwritten, and `share` becomes the row of the new inverse that belongs to the column.
    """
    inverse, names, x, cost, prices, _, _ = basis
    _times_column(inverse, columns, column, step)
    place = _leaving(x, step)
    if place < 0:
        return -1
    left, length, divisor = names[place], max(x[place], 0.0) / step[place], step[place]
    step[place] = 0.0
    for i in range(x.size):
        x[i] -= length * step[i]
    for k in range(x.size):
        share[k] = inverse[k, place] / divisor
        if share[k] != 0.0:
            for i in range(x.size):
                inverse[k, i] -= share[k] * step[i]
            inverse[k, place] = share[k]
            prices[k] += gain * share[k]
    names[place], x[place], cost[place] = column, length, _cost(columns, column)
    basis.pivots[0] += 1
    return left


@kernel
def follow(columns: Columns, offers: Offers, entered: int, share: FloatArray) -> None:
    """Update reduced costs and Devex weights for the pivot on the column at the place `entered`.

    Devex (Harris 1973): the weight of a column grows with how far one unit of it moves the others.
    """
    d, m = columns.lower.size, columns.row_lower.size
    chosen, size, reduced, weight, _ = offers
    base, gain, reference = of_domain(columns), reduced[entered], weight[entered]
    for k in range(d):
        reduced[k] -= gain * share[k]
        reduced[d + k] += gain * share[k]
        least = share[k] * share[k] * reference
        weight[k], weight[d + k] = max(weight[k], least), max(weight[d + k], least)
    starts, places, values = columns.domain
    for row in range(m):
        moved, low, high = 0.0, 2 * d + row, 2 * d + m + row
        for at in range(starts[row], starts[row + 1]):
            moved += values[at] * share[places[at]]
        reduced[low] -= gain * moved
        reduced[high] += gain * moved
        least = moved * moved * reference
        weight[low], weight[high] = max(weight[low], least), max(weight[high], least)
    starts, places, values = columns.rows
    for place in range(size[0]):
        moved = share[d]
        for at in range(starts[chosen[place]], starts[chosen[place] + 1]):
            moved += values[at] * share[places[at]]
        reduced[base + place] -= gain * moved
        weight[base + place] = max(weight[base + place], moved * moved * reference)


@kernel
def violation(columns: Columns, theta: FloatArray) -> Any:
    """Compute the largest violation of the domain's bounds."""
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
    """Bound a combination of rows over the domain from above, rounding included.

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
    """Drop rows of negligible multipliers from the first `count`; the others are scaled to sum to one."""
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
    """Read a core proof from the basis: rows of the blocks inside and their multipliers; none if it fails.

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
