"""Compiled code that settles blocks: is the partner strictly nearer than every rival.

A rival can only matter when its distance in one attribute alone does not already put it beyond the
partner. So candidates are kept sorted by one attribute, and each block looks at them outwards from its
own value until that attribute rules out all others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkrisk.formulations.compiled import kernel

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

Tables = tuple[IndexArray, FloatArray, IndexArray, IndexArray]
"""Attributes, values, first and width of `DistanceTables`; of no length where all attributes are numeric."""

Missing = tuple[FloatArray, FloatArray, FloatArray]
"""Differences to missing values, of queries, of candidates and of both; of no length without any."""

# The numbers of `formulations.linkage.forms.FormKind`, which compiled code cannot read.
_WEIGHTED_SUM, _ORDERED_SUM, _CHOQUET, _PAIRWISE, _QUADRATIC = 0, 1, 2, 3, 4

RANKING, COUNTING, NEAREST = 0, 1, 2
"""What `settle` looks for: every nearer rival, any rival that is, or the nearest rival alone."""


@kernel(inline="always")
def _sort_descending(c: FloatArray, order: IndexArray) -> None:
    """Insertion sort of `c`, carrying `order` along: the vectors are short."""
    for k in range(c.shape[0]):
        order[k] = k
    for k in range(1, c.shape[0]):
        value, label, at = c[k], order[k], k
        while at > 0 and c[at - 1] < value:
            c[at] = c[at - 1]
            order[at] = order[at - 1]
            at -= 1
        c[at] = value
        order[at] = label


@kernel
def _dot(vector: FloatArray, c: FloatArray) -> float:
    total = 0.0
    for k in range(c.shape[0]):
        total += vector[k] * c[k]
    return total


@kernel
def _choquet(vector: FloatArray, c: FloatArray, order: IndexArray) -> float:
    total, subset = 0.0, 0
    for k in range(c.shape[0]):
        subset |= 1 << order[k]
        below = c[k + 1] if k + 1 < c.shape[0] else 0.0
        total += (c[k] - below) * vector[subset]
    return total


@kernel
def _pairwise(matrix: FloatArray, c: FloatArray) -> float:
    total = 0.0
    for k in range(c.shape[0]):
        total += matrix[k, k] * c[k]
        for other in range(k + 1, c.shape[0]):
            total += matrix[k, other] * min(c[k], c[other])
    return total


@kernel
def _quadratic(matrix: FloatArray, c: FloatArray) -> float:
    total = 0.0
    for k in range(c.shape[0]):
        total += _dot(matrix[k], c) * c[k]
    return total


@kernel
def _aggregate(kind: int, vector: FloatArray, matrix: FloatArray, c: FloatArray, order: IndexArray) -> Any:
    """Aggregate the attribute distances `c` (overwritten) as `FormKind` says."""
    if kind in (_ORDERED_SUM, _CHOQUET):
        _sort_descending(c, order)
    total = 0.0
    if kind in (_WEIGHTED_SUM, _ORDERED_SUM):
        total = _dot(vector, c)
    elif kind == _CHOQUET:
        total = _choquet(vector, c, order)
    elif kind == _PAIRWISE:
        total = _pairwise(matrix, c)
    else:
        total = _quadratic(matrix, c)
    return total


@kernel
def difference(
    query: FloatArray, candidate: FloatArray, missing: Missing, block: int, at: int, k: int
) -> Any:
    """Difference of two values, of which either may be missing."""
    z = query[k] - candidate[k]
    if z == z or missing[2].shape[0] == 0:
        return z
    if query[k] == query[k]:
        return missing[0][block, k]
    return missing[1][at, k] if candidate[k] == candidate[k] else missing[2][k]


@kernel
def _compare(
    query: FloatArray,
    candidate: FloatArray,
    differences: int,
    missing: Missing,
    block: int,
    at: Any,
    apart: FloatArray,
    c: FloatArray,
) -> None:
    """Differences of a block and a candidate, and their attribute distances: squared, absolute or signed."""
    for k in range(c.shape[0]):
        z = difference(query, candidate, missing, block, at, k)
        apart[k] = z
        if differences == 0:
            c[k] = z * z
        elif differences == 1:
            c[k] = abs(z)
        else:
            c[k] = z


@kernel
def _look_up(
    query: FloatArray, candidate: FloatArray, differences: int, tables: Tables, c: FloatArray
) -> bool:
    """Distances of categories into `c`; False when one is infinite."""
    attributes, values, first, width = tables
    for at in range(attributes.shape[0]):
        k = attributes[at]
        d = values[first[at] + int(query[k]) * width[at] + int(candidate[k])]
        if d == np.inf:
            return False
        c[k] = d * d if differences == 0 else d
    return True


@kernel
def _weighted_squares(matrix: FloatArray, c: FloatArray) -> float:
    total = 0.0
    for k in range(c.shape[0]):
        total += matrix[k, k] * c[k] * c[k]
    return total


@kernel
def _widen(
    kind: int,
    differences: int,
    apart: FloatArray,
    rounding: FloatArray,
    allowance: FloatArray,
    tolerance: float,
    c: FloatArray,
) -> None:
    """Make of the partner's attribute distances those up to which a rival ties (`tied_distances`).

    Of a quadratic form, their squares. `apart` has the differences that attribute distances are made of.
    """
    for k in range(c.shape[0]):
        wide = abs(c[k])
        if rounding[k] > 0.0:
            wide = abs(apart[k]) + rounding[k]
            if differences == 0:
                wide *= wide
        if kind == _QUADRATIC:
            wide *= wide
        c[k] = (wide + allowance[k]) * (1.0 + tolerance)


@kernel
def _to_partner(
    kind: int,
    vector: FloatArray,
    matrix: FloatArray,
    differences: int,
    apart: FloatArray,
    rounding: FloatArray,
    allowance: FloatArray,
    tolerance: float,
    c: FloatArray,
    order: IndexArray,
) -> tuple[float, float]:
    """Distance of the partner's attribute distances `c` (overwritten), and how much farther rivals tie."""
    if kind == _QUADRATIC:
        mine, moved = _quadratic(matrix, c), -_weighted_squares(matrix, c)
        _widen(kind, differences, apart, rounding, allowance, tolerance, c)
        for k in range(c.shape[0]):
            moved += matrix[k, k] * c[k]
        return mine, moved
    wide = c.copy()
    _widen(kind, differences, apart, rounding, allowance, tolerance, wide)
    mine = _aggregate(kind, vector, matrix, c, order)
    reach = _aggregate(kind, vector, matrix, wide, order)
    return mine, (reach - mine if reach < np.inf else np.inf)


@kernel(inline="always")
def _too_far(purpose: int, bound: float, reach: float, best: float, widened: float) -> Any:
    """Whether no rival at this distance or beyond can matter any more."""
    if purpose == NEAREST:
        return bound > widened
    return bound > reach and (purpose == COUNTING or bound > best)


@kernel
def settle(
    kind: int,
    vector: FloatArray,
    matrix: FloatArray,
    differences: int,
    power: int,
    floor: float,
    pivot: int,
    tables: Tables,
    missing: Missing,
    queries: FloatArray,
    candidates: FloatArray,
    group: IndexArray,
    partner: IndexArray,
    rounding: FloatArray,
    allowance: FloatArray,
    share: bool,
    purpose: int,
    tolerance: float,
    noise: float,
    rank: IndexArray,
    ties: IndexArray,
    distance: FloatArray,
    nearest_other: FloatArray,
    rival: IndexArray,
) -> None:
    """Settle every block of `queries`; results go into the last five arrays.

    Parameters
    ----------
    kind, vector, matrix, differences
        The distance form: `FormKind`, its parameters (one of the two is used), attribute distances.
    power, floor, pivot
        The distance is at least ``floor * |z_pivot| ** power``; the floor is zero unless that is numeric
        and nowhere missing.
    tables
        Distances of the attributes that are looked up.
    missing
        Differences to missing values, of these blocks and candidates.
    queries : shape (blocks, attributes)
    candidates : shape (candidates, attributes)
        Sorted by the attribute `pivot`.
    group, partner : shape (candidates,), (blocks,)
        Twin group of each candidate; position of each block's partner.
    rounding : shape (blocks, attributes)
        By how much rounding may have moved differences to partners (`LinkagePair.rounding`).
    allowance : shape (attributes,)
        What every attribute distance of a partner is longer by (`ties.grain`).
    share : bool
        Whether twins of the partner are not rivals.
    purpose : int
        `RANKING`; or `COUNTING`: stop at a block's first rival that keeps it from being linked; or
        `NEAREST`: stop where no rival can be nearer than the nearest. Of the last two, `rank` and `ties` say
        only whether there is a rival in the way.
    tolerance : float
        Share of the partner's attribute distances up to which a rival ties.
    noise : float
        Times ``sum_k P_kk c_k**2`` of the rival: a tie is longer by that (`DistanceForm.noise`).
    rank : out, 1 + number of strictly nearer rivals
    ties : out, number of rivals that tie with the partner
    distance, nearest_other : out, distance to the partner and to the nearest rival; inf where impossible
    rival : out, position of the rival that comes nearest, or ties most clearly; -1 without rivals
    """
    n = queries.shape[1]
    many = candidates.shape[0]
    at: Any
    c, apart = np.empty(n), np.empty(n)
    order = np.empty(n, dtype=np.intp)
    # Where values are missing the floor is zero, and nobody is skipped in whatever order.
    values = np.where(np.isnan(candidates[:, pivot]), 0.0, candidates[:, pivot])
    safe = floor * (1.0 - 1e-9)
    mixed = tables[0].shape[0] > 0
    # A rival at distance y (with rounding error e) ties with x only when y - e - x is at most
    # moved + noise * sum_k P_kk c_k**2. Without noise that is y <= x + moved, give or take a rounding.
    # With it, e and the last term are each below 1e-4 * y wherever the floor is not zero (`DistanceForm`),
    # so y * (1 - 3e-4) < (x + moved) * (1 + 1e-6), far within a thousandth. Rivals beyond never tie.
    widening = 1.0 + (1e-3 if noise > 0.0 else 1e-12)
    for block in range(queries.shape[0]):
        query = queries[block]
        own = partner[block]
        _compare(query, candidates[own], differences, missing, block, own, apart, c)
        possible = not mixed or _look_up(query, candidates[own], differences, tables, c)
        mine, moved = np.inf, 0.0  # whoever is possible is nearer
        if possible:
            mine, moved = _to_partner(
                kind, vector, matrix, differences,
                apart, rounding[block], allowance, tolerance, c, order,
            )  # fmt: skip
        # A quadratic form that is zero on paper may come out a little below it.
        reach = (max(mine, 0.0) + moved) * widening
        nearer, tied, best, clearest, who = 0, 0, np.inf, np.inf, -1
        middle = 0.0 if np.isnan(query[pivot]) else query[pivot]
        right = np.searchsorted(values, middle)
        left = right - 1
        while left >= 0 or right < many:
            low = middle - values[left] if left >= 0 else np.inf
            high = values[right] - middle if right < many else np.inf
            if low <= high:
                gap, at = low, left
                left -= 1
            else:
                gap, at = high, right
                right += 1
            bound = safe * (gap * gap if power == 2 else gap)
            if _too_far(purpose, bound, reach, best, (best + moved) * widening):
                break
            if at == own or (share and group[at] == group[own]):
                continue
            _compare(query, candidates[at], differences, missing, block, at, apart, c)
            if mixed and not _look_up(query, candidates[at], differences, tables, c):
                continue
            slack = moved + (noise * _weighted_squares(matrix, c) if noise > 0.0 else 0.0)
            other = _aggregate(kind, vector, matrix, c, order)
            best = min(best, other)
            if other - slack < clearest:
                clearest, who = other - slack, at
            farther = other - mine
            nearer += farther < -slack
            tied += -slack <= farther <= slack
            if purpose == COUNTING and nearer + tied > 0:
                break
        rank[block] = 1 + nearer
        ties[block] = tied
        distance[block] = mine
        nearest_other[block] = best
        rival[block] = who
