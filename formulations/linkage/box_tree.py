"""A k-d tree of bounding boxes: no record of a box is nearer than the box.

Records are halved by one attribute after another, until few are left together (a k-d tree; Friedman, Bentley
and Finkel 1977). Each half has a box: the lowest and the highest value of every attribute. Searches leave out
boxes whose nearest corner is too far, with the same answers as a scan of all records.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkrisk.arrays import ByteArray, FloatArray, IndexArray, WordArray
from linkrisk.formulations.compiled import kernel

TOGETHER = 16
"""Records that are not halved any further, at most."""

_LOOKED_AT = 64
"""Records of a box that say which attribute to halve it by."""

MOST_BITS = 64
"""Categories that boxes know one by one."""

KNOWN, SOME, ALL = 0, 1, 2
"""Whether a value is missing in none of a box's records, in some of them, or in all."""


class BoxTree(NamedTuple):
    """Boxes around records, numbered from 1: those of box b's halves are 2 b and 2 b + 1.

    Box b of level l, the ``b - 2**l``-th there, holds the places from ``(b - 2**l) * records // 2**l`` to
    where the next begins.
    """

    order: IndexArray  # (records,): the record in each place
    # low, high (boxes + 1, attributes): the lowest and the highest known value; infinite, the wrong way
    # round, where none is
    low: FloatArray
    high: FloatArray
    # (boxes + 1, attributes) or (1, 0): `KNOWN`, `SOME` or `ALL`; of no size where no value of any record is
    # missing
    lacking: ByteArray
    # (boxes + 1, attributes) or (1, 0): the categories of every box as bits, 0 of numeric attributes; of no
    # size where none are nominal, or one has more than `MOST_BITS`
    codes: WordArray
    levels: int  # of boxes that are halved


def box_tree(records: FloatArray, importance: FloatArray, categories: IndexArray | None = None) -> BoxTree:
    """Build the tree of boxes around records (records, attributes), NaN where a value is missing.

    `importance` (attributes,) is what a variance of 1 counts in the choice of the attribute to halve by; 0:
    only if no other can be. `categories` (attributes,) has the number of categories of attributes whose
    values are positions, 0 for numeric ones; the variance of many equally frequent categories is one half.
    """
    many, n = records.shape
    levels = 0
    while many > TOGETHER << levels:
        levels += 1
    nominal = np.zeros(n, dtype=np.intp) if categories is None else categories
    order = np.arange(many, dtype=np.intp)
    _halve(records, order, importance, nominal, np.empty(nominal.max() + 1, dtype=np.intp), levels)
    low, high = np.empty((2 << levels, n)), np.empty((2 << levels, n))
    lacking = np.zeros(low.shape if np.isnan(records).any() else (1, 0), dtype=np.uint8)
    known = 0 < nominal.max(initial=0) <= MOST_BITS
    codes = np.zeros(low.shape if known else (1, 0), dtype=np.uint64)
    _put_boxes(records, order, levels, low, high, lacking)
    if known:
        _put_codes(records, order, levels, nominal, codes)
    return BoxTree(order, low, high, lacking, codes, levels)


def regions(
    records: FloatArray, importance: FloatArray, categories: IndexArray | None, levels: int
) -> list[IndexArray]:
    """Records in ``2**levels`` groups of neighbours, as many in each, give or take one (see `box_tree`)."""
    many = len(records)
    nominal = np.zeros(records.shape[1], dtype=np.intp) if categories is None else categories
    order = np.arange(many, dtype=np.intp)
    _halve(records, order, importance, nominal, np.empty(nominal.max() + 1, dtype=np.intp), levels)
    return np.split(order, [many * box >> levels for box in range(1, 1 << levels)])


@kernel
def place_of(box: int, level: int, many: int) -> int:
    """The first place of a box; the first after it is that of the next box, of ``2 << level`` if need be."""
    return (box - (1 << level)) * many >> level


@kernel
def _halve(
    records: FloatArray,
    order: IndexArray,
    importance: FloatArray,
    categories: IndexArray,
    counts: IndexArray,
    levels: int,
) -> None:
    """Arrange `order` so that every box holds the places that are its own; `counts` is for categories."""
    many = order.size
    keys = np.empty(many)
    for level in range(levels):
        for box in range(1 << level, 2 << level):
            first, last = place_of(box, level, many), place_of(box + 1, level, many)
            middle = place_of(2 * box + 1, level + 1, many)
            k = _widest(records, order[first:last], importance, categories, counts)
            for at in range(first, last):
                value = records[order[at], k]
                keys[at] = value if value == value else np.inf
            _part(keys[first:last], order[first:last], middle - first)


@kernel
def _widest(
    records: FloatArray,
    rows: IndexArray,
    importance: FloatArray,
    categories: IndexArray,
    counts: IndexArray,
) -> int:
    """The attribute in which some of these records vary most."""
    step = max(1, rows.size // _LOOKED_AT)
    best, most = 0, -1.0
    for k in range(records.shape[1]):
        variance = 0.0
        if categories[k] > 0:
            variance = _unlike(records, rows[::step], k, counts[: categories[k]])
        else:
            variance = _variance(records, rows[::step], k)
        if importance[k] * variance > most:
            best, most = k, importance[k] * variance
    return best


@kernel
def _variance(records: FloatArray, rows: IndexArray, k: int) -> float:
    known, mean, squares = 0, 0.0, 0.0
    for at in rows:
        value = records[at, k]
        if value == value:
            known += 1
            apart = value - mean
            mean += apart / known
            squares += apart * (value - mean)
    return squares / known if known > 0 else 0.0


@kernel
def _unlike(records: FloatArray, rows: IndexArray, k: int, counts: IndexArray) -> float:
    """Half the share of pairs that differ: the variance, if categories were one apart."""
    counts[:] = 0
    for at in rows:
        counts[int(records[at, k])] += 1
    alike = 0.0
    for count in counts:
        alike += (count / rows.size) ** 2
    return 0.5 * (1.0 - alike)


@kernel
def _part(keys: FloatArray, rows: IndexArray, middle: int) -> None:
    """Bring the smallest keys in front of `middle`, and `rows` with them (Hoare's selection)."""
    first, last = 0, keys.size - 1
    while first < last:
        pivot = keys[(first + last) >> 1]
        left, right = first, last
        while left <= right:
            while keys[left] < pivot:
                left += 1
            while keys[right] > pivot:
                right -= 1
            if left <= right:
                keys[left], keys[right] = keys[right], keys[left]
                rows[left], rows[right] = rows[right], rows[left]
                left += 1
                right -= 1
        if middle <= right:
            last = right
        elif middle >= left:
            first = left
        else:
            return


@kernel
def _put_boxes(
    records: FloatArray,
    order: IndexArray,
    levels: int,
    low: FloatArray,
    high: FloatArray,
    lacking: ByteArray,
) -> None:
    """Write the boxes: those that are not halved from their records, the others from their halves."""
    many, n = records.shape
    low[:], high[:] = np.inf, -np.inf
    for box in range(1 << levels, 2 << levels):
        first, last = place_of(box, levels, many), place_of(box + 1, levels, many)
        for k in range(n):
            unknown = 0
            for at in order[first:last]:
                value = records[at, k]
                if value == value:
                    low[box, k] = min(low[box, k], value)
                    high[box, k] = max(high[box, k], value)
                else:
                    unknown += 1
            if unknown > 0:
                lacking[box, k] = ALL if unknown == last - first else SOME
    for box in range((1 << levels) - 1, 0, -1):
        for k in range(n):
            low[box, k] = min(low[2 * box, k], low[2 * box + 1, k])
            high[box, k] = max(high[2 * box, k], high[2 * box + 1, k])
            if lacking.size > 0:
                first, second = lacking[2 * box, k], lacking[2 * box + 1, k]
                lacking[box, k] = first if first == second else SOME


def _put_codes(
    records: FloatArray, order: IndexArray, levels: int, categories: IndexArray, codes: WordArray
) -> None:
    """Write the categories of the boxes: a level is made of the one below it, the lowest of the records."""
    boxes = np.arange((1 << levels) + 1)
    places = boxes * order.size >> levels
    for k in np.flatnonzero(categories):
        bits = np.uint64(1) << records[order, k].astype(np.uint64)
        filled = places[:-1] < places[1:]
        codes[1 << levels :, k][filled] = np.bitwise_or.reduceat(bits, places[:-1][filled])
        for level in range(levels - 1, -1, -1):
            halves = codes[2 << level : 4 << level, k]
            codes[1 << level : 2 << level, k] = halves[::2] | halves[1::2]


@kernel
def within(
    tree: BoxTree,
    records: FloatArray,
    point: FloatArray,
    radius: FloatArray,
    beyond: int,
    found: IndexArray,
) -> int:
    """Write into `found` the records no farther from a point than `radius`; return their number.

    `records` are in the order of the tree; an infinite radius admits missing values, too. `beyond` is the
    number of attributes in which they may be farther.
    """
    # Every array by itself: out of a tuple, each use would count its references, for all threads.
    order, low, high, _, _, levels = tree
    many, size, waiting = order.size, 0, 1
    pending = np.empty(levels + 2, dtype=np.intp)
    pending[0] = 1
    while waiting > 0:
        waiting -= 1
        box = pending[waiting]
        if _farther(low[box], high[box], point, radius) > beyond:
            continue
        if box < 1 << levels:
            pending[waiting], pending[waiting + 1] = 2 * box, 2 * box + 1
            waiting += 2
            continue
        for at in range(place_of(box, levels, many), place_of(box + 1, levels, many)):
            if _farther(records[at], records[at], point, radius) <= beyond:
                found[size] = order[at]
                size += 1
    return size


@kernel
def _farther(low: FloatArray, high: FloatArray, point: FloatArray, radius: FloatArray) -> int:
    """In how many attributes a box is farther from a point than the radius."""
    farther = 0
    for k in range(point.size):
        if radius[k] < np.inf and max(low[k] - point[k], point[k] - high[k]) > radius[k]:
            farther += 1
    return farther
