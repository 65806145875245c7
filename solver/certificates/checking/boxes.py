"""Candidates in boxes: what no candidate of a box can be nearer than, attribute by attribute.

A box holds the least and the greatest value of some candidates for each attribute. Differences of doubles are
rounded monotonically, so the differences of a query to the two ends, as they are rounded, enclose those to
every candidate inside, as they are rounded. So do the least and the greatest distance of a category to those
between two positions, and differences that stand for missing values. Whatever follows for all differences
between two such ends follows for all candidates of the box.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.solver.certificates.checking.box_kernels import (
    LACKING,
    LEAF,
    NUMERIC,
    TABLE,
    Boxed,
    Compared,
    Ends,
)
from linkrisk.solver.certificates.checking.record_arrays import RecordArrays

CHUNK = 4096
"""Blocks of one task of a thread."""


def compared(arrays: RecordArrays) -> tuple[Compared, FloatArray]:
    """Blocks in the form that compiled code reads; and differences of a missing value to each candidate.

    Both kinds of differences to missing values have no rows where nothing is missing.
    """
    attributes = arrays.queries.shape[1]
    kinds = np.full(attributes, NUMERIC, dtype=np.int64)
    offsets, widths = np.zeros((2, attributes), dtype=np.int64)
    flat: list[FloatArray] = [np.zeros(1)]
    for k, table in arrays.tables.items():
        kinds[k], offsets[k], widths[k] = TABLE, sum(part.size for part in flat), table.shape[1]
        flat.append(np.ascontiguousarray(table).ravel())
    some = len(arrays.missing) > 0
    lacking = np.full((arrays.blocks if some else 0, attributes), np.nan)
    shadows = np.full((len(arrays.candidates) if some else 0, attributes), np.nan)
    for k, (to_missing, from_missing, both) in arrays.missing.items():
        kinds[k], lacking[:, k] = LACKING, to_missing
        shadows[:, k] = np.where(np.isnan(from_missing), both, from_missing)
    return Compared(arrays.queries, lacking, kinds, np.concatenate(flat), offsets, widths), shadows


class Boxes(NamedTuple):
    """A binary tree of boxes, and `order` and `places` of the candidates in it."""

    order: IndexArray
    places: IndexArray
    boxed: Boxed


def boxes(arrays: RecordArrays, shadows: FloatArray, order: IndexArray) -> Boxes:
    """The boxes of candidates that follow each other in an order, any: it only matters for speed."""
    places = np.empty_like(order)
    places[order] = np.arange(order.size)
    points, shadows = arrays.candidates[order], shadows[order if shadows.size else []]
    leaves = _leaves(order.size)
    starts = np.arange(0, order.size, LEAF)
    held = np.zeros(2 * leaves, dtype=np.int64)
    held[leaves : leaves + starts.size] = np.minimum(order.size - starts, LEAF)
    for at in range(leaves - 1, 0, -1):
        held[at] = held[2 * at] + held[2 * at + 1]
    known = ~np.isnan(points)
    lacks = _ends((~known).astype(np.float64), starts, leaves, np.maximum) > 0.0
    shadow_ends = [np.zeros((0, points.shape[1]))] * 2
    if shadows.size:
        shadow_ends = [_ends(shadows, starts, leaves, chosen) for chosen in (np.fmin, np.fmax)]
    least = _ends(np.where(known, points, np.inf), starts, leaves, np.minimum)
    most = _ends(np.where(known, points, -np.inf), starts, leaves, np.maximum)
    nothing = np.zeros((0, points.shape[1]), dtype=np.bool_)
    boxed = Boxed(
        Ends(least, most, lacks, *shadow_ends),
        Ends(points, points, nothing, shadows, shadows),
        held,
        arrays.twins[order].astype(np.int64, copy=False),
    )
    return Boxes(order, places, boxed)


def _leaves(candidates: int) -> int:
    """The power of two that is enough."""
    return 1 << max(-(-candidates // LEAF) - 1, 0).bit_length()


def _ends(values: FloatArray, starts: IndexArray, leaves: int, chosen: np.ufunc) -> FloatArray:
    """The least, or the greatest, value of each box; of a box without candidates that of none."""
    nothing = np.inf if chosen in (np.minimum, np.fmin) else -np.inf
    result = np.full((2 * leaves, values.shape[1]), nothing)
    result[leaves : leaves + starts.size] = chosen.reduceat(values, starts, axis=0)
    level = leaves
    while level > 1:
        half = level // 2
        result[half:level] = chosen(result[level : 2 * level : 2], result[level + 1 : 2 * level : 2])
        level = half
    return result


def spatial_order(arrays: RecordArrays, scale: FloatArray) -> IndexArray:
    """An order whose boxes are small: halved, again and again, where they are longest.

    `scale` (attributes,): how much a difference of each attribute counts.
    """
    order = np.arange(len(arrays.candidates))
    nominal = np.isin(np.arange(scale.size), list(arrays.tables))
    pending = [(0, order.size)]
    while pending:
        first, last = pending.pop()
        if last - first <= LEAF:
            continue
        # Of full boxes but for the last: the same halves as those of the tree.
        middle = first + LEAF * _leaves(last - first) // 2
        own = arrays.candidates[order[first:last]]
        with np.errstate(all="ignore"):
            least, most = np.fmin.reduce(own), np.fmax.reduce(own)
            length = np.nan_to_num(np.where(nominal, most > least, most - least) * scale)
        chosen = own[:, int(np.argmax(length))]
        order[first:last] = order[first:last][np.argpartition(chosen, middle - first)]
        pending += [(first, middle), (middle, last)]
    return order


def in_chunks(blocks: IndexArray, settle: Callable[[IndexArray], None]) -> None:
    """Call a function with parts of the blocks, on all processors."""
    chunks = [blocks[at : at + CHUNK] for at in range(0, blocks.size, CHUNK)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        deque(pool.map(settle, chunks), maxlen=0)
