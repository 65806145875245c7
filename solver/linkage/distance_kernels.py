"""Compute distances of records attribute by attribute, and aggregate them, in compiled code."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.linkage.distances import Differences, DistanceTables
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.formulations.linkage.tie_tolerance import TIE_TOLERANCE

Tables = tuple[IndexArray, FloatArray, IndexArray, IndexArray]
"""Attributes, values, first and width of `DistanceTables`; empty where all attributes are numeric."""

Missing = tuple[FloatArray, FloatArray, FloatArray]
"""Differences to missing values, of queries, of candidates and of both; empty without any."""


class Form(NamedTuple):
    """A distance in numeric form for compiled code (`DistanceForm`)."""

    kind: int  # number of its `FormKind`
    vector: FloatArray  # the parameters where they are a vector, else of no length
    matrix: FloatArray  # the parameters where they are a matrix, else of no size
    differences: int  # attribute distances are squared (0), absolute (1) or signed (2) differences
    tolerance: float  # share of the partner's attribute distances up to which a rival ties
    noise: float  # times ``sum_k P_kk c_k**2`` of the rival: a tie is longer by that


class Compared(NamedTuple):
    """Blocks and candidates with the data of their comparison."""

    queries: FloatArray  # (blocks, attributes)
    # (candidates, attributes): in the order of `Boxes`. Those in no box come last: they are compared only
    # with blocks whose partners they are.
    candidates: FloatArray
    number: IndexArray  # (candidates in boxes,): their rows
    group: IndexArray  # (candidates,): candidates with the number of a block's partner are no rivals of it
    partner: IndexArray  # (blocks,): place of each block's partner
    # (blocks,): distance of the nearest rival among other candidates; infinite where none is known
    known: FloatArray
    rounding: FloatArray  # (blocks, attributes): rounding error of differences to partners
    allowance: FloatArray  # (attributes,): addition to every attribute distance of a partner (`ties.grain`)
    tables: Tables  # distance tables of categorical attributes
    missing: Missing  # differences to missing values, of these blocks and candidates


class Boxes(NamedTuple):
    """Bounding boxes of the candidates (`BoxTree`), with lower bounds of the distance to their candidates.

    No candidate in a box is nearer than ``(1 - 1e-9) * bound - blur``, with `bound` the distance `form` of
    the box and the query's point.
    """

    points: FloatArray  # (blocks, dimensions): the queries where the boxes are
    low: FloatArray  # (boxes + 1, dimensions)
    high: FloatArray  # (boxes + 1, dimensions)
    lacking: NDArray[np.uint8]  # (boxes + 1, dimensions); (1, 0) where nothing is missing
    codes: NDArray[np.uint64]  # (boxes + 1, dimensions): categories as bits; (1, 0) where they are not known
    levels: int
    form: Form  # monotone
    tables: Tables  # distance tables of categorical dimensions
    shift: float  # rounding error of differences
    blur: float


class Found(NamedTuple):
    """Results of all blocks, filled in by compiled code."""

    rank: IndexArray  # 1 + number of strictly nearer rivals
    ties: IndexArray  # number of rivals that tie with the partner
    distance: FloatArray  # distance to the partner; infinite where that is impossible
    nearest_other: FloatArray  # to the nearest rival, likewise
    # the rival that is nearest, or ties most clearly, the first of several; -1 without rivals
    rival: IndexArray
    # its distance minus the largest one that still ties; infinite without rivals
    clear: FloatArray


def nothing_found(blocks: int) -> Found:
    """Allocate results for so many blocks; rank 0 marks blocks not compared."""
    return Found(
        rank=np.zeros(blocks, dtype=np.intp),
        ties=np.zeros(blocks, dtype=np.intp),
        distance=np.full(blocks, np.nan),
        nearest_other=np.full(blocks, np.nan),
        rival=np.full(blocks, -1, dtype=np.intp),
        clear=np.full(blocks, np.nan),
    )


# The numbers of `formulations.linkage.forms.FormKind`, which compiled code cannot read.
WEIGHTED_SUM, _ORDERED_SUM, _CHOQUET, _PAIRWISE, _QUADRATIC = 0, 1, 2, 3, 4


@kernel(inline="always")
def _sort_descending(c: FloatArray, order: IndexArray) -> None:
    """Sort `c` in descending order by insertion, and permute `order` with it: the vectors are short."""
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
def dot(vector: FloatArray, c: FloatArray) -> float:
    """Aggregate by a weighted sum."""
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
        total += dot(matrix[k], c) * c[k]
    return total


@kernel
def aggregate(form: Form, c: FloatArray, order: IndexArray) -> Any:
    """Aggregate the attribute distances `c` (overwritten) by the `FormKind` of the form."""
    if form.kind in (_ORDERED_SUM, _CHOQUET):
        _sort_descending(c, order)
    total = 0.0
    if form.kind in (WEIGHTED_SUM, _ORDERED_SUM):
        total = dot(form.vector, c)
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
    """Subtract two values, either of which may be missing."""
    z = query[k] - candidate[k]
    if z == z or missing[2].shape[0] == 0:
        return z
    if query[k] == query[k]:
        return missing[0][block, k]
    return missing[1][at, k] if candidate[k] == candidate[k] else missing[2][k]


@kernel
def of_kind(z: float, differences: int) -> float:
    """Transform a difference: squared (0), absolute (1), or signed (2)."""
    if differences == 0:
        return z * z
    return abs(z) if differences == 1 else z


@kernel
def compare(query: FloatArray, candidate: FloatArray, differences: int, c: FloatArray) -> None:
    """Compute attribute distances into `c`: squared (0), absolute (1) or signed (2) differences."""
    for k in range(c.shape[0]):
        c[k] = of_kind(query[k] - candidate[k], differences)


@kernel
def fill_in(
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
            c[k] = of_kind(difference(query, candidate, missing, block, at, k), differences)


@kernel
def differences(
    query: FloatArray, candidate: FloatArray, missing: Missing, block: int, at: Any, apart: FloatArray
) -> None:
    """Compute differences of two records into `apart`."""
    for k in range(apart.shape[0]):
        apart[k] = difference(query, candidate, missing, block, at, k)


@kernel
def look_up(
    query: FloatArray, candidate: FloatArray, differences: int, tables: Tables, c: FloatArray
) -> bool:
    """Look up distances of categories into `c`; False when one is infinite."""
    attributes, values, first, width = tables
    for at in range(attributes.shape[0]):
        k = attributes[at]
        d = values[first[at] + int(query[k]) * width[at] + int(candidate[k])]
        if d == np.inf:
            return False
        c[k] = d * d if differences == 0 else d
    return True


@kernel
def complete(
    query: FloatArray,
    candidate: FloatArray,
    differences: int,
    tables: Tables,
    missing: Missing,
    block: int,
    at: Any,
    c: FloatArray,
) -> bool:
    """Complete `compare` by missing values and categories; False when a distance is infinite."""
    if missing[2].shape[0] > 0:
        fill_in(query, candidate, differences, missing, block, at, c)
    return look_up(query, candidate, differences, tables, c)


@kernel
def weighted_squares(matrix: FloatArray, c: FloatArray) -> float:
    """Compute ``sum_k M_kk c_k**2``."""
    total = 0.0
    for k in range(c.shape[0]):
        total += matrix[k, k] * c[k] * c[k]
    return total


@kernel
def _widen(form: Form, apart: FloatArray, rounding: FloatArray, allowance: FloatArray, c: FloatArray) -> None:
    """Widen the partner's attribute distances to the largest at which a rival ties (`tied_distances`).

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
def to_partner(
    form: Form,
    apart: FloatArray,
    rounding: FloatArray,
    allowance: FloatArray,
    c: FloatArray,
    order: IndexArray,
) -> tuple[float, float]:
    """Compute the partner's distance from `c` (overwritten), and the tie tolerance of rivals."""
    if form.kind == _QUADRATIC:
        mine, moved = _quadratic(form.matrix, c), -weighted_squares(form.matrix, c)
        _widen(form, apart, rounding, allowance, c)
        for k in range(c.shape[0]):
            moved += form.matrix[k, k] * c[k]
        return mine, moved
    wide = c.copy()
    _widen(form, apart, rounding, allowance, wide)
    mine = aggregate(form, c, order)
    reach = aggregate(form, wide, order)
    return mine, (reach - mine if reach < np.inf else np.inf)


_DIFFERENCES = {Differences.SQUARED: 0, Differences.ABSOLUTE: 1, Differences.SIGNED: 2}


def as_numbers(form: DistanceForm) -> Form:
    """Convert a distance for compiled code."""
    flat = form.parameters.ndim == 1
    return Form(
        kind=int(form.kind),
        vector=form.parameters if flat else np.empty(0),
        matrix=np.empty((0, 0)) if flat else form.parameters,
        differences=_DIFFERENCES[form.differences],
        tolerance=TIE_TOLERANCE,
        noise=form.noise,
    )


def as_arrays(pair: LinkagePair | None) -> Tables:
    """Convert the distance tables of a pair for compiled code, empty without any."""
    tables = (pair and pair.tables) or DistanceTables.of(())
    return tables.attributes, tables.values, tables.first, tables.width


def missing_arrays(pair: LinkagePair) -> Missing:
    """Convert differences to missing values of a pair for compiled code, empty without any."""
    if pair.missing is None:
        return np.empty((0, 0)), np.empty((0, 0)), np.empty(0)
    return pair.missing.of_queries, pair.missing.of_candidates, pair.missing.of_both
