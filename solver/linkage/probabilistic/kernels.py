"""Compare pairs of records, and count their patterns or weights, in compiled code."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import ByteArray, FloatArray, IntArray, LongArray
from linkrisk.formulations.compiled import kernel

LEVEL_BITS = 3
"""Bits per attribute of a pattern: 0 missing, 1 disagreement, higher ones agreement."""

MOST_ATTRIBUTES = 63 // LEVEL_BITS


class Coded(NamedTuple):
    """Two coded files of K attributes; codes are numbered through all attributes.

    A *slot* is a distinct value of an attribute among the candidates; the last slot of each attribute
    stands for a missing value.
    """

    query_code: IntArray  # (queries, K): index of the distinct value, -1 missing
    candidate_slot: IntArray  # (K, candidates)
    slot_first: LongArray  # (K + 1,): where the slots of each attribute begin
    segment_first: LongArray  # (distinct query values + 1,): where the segments of each begin
    start: IntArray  # (segments,): slots start..stop-1, later segments over earlier ones
    stop: IntArray
    level: NDArray[np.uint8]  # (segments,): 1 disagreement, higher ones agreement
    query_value: FloatArray  # (distinct query values,): NaN where the attribute is not numeric
    slot_value: FloatArray  # (slots,): the same
    query_times: LongArray  # (queries,): number of records that each represents
    candidate_times: LongArray  # (candidates,): the same


class Blocks(NamedTuple):
    """Blocking of pairs by equal keys; all pairs when there is no key (B = 0)."""

    key: IntArray  # (queries, B): code of each query's key, -1 when missing or without candidates
    first: LongArray  # (codes + 1,): where the members of each code begin
    member: IntArray  # candidates with that key


class Weights(NamedTuple):
    """Match weights of all comparisons, in bits."""

    disagreement: FloatArray  # (K,)
    segment: FloatArray  # (segments,): NaN where it is interpolated between numbers
    knot_first: LongArray  # (K + 1,): where the knots of each attribute begin
    knot: FloatArray  # ascending differences
    knot_weight: FloatArray  # the weight at each


@kernel
def compared(blocks: Blocks, row: int, stamp: int, mark: LongArray, found: IntArray) -> int:
    """Write the candidates of a query's blocks to `found`; return their number.

    `mark` stamps candidates already found; no two calls may use the same stamp.
    """
    size = 0
    for b in range(blocks.key.shape[1]):
        key = blocks.key[row, b]
        if key < 0:
            continue
        for at in range(blocks.first[key], blocks.first[key + 1]):
            candidate = blocks.member[at]
            if mark[candidate] != stamp:
                mark[candidate] = stamp
                found[size] = candidate
                size += 1
    return size


@kernel
def _enlarged(table: LongArray) -> LongArray:
    """Rehash a table into one of twice the size."""
    larger = np.full((2 * len(table), 2), -1, dtype=np.int64)
    for at in range(len(table)):
        if table[at, 0] >= 0:
            place = _place(larger, table[at, 0])
            larger[place, 0] = table[at, 0]
            larger[place, 1] = table[at, 1]
    return larger


@kernel(inline="always")
def _place(table: LongArray, pattern: int) -> int:
    """Find the position of a pattern in a table whose size is a power of two (linear probing)."""
    mask = len(table) - 1
    mixed = (pattern ^ (pattern >> 31)) * 0x1E3779B97F4A7C15
    place = (mixed ^ (mixed >> 32)) & mask
    while table[place, 0] != pattern and table[place, 0] >= 0:
        place = (place + 1) & mask
    return place


@kernel
def _paint(coded: Coded, code: int, shift: int, lookup: LongArray) -> None:
    for segment in range(coded.segment_first[code], coded.segment_first[code + 1]):
        level = np.int64(coded.level[segment]) << shift
        if coded.level[segment] > 1:  # disagreement is there already
            for slot in range(coded.start[segment], coded.stop[segment]):
                lookup[slot] = level


@kernel
def _clean(
    coded: Coded, code: int, least_level: int, blank: float | np.int64, lookup: NDArray[np.generic]
) -> None:
    """Clear the marks of segments of at least some level."""
    for segment in range(coded.segment_first[code], coded.segment_first[code + 1]):
        if coded.level[segment] >= least_level:
            for slot in range(coded.start[segment], coded.stop[segment]):
                lookup[slot] = blank


@kernel
def _find_patterns(
    coded: Coded, row: int, candidates: IntArray, lookup: LongArray, pattern: LongArray
) -> None:
    """Write the patterns of a query with some candidates to the beginning of `pattern`."""
    pattern[: candidates.size] = 0
    for k in range(coded.candidate_slot.shape[0]):
        code = coded.query_code[row, k]
        if code < 0:
            continue
        _paint(coded, code, LEVEL_BITS * k, lookup)
        slots = coded.candidate_slot[k]
        for at in range(candidates.size):
            pattern[at] += lookup[slots[candidates[at]]]
        _clean(coded, code, 2, np.int64(1) << (LEVEL_BITS * k), lookup)


@kernel
def count_patterns(coded: Coded, blocks: Blocks, first: int, last: int, table: LongArray) -> LongArray:
    """Count the agreement patterns of queries `first` to `last`-1 with the candidates of their blocks.

    `table` (power of two, 2) is a hash table of patterns, -1 where it is empty, and their counts; the result
    is the same array or a larger one.
    """
    attributes, candidates = coded.candidate_slot.shape
    lookup = np.zeros(coded.slot_first[attributes], dtype=np.int64)
    for k in range(attributes):
        lookup[coded.slot_first[k] : coded.slot_first[k + 1] - 1] = np.int64(1) << (LEVEL_BITS * k)
    pattern = np.empty(candidates, dtype=np.int64)
    mark = np.full(candidates, -1, dtype=np.int64)
    found = np.arange(candidates).astype(np.int32)
    filled = (table[:, 0] >= 0).sum()
    for row in range(first, last):
        size = candidates if blocks.key.shape[1] == 0 else compared(blocks, row, row, mark, found)
        _find_patterns(coded, row, found[:size], lookup, pattern)
        times = coded.query_times[row]
        for at in range(size):
            place = _place(table, pattern[at])
            if table[place, 0] < 0:
                table[place, 0] = pattern[at]
                table[place, 1] = 0
                filled += 1
            table[place, 1] += times * coded.candidate_times[found[at]]
            if 2 * filled > len(table):
                table = _enlarged(table)
    return table


@kernel
def _between(difference: float, knot: FloatArray, height: FloatArray) -> float:
    """Interpolate linearly between the knots; constant outside."""
    after = 0
    while after < knot.size and knot[after] < difference:
        after += 1
    if after == 0:
        return float(height[0])
    if after == knot.size:
        return float(height[-1])
    share = (difference - knot[after - 1]) / (knot[after] - knot[after - 1])
    return float(height[after - 1] + share * (height[after] - height[after - 1]))


@kernel
def _paint_weights(coded: Coded, weights: Weights, k: int, code: int, lookup: FloatArray) -> None:
    knot = weights.knot[weights.knot_first[k] : weights.knot_first[k + 1]]
    height = weights.knot_weight[weights.knot_first[k] : weights.knot_first[k + 1]]
    for segment in range(coded.segment_first[code], coded.segment_first[code + 1]):
        weight = weights.segment[segment]
        if not np.isnan(weight):
            lookup[coded.start[segment] : coded.stop[segment]] = weight
            continue
        for slot in range(coded.start[segment], coded.stop[segment]):
            difference = abs(coded.query_value[code] - coded.slot_value[slot])
            lookup[slot] = _between(difference, knot, height)


@kernel
def add_weights(
    coded: Coded, blocks: Blocks, weights: Weights, rows: NDArray[np.intp], total: FloatArray
) -> None:
    """Write the match weight of some queries with every candidate to `total`, (rows, candidates).

    -inf where a pair is not compared.
    """
    attributes, candidates = coded.candidate_slot.shape
    lookup = np.zeros(coded.slot_first[attributes])
    for k in range(attributes):
        lookup[coded.slot_first[k] : coded.slot_first[k + 1] - 1] = weights.disagreement[k]
    mark = np.full(candidates, -1, dtype=np.int64)
    found = np.arange(candidates).astype(np.int32)
    every = blocks.key.shape[1] == 0
    for at in range(rows.size):
        row = rows[at]
        size = candidates if every else compared(blocks, row, at, mark, found)
        own = total[at]
        own[:] = 0.0 if every else -np.inf
        for place in range(size):
            own[found[place]] = 0.0
        for k in range(attributes):
            code = coded.query_code[row, k]
            if code < 0:
                continue
            _paint_weights(coded, weights, k, code, lookup)
            slots = coded.candidate_slot[k]
            for place in range(size):
                own[found[place]] += lookup[slots[found[place]]]
            _clean(coded, code, 1, weights.disagreement[k], lookup)


class Groups(NamedTuple):
    """Candidates by their keys, P passes one after the other."""

    key: LongArray  # (queries, P): code of each query's key, -1 when missing or without candidates
    first: LongArray  # (codes + 1,): where the members of each code begin
    member: IntArray  # candidates with that key


@kernel
def fill_pairs(
    groups: Groups,
    first: int,
    last: int,
    mark: LongArray,
    query: IntArray,
    candidate: IntArray,
    at: ByteArray,
) -> int:
    """Write the pairs of queries `first` to `last`-1, each once with the first pass that has it.

    `mark` holds the last query that each candidate was found with. Returns how many pairs there are.
    """
    size = 0
    for row in range(first, last):
        for p in range(groups.key.shape[1]):
            key = groups.key[row, p]
            if key < 0:
                continue
            for place in range(groups.first[key], groups.first[key + 1]):
                other = groups.member[place]
                if mark[other] != row:
                    mark[other] = row
                    query[size], candidate[size], at[size] = row, other, p
                    size += 1
    return size


@kernel
def equal_levels(
    first: IntArray, second: IntArray, query: IntArray, candidate: IntArray, level: ByteArray
) -> None:
    """Write 0 where a code is missing, 2 where both are equal, else 1."""
    for at in range(query.size):
        a, b = first[query[at]], second[candidate[at]]
        level[at] = 0 if a < 0 or b < 0 else (2 if a == b else 1)


@kernel
def near_levels(
    first: FloatArray,
    second: FloatArray,
    thresholds: FloatArray,
    rounding: float,
    query: IntArray,
    candidate: IntArray,
    level: ByteArray,
) -> None:
    """Write 0 where a number is missing, else 1 plus the number of thresholds not exceeded."""
    for at in range(query.size):
        a, b = first[query[at]], second[candidate[at]]
        level[at] = 0
        if a == a and b == b:
            level[at] = 1
            for threshold in thresholds:
                # As for all pairs: the rounding error is relative to the larger value or threshold.
                if abs(a - b) <= threshold + rounding * (abs(a) + threshold):
                    level[at] += 1


@kernel
def add_agreement(
    first: IntArray,
    second: IntArray,
    extra: FloatArray,
    query: IntArray,
    candidate: IntArray,
    weight: FloatArray,
) -> None:
    """Add the `extra` weight of their common value to the weight of every pair with equal codes."""
    for at in range(query.size):
        a = first[query[at]]
        if a >= 0 and a == second[candidate[at]]:
            weight[at] += extra[a]
