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
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.solver.certificates.checking.box_kernels import (
    LACKING,
    LEAF,
    NUMERIC,
    TABLE,
    Boxed,
    Compared,
    Ends,
)
from linkrisk.solver.certificates.checking.records import Records

CHUNK = 4096
"""Blocks that are looked at together."""


@dataclass(frozen=True, eq=False)
class Comparing:
    """The attributes of `Records` in the form that compiled code reads.

    Attributes
    ----------
    queries : ndarray of float64, shape (blocks, attributes)
    lacking : ndarray of float64, shape (blocks, attributes)
        Differences to a missing value; without rows where nothing is missing.
    shadows : ndarray of float64, shape (candidates, attributes)
        Differences of a missing value to each candidate; without rows where nothing is missing.
    kinds : ndarray of int64, shape (attributes,)
        `NUMERIC`, `LACKING` (some values are missing) or `TABLE`.
    table : ndarray of float64
        Distances of categories, one table behind the other, each query's row by row.
    offsets, widths : ndarray of int64, shape (attributes,)
        Where the table of an attribute begins, and the length of its rows.
    """

    queries: FloatArray
    lacking: FloatArray
    shadows: FloatArray
    kinds: NDArray[np.int64]
    table: FloatArray
    offsets: NDArray[np.int64]
    widths: NDArray[np.int64]

    @property
    def arrays(self) -> Compared:
        """What kernels take, but for the shadows, which go with the candidates."""
        return Compared(self.queries, self.lacking, self.kinds, self.table, self.offsets, self.widths)


def comparing(records: Records) -> Comparing:
    """The form that compiled code reads."""
    attributes = records.queries.shape[1]
    kinds = np.full(attributes, NUMERIC, dtype=np.int64)
    offsets, widths = np.zeros((2, attributes), dtype=np.int64)
    flat: list[FloatArray] = [np.zeros(1)]
    for k, table in records.tables.items():
        kinds[k], offsets[k], widths[k] = TABLE, sum(part.size for part in flat), table.shape[1]
        flat.append(np.ascontiguousarray(table).ravel())
    some = len(records.missing) > 0
    lacking = np.full((records.blocks if some else 0, attributes), np.nan)
    shadows = np.full((len(records.candidates) if some else 0, attributes), np.nan)
    for k, differences in records.missing.items():
        kinds[k] = LACKING
        lacking[:, k] = differences.queries
        shadows[:, k] = np.where(np.isnan(differences.candidates), differences.both, differences.candidates)
    return Comparing(
        np.ascontiguousarray(records.queries), lacking, shadows, kinds, np.concatenate(flat), offsets, widths
    )


@dataclass(frozen=True, eq=False)
class Boxes:
    """A binary tree of boxes: box i is divided into boxes 2 i and 2 i + 1, box 1 holds all candidates.

    Attributes
    ----------
    order, places : ndarray of intp, shape (candidates,)
        The candidates as the boxes hold them, one after the other; and where each candidate stands.
    twins : ndarray of int64, shape (candidates,)
        Candidates with the same number are no rivals of each other's blocks, in this order.
    points, shadows : ndarray of float64, shape (candidates, attributes)
        Their values and shadows, in this order.
    least, most : ndarray of float64, shape (boxes, attributes)
        Of the values that are not missing; inf and -inf where none is.
    lacks : ndarray of bool, shape (boxes, attributes)
        Whether some are missing.
    shadow_least, shadow_most : ndarray of float64, shape (boxes, attributes)
    held : ndarray of int64, shape (boxes,)
        How many candidates are inside.
    """

    order: IndexArray
    places: IndexArray
    twins: NDArray[np.int64]
    points: FloatArray
    shadows: FloatArray
    least: FloatArray
    most: FloatArray
    lacks: BoolArray
    shadow_least: FloatArray
    shadow_most: FloatArray
    held: NDArray[np.int64]

    @property
    def arrays(self) -> Boxed:
        """What kernels take."""
        nothing = np.zeros((0, self.points.shape[1]), dtype=np.bool_)
        return Boxed(
            Ends(self.least, self.most, self.lacks, self.shadow_least, self.shadow_most),
            Ends(self.points, self.points, nothing, self.shadows, self.shadows),
            self.held,
            self.twins,
        )


def boxes(records: Records, compared: Comparing, order: IndexArray) -> Boxes:
    """The boxes of candidates that follow each other in an order, any: it only matters for speed."""
    places = np.empty_like(order)
    places[order] = np.arange(order.size)
    twins = (records.twins if records.share else np.arange(order.size))[order]
    points, shadows = records.candidates[order], compared.shadows[order if compared.shadows.size else []]
    leaves = _leaves(order.size)
    starts = np.arange(0, order.size, LEAF)
    held = np.zeros(2 * leaves, dtype=np.int64)
    held[leaves : leaves + starts.size] = np.minimum(order.size - starts, LEAF)
    known = ~np.isnan(points)
    ends = [
        _ends(np.where(known, points, np.inf), starts, leaves, np.minimum),
        _ends(np.where(known, points, -np.inf), starts, leaves, np.maximum),
        _ends((~known).astype(np.float64), starts, leaves, np.maximum),
    ]
    if shadows.size:
        ends += [_ends(shadows, starts, leaves, np.fmin), _ends(shadows, starts, leaves, np.fmax)]
    else:
        ends += [np.zeros((0, points.shape[1]))] * 2
    for at in range(leaves - 1, 0, -1):
        held[at] = held[2 * at] + held[2 * at + 1]
    return Boxes(
        order, places, twins, points, shadows, ends[0], ends[1], ends[2] > 0.0, ends[3], ends[4], held
    )


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


def spatial_order(records: Records, scale: FloatArray) -> IndexArray:
    """An order whose boxes are small: halved, again and again, where they are longest.

    Parameters
    ----------
    records : Records
    scale : ndarray of float64, shape (attributes,)
        How much a difference of each attribute counts.
    """
    order = np.arange(len(records.candidates))
    nominal = np.isin(np.arange(scale.size), list(records.tables))
    pending = [(0, order.size)]
    while pending:
        first, last = pending.pop()
        if last - first <= LEAF:
            continue
        # Of full boxes but for the last: the same halves as those of the tree.
        middle = first + LEAF * _leaves(last - first) // 2
        own = records.candidates[order[first:last]]
        with np.errstate(all="ignore"):
            least, most = np.fmin.reduce(own), np.fmax.reduce(own)
            length = np.nan_to_num(np.where(nominal, most > least, most - least) * scale)
        chosen = own[:, int(np.argmax(length))]
        order[first:last] = order[first:last][np.argpartition(chosen, middle - first)]
        pending += [(first, middle), (middle, last)]
    return order


def in_chunks(blocks: IndexArray, settle: Callable[[IndexArray], None]) -> None:
    """Do something with blocks, a part of them at a time, on all processors."""
    chunks = [blocks[at : at + CHUNK] for at in range(0, blocks.size, CHUNK)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        deque(pool.map(settle, chunks), maxlen=0)
