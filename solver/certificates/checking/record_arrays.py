"""Builds the records of large files by vectorised code, and as arrays for compiled code."""

from __future__ import annotations

import math
import os
from array import array
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray, LongArray
from linkrisk.solver.certificates.checking.box_kernels import (
    LACKING,
    LEAF,
    NUMERIC,
    TABLE,
    Boxed,
    Compared,
    Ends,
)
from linkrisk.solver.certificates.core.claims import demand
from linkrisk.solver.certificates.core.records import (
    GRAIN,
    ROUNDING,
    SAME,
    TIE,
    Attribute,
    Records,
    Values,
    grain_of,
)

_DIGITS = 53


def _doubles(values: FloatArray) -> Values:
    return array("d", values.tobytes())


class FastAttribute(Attribute):
    """Attribute whose values are standardised by vectorised code."""

    def chosen(self, values: Values, blocks: Sequence[int]) -> Values:
        """Return the values of blocks."""
        return _doubles(np.asarray(values)[np.asarray(blocks, dtype=np.intp)])

    @np.errstate(all="ignore")
    def standardised(self, files: list[Values], how: str, name: str) -> list[Values]:
        """Standardise both files."""
        ours, theirs = map(np.asarray, files)
        both = np.concatenate([ours, theirs]) if how == "pooled" else ours
        sources = {"own": [ours, theirs], "original": [ours], "pooled": [both], "none": []}[how]
        known = []
        for source in sources:
            values = source[~np.isnan(source)]
            demand(values.size > 1, f"{name} has fewer than two values")
            known.append(fast_moments(values))
            demand(0.0 < known[-1][1] < math.inf, f"{name} cannot be standardised")
        if not known:
            return files
        made: list[Values] = []
        for values, (middle, deviation) in zip((ours, theirs), (known * 2)[:2], strict=True):
            made.append(_doubles((values - middle) / deviation))
            self.offset += abs(middle) / deviation
        return made

    @np.errstate(all="ignore")
    def numeric_grain(self, files: list[Values]) -> float:
        """Return ``2**-GRAIN`` of the spread, at most a sixteenth of the smallest difference."""
        known, gaps = [], [math.inf]
        for side in map(np.asarray, files):
            known.append(values := np.sort(side[~np.isnan(side)]))
            below, above = values[:-1], values[1:]
            apart = above - below > SAME * (np.abs(above) + np.abs(below) + self.offset)
            gaps.append(float((above - below)[apart].min(initial=math.inf)))
        both = np.concatenate(known)
        away = np.abs(both - float(np.median(both)))
        most = float(away.max()) or 1.0
        total = math.fsum(np.square(away / most).tolist())
        return grain_of(most * math.sqrt(total / both.size), min(gaps))

    @np.errstate(all="ignore")
    def all_widths(self, partner: Sequence[int]) -> Values:
        """Return the width of the difference of each block to its partner."""
        queries = np.asarray(self.queries)
        if self.table:
            return _doubles(np.zeros(queries.size))
        size = np.abs(queries) + np.abs(np.asarray(self.candidates)[np.asarray(partner)]) + self.offset
        share = 2.0**-ROUNDING * size
        widths = np.where(share > 0.0, np.ldexp(1.0, np.frexp(share)[1]), 0.0)
        for block in np.flatnonzero(np.isnan(size)).tolist():
            widths[block] = self.width(block, partner[block])
        return _doubles(widths)

    def digits(self) -> int:
        """Return the least s >= 0 for which all values and differences times ``2**s`` are integral."""
        to_missing, from_missing, both = self.missing or ((), (), 0.0)
        parts = self.queries, self.candidates, self.widths, to_missing, from_missing, [both]
        return max(digits_of(np.asarray(values)) for values in (*parts, *(self.table or ())))


def digits_of(values: FloatArray) -> int:
    """Return the least s >= 0 for which each finite value times ``2**s`` is integral."""
    _, exponents = _whole_numbers(values[np.isfinite(values)])
    return max(0, -int(exponents.min(initial=0)))


def _whole_numbers(values: FloatArray) -> tuple[LongArray, LongArray]:
    """Split nonzero values into odd integers and powers of two."""
    fraction, exponent = np.frexp(values[values != 0.0])
    whole = np.ldexp(fraction, _DIGITS).astype(np.int64)
    zeros = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return whole >> zeros, (exponent - _DIGITS + zeros).astype(np.int64)


def fast_moments(values: FloatArray) -> tuple[float, float]:
    """Return the doubles nearest to the mean and to the sample deviation, as the core does."""
    wholes, exponents = _whole_numbers(values)
    count, shift = values.size, max(0, -int(exponents.min(initial=0)))
    numbers = [
        whole << more for whole, more in zip(wholes.tolist(), (exponents + shift).tolist(), strict=True)
    ]
    total = sum(numbers)
    spread = count * sum(number * number for number in numbers) - total * total
    return total / (count << shift), rounded_root(spread, count * (count - 1) << 2 * shift)


def rounded_root(numerator: int, denominator: int) -> float:
    """Return the double nearest to the root of a fraction, from its first 600 bits and a sticky bit."""
    shift = max(0, 1200 + denominator.bit_length() - numerator.bit_length()) // 2
    whole = math.isqrt((numerator << 2 * shift) // denominator)
    left = whole * whole * denominator != numerator << 2 * shift
    try:
        return (2 * whole + left) / (1 << shift + 1)
    except OverflowError:
        return math.inf


class FastRecords(Records):
    """Records built by vectorised code, with weights computed once for equal records."""

    attribute = FastAttribute

    @cached_property
    def weights(self) -> tuple[list[int], int]:
        """Return the weight of each block, as an integer divided by the second number."""
        if self.sampling is None and not self.problem.share:
            return [1] * self.blocks, 1
        copies = self.copies if self.problem.share else [1] * self.blocks
        kinds = list(zip(self.sampling or [1.0] * self.blocks, copies, strict=True))
        exact = {kind: Fraction(kind[0]) / kind[1] for kind in set(kinds)}
        unit = math.lcm(*(weight.denominator for weight in exact.values()))
        numbers = {kind: int(weight * unit) for kind, weight in exact.items()}
        return [numbers[kind] for kind in kinds], unit


class RecordArrays:
    """Standardised values (blocks or candidates, attributes) and distances of categories in double precision.

    `tables` are distances of categories by attribute, `missing` differences to a missing value, of a missing
    value, and of both.
    """

    def __init__(self, records: Records) -> None:
        self.records, attributes = records, records.attributes
        self.queries = np.stack([np.asarray(one.queries) for one in attributes], axis=1)
        self.candidates = np.stack([np.asarray(one.candidates) for one in attributes], axis=1)
        self.partners: IndexArray = np.asarray(records.partner).astype(np.intp, copy=False)
        self.widths = np.stack([np.asarray(one.widths) for one in attributes], axis=1)
        self.grains = np.array([one.grain for one in attributes])
        self.offset = np.array([one.offset for one in attributes])
        self.tables = {k: np.array(one.table) for k, one in enumerate(attributes) if one.table is not None}
        self.missing = {
            k: (np.asarray(one.missing[0]), np.asarray(one.missing[1]), one.missing[2])
            for k, one in enumerate(attributes)
            if one.missing is not None
        }

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return len(self.partners)

    @cached_property
    def twins(self) -> IndexArray:
        """Number the candidates, equally for those that are no rivals of each other's blocks."""
        return np.array(self.records.twin) if self.records.problem.share else np.arange(len(self.candidates))

    @cached_property
    def _numbers(self) -> np.ndarray:
        numbers, _ = self.records.weights
        return np.array(numbers, dtype=np.int64 if sum(numbers) < 1 << 62 else object)

    def weight(self, some: BoolArray) -> Fraction:
        """Return the weight of the blocks of a mask."""
        return Fraction(int(self._numbers[some].sum()), self.records.weights[1])

    def possible(self, blocks: int | IndexArray, candidates: IndexArray) -> BoolArray:
        """Tell whether candidates can be the partner of a block, or of one block each."""
        possible = np.ones(candidates.size, dtype=np.bool_)
        for k, table in self.tables.items():
            columns = self.candidates[candidates, k].astype(np.intp)
            possible &= np.isfinite(table[self.queries[blocks, k].astype(np.intp), columns])
        return possible

    @cached_property
    def reached(self) -> BoolArray:
        """Tell whether each block's own partner is possible."""
        return self.possible(np.arange(self.blocks), self.partners)

    def impossible_pairs(self) -> int:
        """Count the impossible pairs of a block and a candidate, by kinds of records."""
        limited = [k for k, table in self.tables.items() if not np.isfinite(table).all()]
        if not limited:
            return 0
        ours, often = np.unique(self.queries[:, limited].astype(np.intp), axis=0, return_counts=True)
        theirs, many = np.unique(self.candidates[:, limited].astype(np.intp), axis=0, return_counts=True)
        count = 0
        for query, times in zip(ours, often.tolist(), strict=True):
            can = [np.isfinite(self.tables[k][query[at], theirs[:, at]]) for at, k in enumerate(limited)]
            count += times * int(many[~np.logical_and.reduce(can)].sum())
        return count

    def rivals(self, block: int) -> IndexArray:
        """Return all rivals of a block."""
        own, everyone = self.partners[block], np.arange(len(self.candidates))
        return np.flatnonzero((self.twins != self.twins[own]) & self.possible(block, everyone))

    def differences(self, blocks: int | IndexArray, candidates: IndexArray) -> FloatArray:
        """Return differences of a block, or of one each, to candidates, shape (candidates, attributes)."""
        difference = self.queries[blocks] - self.candidates[candidates]
        for k, table in self.tables.items():
            columns = self.candidates[candidates, k].astype(np.intp)
            difference[:, k] = table[self.queries[blocks, k].astype(np.intp), columns]
        for k, (to_missing, from_missing, both) in self.missing.items():
            unknown = np.isnan(difference[:, k])
            known = to_missing[np.broadcast_to(blocks, candidates.shape)[unknown]]
            other = from_missing[candidates[unknown]]
            difference[unknown, k] = np.where(np.isnan(known), np.where(np.isnan(other), both, other), known)
        return np.asarray(difference)

    def distances(self, blocks: int | IndexArray, candidates: IndexArray) -> FloatArray:
        """Return attribute distances of possible candidates, shape (candidates, attributes)."""
        difference = self.differences(blocks, candidates)
        if self.records.problem.differences == "squared":
            return np.asarray(difference * difference)
        absolute = self.records.problem.differences == "absolute"
        return np.asarray(np.abs(difference)) if absolute else difference

    def ties(self, blocks: IndexArray, squares: bool) -> FloatArray:
        """Return attribute distances up to which rivals tie with partners, shape (blocks, attributes)."""
        wide = np.abs(self.differences(blocks, self.partners[blocks])) + self.widths[blocks]
        if squares or self.records.problem.differences == "squared":
            wide = wide * wide + self.grains * self.grains
        else:
            wide = wide + 2.0**-GRAIN * self.grains
        return np.asarray(wide * (1.0 + 2.0**-TIE))


CHUNK = 4096
"""Blocks per task of a thread."""


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
    """Binary tree of boxes, with the `order` and `places` of the candidates in it."""

    order: IndexArray
    places: IndexArray
    boxed: Boxed


def boxes(arrays: RecordArrays, shadows: FloatArray, order: IndexArray) -> Boxes:
    """Build a tree over candidates in a given order, which affects the speed only."""
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
    """Return the minimum or maximum of each box; neutral for empty boxes."""
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
    """Order candidates by bisection along the longest side, so that boxes are small.

    `scale` (attributes,): relative importance of differences in each attribute.
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
    """Call a function with chunks of the blocks, on all processors."""
    chunks = [blocks[at : at + CHUNK] for at in range(0, blocks.size, CHUNK)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        deque(pool.map(settle, chunks), maxlen=0)
