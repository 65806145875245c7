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
from linkrisk.solver.linkage.arrays import Compared, Form, Found, Missing, Search, Tables

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

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
def _aggregate(form: Form, c: FloatArray, order: IndexArray) -> Any:
    """Aggregate the attribute distances `c` (overwritten) as `FormKind` says."""
    if form.kind in (_ORDERED_SUM, _CHOQUET):
        _sort_descending(c, order)
    total = 0.0
    if form.kind in (_WEIGHTED_SUM, _ORDERED_SUM):
        total = _dot(form.vector, c)
    elif form.kind == _CHOQUET:
        total = _choquet(form.vector, c, order)
    elif form.kind == _PAIRWISE:
        total = _pairwise(form.matrix, c)
    else:
        total = _quadratic(form.matrix, c)
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
def _of_kind(z: float, differences: int) -> float:
    if differences == 0:
        return z * z
    return abs(z) if differences == 1 else z


@kernel
def _compare(query: FloatArray, candidate: FloatArray, differences: int, c: FloatArray) -> None:
    """Attribute distances of two records into `c`: squared (0), absolute (1) or signed (2) differences."""
    for k in range(c.shape[0]):
        c[k] = _of_kind(query[k] - candidate[k], differences)


@kernel
def _fill_in(
    query: FloatArray,
    candidate: FloatArray,
    differences: int,
    missing: Missing,
    block: int,
    at: Any,
    c: FloatArray,
) -> None:
    """Attribute distances to missing values, in place of NaN."""
    for k in range(c.shape[0]):
        if np.isnan(c[k]):
            c[k] = _of_kind(difference(query, candidate, missing, block, at, k), differences)


@kernel
def _differences(
    query: FloatArray, candidate: FloatArray, missing: Missing, block: int, at: Any, apart: FloatArray
) -> None:
    for k in range(apart.shape[0]):
        apart[k] = difference(query, candidate, missing, block, at, k)


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
def _complete(
    query: FloatArray,
    candidate: FloatArray,
    differences: int,
    tables: Tables,
    missing: Missing,
    block: int,
    at: Any,
    c: FloatArray,
) -> bool:
    """What `_compare` cannot know: missing values and categories; False when a distance is infinite."""
    if missing[2].shape[0] > 0:
        _fill_in(query, candidate, differences, missing, block, at, c)
    return _look_up(query, candidate, differences, tables, c)


@kernel
def _weighted_squares(matrix: FloatArray, c: FloatArray) -> float:
    total = 0.0
    for k in range(c.shape[0]):
        total += matrix[k, k] * c[k] * c[k]
    return total


@kernel
def _widen(form: Form, apart: FloatArray, rounding: FloatArray, allowance: FloatArray, c: FloatArray) -> None:
    """Make of the partner's attribute distances those up to which a rival ties (`tied_distances`).

    Of a quadratic form, their squares. `apart` has the differences that attribute distances are made of.
    """
    for k in range(c.shape[0]):
        wide = abs(c[k])
        if rounding[k] > 0.0:
            wide = abs(apart[k]) + rounding[k]
            if form.differences == 0:
                wide *= wide
        if form.kind == _QUADRATIC:
            wide *= wide
        c[k] = (wide + allowance[k]) * (1.0 + form.tolerance)


@kernel
def _to_partner(
    form: Form,
    apart: FloatArray,
    rounding: FloatArray,
    allowance: FloatArray,
    c: FloatArray,
    order: IndexArray,
) -> tuple[float, float]:
    """Distance of the partner's attribute distances `c` (overwritten), and how much farther rivals tie."""
    if form.kind == _QUADRATIC:
        mine, moved = _quadratic(form.matrix, c), -_weighted_squares(form.matrix, c)
        _widen(form, apart, rounding, allowance, c)
        for k in range(c.shape[0]):
            moved += form.matrix[k, k] * c[k]
        return mine, moved
    wide = c.copy()
    _widen(form, apart, rounding, allowance, wide)
    mine = _aggregate(form, c, order)
    reach = _aggregate(form, wide, order)
    return mine, (reach - mine if reach < np.inf else np.inf)


@kernel(inline="always")
def _too_far(purpose: int, bound: float, reach: float, best: float, widened: float) -> Any:
    """Whether no rival at this distance or beyond can matter any more."""
    if purpose == NEAREST:
        return bound > widened
    return bound > reach and (purpose == COUNTING or bound > best)


@kernel
def settle(form: Form, compared: Compared, search: Search, found: Found) -> None:
    """Settle every block of `compared`; results go into `found`."""
    queries, candidates, group, partner, rounding, allowance, tables, missing = compared
    power, floor, pivot, share, purpose = search
    differences, noise = form.differences, form.noise
    n = queries.shape[1]
    many = candidates.shape[0]
    at: Any
    c, apart = np.empty(n), np.empty(n)
    order = np.empty(n, dtype=np.intp)
    # Where values are missing the floor is zero, and nobody is skipped in whatever order.
    values = np.where(np.isnan(candidates[:, pivot]), 0.0, candidates[:, pivot])
    safe = floor * (1.0 - 1e-9)
    # Most files have neither categories nor missing values, and every pair of records is looked at here.
    plain = tables[0].shape[0] == 0 and missing[2].shape[0] == 0
    # A rival at distance y (with rounding error e) ties with x only when y - e - x is at most
    # moved + noise * sum_k P_kk c_k**2. Without noise that is y <= x + moved, give or take a rounding.
    # With it, e and the last term are each below 1e-4 * y wherever the floor is not zero (`DistanceForm`),
    # so y * (1 - 3e-4) < (x + moved) * (1 + 1e-6), far within a thousandth. Rivals beyond never tie.
    widening = 1.0 + (1e-3 if noise > 0.0 else 1e-12)
    for block in range(queries.shape[0]):
        query = queries[block]
        own = partner[block]
        _compare(query, candidates[own], differences, c)
        _differences(query, candidates[own], missing, block, own, apart)
        possible = plain or _complete(query, candidates[own], differences, tables, missing, block, own, c)
        mine, moved = np.inf, 0.0  # whoever is possible is nearer
        if possible:
            mine, moved = _to_partner(form, apart, rounding[block], allowance, c, order)
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
            _compare(query, candidates[at], differences, c)
            if not (plain or _complete(query, candidates[at], differences, tables, missing, block, at, c)):
                continue
            slack = moved + (noise * _weighted_squares(form.matrix, c) if noise > 0.0 else 0.0)
            other = _aggregate(form, c, order)
            best = min(best, other)
            if other - slack < clearest:
                clearest, who = other - slack, at
            farther = other - mine
            nearer += farther < -slack
            tied += -slack <= farther <= slack
            if purpose == COUNTING and nearer + tied > 0:
                break
        found.rank[block] = 1 + nearer
        found.ties[block] = tied
        found.distance[block] = mine
        found.nearest_other[block] = best
        found.rival[block] = who
