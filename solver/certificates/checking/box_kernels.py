"""Compiled code that enumerates candidates box by box: what to leave out is all that it decides.

A box is left out where the distance that belongs to the least differences that its candidates could have is
surely larger than a limit; `Near` in `counting` says why that is right. Errors of rounding are given by the
caller, in proportion to the largest attribute distance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.compiled import kernel

NUMERIC, TABLE, LACKING = 0, 1, 2
"""Kinds of attributes: numbers, categories, and numbers of which some are missing."""

SUM, ORDERED, MEASURE, PAIRS, FORM = 0, 1, 2, 3, 4
"""Kinds of distances: a weighted sum, that of the descending values, a Choquet integral, a weighted sum with
the smaller and the larger of each two, and the squared length of an image."""

LEAF = 16
"""Candidates in a box that is not divided further."""

DEEPEST = 128
"""Boxes on the way down, and those beside it that are still to be looked at."""


class Compared(NamedTuple):
    """Blocks, and what their attributes are: see `boxes.Comparing`."""

    queries: FloatArray
    lacking: FloatArray
    kinds: LongArray
    table: FloatArray
    offsets: LongArray
    widths: LongArray


class Ends(NamedTuple):
    """The least and the greatest value of each attribute in boxes, and whether values are missing there.

    Candidates are boxes of their own: their values may be missing (NaN), and `lacks` is empty.
    """

    least: FloatArray
    most: FloatArray
    lacks: BoolArray
    shadow_least: FloatArray
    shadow_most: FloatArray


class Boxed(NamedTuple):
    """Candidates in boxes: see `boxes.Boxes`."""

    boxes: Ends
    points: Ends
    held: LongArray
    twins: LongArray


class Distance(NamedTuple):
    """A distance of one of the kinds above; `signed` where signs of differences count."""

    kind: int
    weights: FloatArray
    squared: bool
    signed: bool


@kernel
def rows_of_tables(query: FloatArray, kinds: LongArray, offsets: LongArray, widths: LongArray,
                   starts: LongArray) -> None:  # fmt: skip
    """Where the table of each categorical attribute holds the distances of a query."""
    for k in range(kinds.size):
        if kinds[k] == TABLE:
            starts[k] = offsets[k] + int(query[k]) * widths[k]


@kernel
def spans(at: int, query: FloatArray, lacking: FloatArray, compared: Compared, starts: LongArray,
          ends: Ends, low: FloatArray, high: FloatArray) -> int:  # fmt: skip
    """The least and the greatest difference of a query to the candidates of a box, by attribute.

    0 when all are impossible, 1 when some are, 2 when none is; the ends are of those that are possible.
    """
    kinds, table = compared.kinds, compared.table
    least, most, lacks, shadow_least, shadow_most = ends
    possible = 2
    for k in range(kinds.size):
        if kinds[k] == NUMERIC:
            low[k], high[k] = query[k] - most[at, k], query[k] - least[at, k]
        elif kinds[k] == TABLE:
            low[k], high[k] = np.inf, -np.inf
            for code in range(int(least[at, k]), int(most[at, k]) + 1):
                distance = table[starts[k] + code]
                if distance < np.inf:
                    low[k], high[k] = min(low[k], distance), max(high[k], distance)
                else:
                    possible = 1
            if low[k] == np.inf:
                return 0
        elif np.isnan(query[k]):
            low[k], high[k] = shadow_least[at, k], shadow_most[at, k]
        elif np.isnan(least[at, k]):
            low[k] = high[k] = lacking[k]
        else:
            low[k], high[k] = query[k] - most[at, k], query[k] - least[at, k]
            if lacks.size > 0 and lacks[at, k]:
                low[k], high[k] = min(low[k], lacking[k]), max(high[k], lacking[k])
    return possible


@kernel
def to_sizes(low: FloatArray, high: FloatArray) -> None:
    """Least and greatest absolute value between two ends, in place."""
    for k in range(low.size):
        least, most = low[k], high[k]
        low[k] = max(least, -most, 0.0)
        high[k] = max(most, -least)


@kernel
def sort_descending(values: FloatArray) -> None:
    """Sort a few values in place."""
    for i in range(1, values.size):
        value, j = values[i], i
        while j > 0 and values[j - 1] < value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value


@kernel
def _integral(c: FloatArray, measure: FloatArray, own: FloatArray, places: LongArray) -> float:
    """The Choquet integral: steps times the measure of those that are at least as large."""
    for i in range(c.size):
        value, j = c[i], i
        while j > 0 and own[j - 1] > value:
            own[j], places[j] = own[j - 1], places[j - 1]
            j -= 1
        own[j], places[j] = value, i
    total, before, subset = 0.0, 0.0, measure.size - 1
    for i in range(c.size):
        total += (own[i] - before) * measure[subset]
        before = own[i]
        subset ^= 1 << places[i]
    return total


@kernel
def _with_pairs(c: FloatArray, weights: FloatArray) -> float:
    """Weights of attributes, of the smaller of each two, of the larger of each two."""
    total, at = 0.0, c.size
    pairs = c.size * (c.size - 1) // 2
    for k in range(c.size):
        total += weights[k] * c[k]
        for m in range(k + 1, c.size):
            total += weights[at] * min(c[k], c[m]) + weights[at + pairs] * max(c[k], c[m])
            at += 1
    return total


@kernel
def distance_of(kind: int, weights: FloatArray, squared: bool, c: FloatArray, own: FloatArray,
                places: LongArray) -> tuple[float, float]:  # fmt: skip
    """The distance of differences that are not negative, and the largest attribute distance.

    It does not fall when a difference grows.
    """
    largest, total = 0.0, 0.0
    for k in range(c.size):
        c[k] = c[k] * c[k] if squared else c[k]
        largest = max(largest, c[k])
    if kind == MEASURE:
        return _integral(c, weights[0], own, places), largest
    if kind == PAIRS:
        return _with_pairs(c, weights[0]), largest
    if kind == ORDERED:
        sort_descending(c)
    for k in range(c.size):
        if weights[0, k] != 0.0:
            total += weights[0, k] * c[k]
    return total, largest


@kernel
def form_of(images: FloatArray, low: FloatArray, high: FloatArray) -> tuple[float, float]:
    """Between which two values the squared length of the image lies, for differences between two ends."""
    shortest, longest = 0.0, 0.0
    for j in range(images.shape[0]):
        least, most = 0.0, 0.0
        for k in range(low.size):
            first, second = images[j, k] * low[k], images[j, k] * high[k]
            least += min(first, second)
            most += max(first, second)
        near, far = max(least, -most, 0.0), max(most, -least)
        shortest += near * near
        longest += far * far
    return shortest, longest


@kernel
def enclosed(distance: Distance, error: float, low: FloatArray, high: FloatArray, own: FloatArray,
             places: LongArray) -> tuple[float, float]:  # fmt: skip
    """Less than the distances that differences between two ends may have, and more; not a number if unknown.

    `error` times the largest attribute distance is more than what rounding does to a distance.
    """
    kind, weights, squared, signed = distance
    if kind == FORM:
        if not signed:
            to_sizes(low, high)
        shortest, longest = form_of(weights, low, high)
        size = 0.0
        for k in range(low.size):
            size = max(size, low[k] * low[k], high[k] * high[k])
        return shortest - error * size, longest + error * size
    to_sizes(low, high)
    shortest, small = distance_of(kind, weights, squared, low, own, places)
    longest, large = distance_of(kind, weights, squared, high, own, places)
    return shortest - error * small, longest + error * large
