"""Count the agreement patterns of all pairs of records, without storing the pairs."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, IndexArray, LongArray
from linkrisk.formulations.compiled import kernel
from linkrisk.solver.linkage.probabilistic.coding import CodedColumn
from linkrisk.solver.linkage.probabilistic.comparisons import DIFFERENCES, SIMILARITIES, Comparison
from linkrisk.solver.linkage.probabilistic.kernels import LEVEL_BITS, Blocks, Coded, count_patterns
from linkrisk.solver.linkage.score_ranks import Kinds
from linkrisk.solver.run.errors import UsageError

_ROWS_PER_TASK = 256
_SMALLEST_TABLE = 1 << 12

LARGEST_TABLE = 1 << 25
"""Rows of one thread's hash table of patterns, at most half of them used: 512 MB."""


@dataclass(frozen=True, eq=False)
class PatternCounts:
    """Frequencies of the agreement patterns."""

    # (G, K): the level of each attribute: 0 missing in a record of the pair, 1 disagreement, higher ones
    # agreement up to full agreement
    patterns: NDArray[np.uint8]
    counts: FloatArray  # (G,): pairs with that pattern; need not be integers

    @property
    def pairs(self) -> float:
        """Number of compared pairs."""
        return float(self.counts.sum())


def agreement_patterns(coded: Coded, blocks: Blocks, threads: int | None = None) -> PatternCounts:
    """Count patterns of all pairs of records, or those that share a blocking key, on all cores.

    Memory grows with the patterns that occur, not with the pairs.
    """
    table = table_of_patterns(coded, blocks, threads or os.cpu_count() or 1)
    return as_counts(table, coded.query_code.shape[1])


def table_of_patterns(
    coded: Coded, blocks: Blocks, threads: int, stop: Callable[[], bool] = lambda: False
) -> LongArray:
    """Count patterns as a table, shape (G, 2): codes of patterns in ascending order, and frequencies."""
    queries = len(coded.query_code)
    firsts = iter(range(0, queries, _ROWS_PER_TASK))  # shared by the threads: next() is atomic

    def task(_: int) -> LongArray:
        table = np.full((_SMALLEST_TABLE, 2), -1, dtype=np.int64)
        for first in firsts:
            last = min(first + _ROWS_PER_TASK, queries)
            table = count_patterns(coded, blocks, first, last, table)
            _check_patterns(len(table))
            if stop():
                break
        return table[table[:, 0] >= 0]

    if threads == 1:
        return added_up([task(0)])
    with ThreadPoolExecutor(threads) as pool:
        return added_up(list(pool.map(task, range(threads))))


def _check_patterns(rows: int) -> None:
    """Refuse a table of more than `LARGEST_TABLE` rows."""
    if rows > LARGEST_TABLE:
        raise UsageError(
            f"there are more than {LARGEST_TABLE // 2:,} agreement patterns: compare fewer "
            "attributes, or with fewer thresholds"
        )


def added_up(tables: Sequence[LongArray]) -> LongArray:
    """Add tables of patterns, which have integer counts."""
    table = np.concatenate(tables)
    keys, place = np.unique(table[:, 0], return_inverse=True)
    _check_patterns(2 * keys.size)
    counts = np.zeros(keys.size, dtype=np.int64)
    np.add.at(counts, place, table[:, 1])
    return np.stack([keys, counts], axis=1)


def as_counts(table: LongArray, attributes: int) -> PatternCounts:
    """Decode a table of patterns to levels."""
    shifts = LEVEL_BITS * np.arange(attributes)
    levels = (table[:, :1] >> shifts) & ((1 << LEVEL_BITS) - 1)
    return PatternCounts(levels.astype(np.uint8), table[:, 1].astype(np.float64))


MOST_RANGES = 2
"""Most attributes compared by differences: each adds a dimension to a table."""

_PAIR, _GROUPED, _RANGE, _BOTH = 1e-9, 0.2e-6, 0.15e-6, 0.3e-6
"""Seconds, roughly: to compare an attribute of a pair on two cores; to put a record into groups; to count a
range of one attribute for a record, and of two."""


@dataclass(frozen=True, eq=False)
class Agreement:
    """Agreement of the values of an attribute."""

    column: CodedColumn
    # (queries,), (candidates,): codes of query values, and slots of candidate values; -1 missing
    query: IndexArray
    candidate: IndexArray
    levels: int  # levels above disagreement
    ranges: bool  # whether levels are ranges of sorted values; otherwise there is one, equality

    @classmethod
    def of(cls, column: CodedColumn, comparison: Comparison, kinds: tuple[Kinds, Kinds]) -> Agreement:
        """Build the agreement of one attribute, for the first records of all kinds."""
        query, candidate = column.query_code[kinds[0].first], column.candidate_slot[kinds[1].first]
        ranges = comparison.measure in DIFFERENCES
        return cls(column, query.astype(np.intp), candidate.astype(np.intp), comparison.levels - 1, ranges)

    @property
    def lacking(self) -> bool:
        """Whether any value is missing."""
        return bool((self.query < 0).any() or (self.candidate < 0).any())

    @property
    def steps(self) -> int:
        """List all pairs, those of known values if any are missing, and each level."""
        return 1 + self.lacking + self.levels

    @property
    def slots(self) -> int:
        """Distinct values of candidates."""
        return int(self.column.slot_value.size)

    def level(self, step: int) -> int:
        """Lowest level of pairs counted at a step; 0 or less without agreement."""
        return step - self.lacking

    def reached(self, level: int) -> tuple[IndexArray, IndexArray]:
        """Find the slots in which each query value agrees at least at a level (1 is the lowest)."""
        segments = self.column.segments
        many = segments.start.size // max(1, segments.number.size)
        place = np.arange(segments.number.size) * many + many - self.levels + level - 1
        return segments.start[place].astype(np.intp), segments.stop[place].astype(np.intp)


class Grouped(NamedTuple):
    """Records of both files by group: pairs are formed within groups."""

    query: IndexArray  # (any,): rows
    candidate: IndexArray
    of_query: IndexArray  # (any,): their groups
    of_candidate: IndexArray

    def known(self, attribute: Agreement) -> Grouped:
        """Select those whose value is known."""
        first = attribute.query[self.query] >= 0
        second = attribute.candidate[self.candidate] >= 0
        return Grouped(
            self.query[first], self.candidate[second], self.of_query[first], self.of_candidate[second]
        )

    def equal(self, attribute: Agreement) -> Grouped:
        """Split groups by equal values."""
        start, stop = attribute.reached(1)
        slot = np.append(np.where(start < stop, start, -1), -1)[attribute.query[self.query]]
        other, width = attribute.candidate[self.candidate], attribute.slots + 1
        both = np.concatenate([self.of_query * width + slot, self.of_candidate * width + other])
        kinds = Kinds.of((both,), both.size)
        first, second = np.split(kinds.kind, [slot.size])
        met = np.zeros((2, kinds.first.size), dtype=np.bool_)
        met[0, first[slot >= 0]] = met[1, second[other >= 0]] = True
        own, its = (slot >= 0) & met[1, first], (other >= 0) & met[0, second]
        return Grouped(self.query[own], self.candidate[its], first[own], second[its])

    def pairs(self, times: tuple[LongArray, LongArray]) -> int:
        """Count the pairs; `times` are the numbers of records that rows represent."""
        groups = 1 + max(int(self.of_query.max(initial=-1)), int(self.of_candidate.max(initial=-1)))
        first, second = np.zeros(groups, dtype=np.int64), np.zeros(groups, dtype=np.int64)
        np.add.at(first, self.of_query, times[0][self.query])
        np.add.at(second, self.of_candidate, times[1][self.candidate])
        return int(first @ second)


def worth_counting_jointly(
    columns: Sequence[CodedColumn], comparisons: Sequence[Comparison], kinds: tuple[Kinds, Kinds]
) -> bool:
    """Whether joint counting is possible, and faster than pair by pair."""
    if any(how.measure in SIMILARITIES for how in comparisons):
        return False
    queries, candidates = (side.first.size for side in kinds)
    attributes = [Agreement.of(*each, kinds) for each in zip(columns, comparisons, strict=True)]
    ranges = [attribute for attribute in attributes if attribute.ranges]
    if len(ranges) > MOST_RANGES:
        return False
    each = _GROUPED + _RANGE * sum(attribute.steps for attribute in ranges)
    if len(ranges) == MOST_RANGES:
        each += _BOTH * math.prod(attribute.levels for attribute in ranges)
    choices = math.prod(attribute.steps for attribute in attributes if not attribute.ranges)
    return choices * each * (queries + candidates) + 1.0 < _PAIR * len(attributes) * queries * candidates


def joint_table(
    columns: Sequence[CodedColumn], comparisons: Sequence[Comparison], kinds: tuple[Kinds, Kinds]
) -> LongArray:
    """Count patterns jointly: codes in ascending order, and frequencies, shape (G, 2).

    See `patterns.table_of_patterns`. At most `MOST_RANGES` attributes are compared by differences, and none
    by similarity.
    """
    attributes = [Agreement.of(*each, kinds) for each in zip(columns, comparisons, strict=True)]
    # Ranges last: they are counted within groups of equal values.
    order = sorted(range(len(attributes)), key=lambda k: attributes[k].ranges)
    equal = [attributes[k] for k in order if not attributes[k].ranges]
    ranges = [attributes[k] for k in order if attributes[k].ranges]
    times = kinds[0].times, kinds[1].times
    reached = np.zeros([attributes[k].steps for k in order], dtype=np.int64)
    rows = [np.arange(side.first.size) for side in kinds]
    whole = Grouped(rows[0], rows[1], np.zeros_like(rows[0]), np.zeros_like(rows[1]))
    for place, groups in _refined(whole, equal):
        reached[place] = _in_ranges(groups, ranges, times)
    for axis in range(reached.ndim):
        upper = [slice(None)] * reached.ndim
        lower = list(upper)
        upper[axis], lower[axis] = slice(1, None), slice(None, -1)
        reached[tuple(lower)] -= reached[tuple(upper)]
    met = np.nonzero(reached)
    code = np.zeros(met[0].size, dtype=np.int64)
    for k, steps in zip(order, met, strict=True):
        code += (steps + (not attributes[k].lacking)).astype(np.int64) << (LEVEL_BITS * k)
    sort = np.argsort(code)
    return np.stack([code[sort], reached[met][sort]], axis=1)


def _refined(groups: Grouped, attributes: Sequence[Agreement]) -> Iterator[tuple[tuple[int, ...], Grouped]]:
    """Yield the groups of records for every combination of steps of attributes compared by equality."""
    if not attributes:
        yield (), groups
        return
    own, others = attributes[0], attributes[1:]
    for step in range(own.steps):
        narrowed = groups.equal(own) if own.level(step) == 1 else groups.known(own)
        finer = narrowed if step else groups
        for place, found in _refined(finer, others):
            yield (step, *place), found


def _in_ranges(
    groups: Grouped, ranges: Sequence[Agreement], times: tuple[LongArray, LongArray]
) -> LongArray | int:
    """Count pairs of a group for every combination of steps of attributes compared by differences."""
    if not ranges:
        return groups.pairs(times)
    own, others = ranges[0], ranges[1:]
    known = groups.known(own)
    found = [_in_ranges(groups, others, times)]
    if own.lacking:
        found.append(_in_ranges(known, others, times))
    steps = [step for step in range(own.steps) if own.level(step) > 0]
    found += [_one_range(known, own, own.level(step), others, times) for step in steps]
    return np.array(found, dtype=np.int64)


def _one_range(
    groups: Grouped,
    own: Agreement,
    level: int,
    others: Sequence[Agreement],
    times: tuple[LongArray, LongArray],
) -> LongArray | int:
    """Count pairs that reach a level of one attribute, for every step of another, if there is one."""
    places = _Places.of(groups, own, level)
    if not others:
        return places.pairs(times)
    other = others[0]
    found = [places.pairs(times)]
    known = groups.known(other)
    places = _Places.of(known, own, level)
    if other.lacking:
        found.append(places.pairs(times))
    start, stop = (
        np.stack(sides)[:, other.query[known.query]]
        for sides in zip(*(other.reached(one + 1) for one in range(other.levels)), strict=True)
    )
    slot = other.candidate[known.candidate[places.order]]
    counts = _count_both(
        _Ranges(places.first, places.last, start, stop),
        times[0][known.query],
        slot,
        times[1][known.candidate[places.order]],
        np.argsort(np.concatenate([places.first, places.last]), kind="stable"),
        other.slots,
    )
    return np.array([*found, *counts.tolist()], dtype=np.int64)


class _Places(NamedTuple):
    """Candidates sorted by group and value, with the range of each query at each level."""

    groups: Grouped
    order: IndexArray
    first: IndexArray
    last: IndexArray

    @classmethod
    def of(cls, groups: Grouped, own: Agreement, level: int) -> _Places:
        """Sort candidates, and search the ends of ranges."""
        width = own.slots + 1
        key = groups.of_candidate * width + own.candidate[groups.candidate]
        order = np.argsort(key, kind="stable")
        start, stop = own.reached(level)
        code, base = own.query[groups.query], groups.of_query * width
        first, last = (np.searchsorted(key[order], base + side[code]) for side in (start, stop))
        return cls(groups, order, first, np.maximum(first, last))

    def pairs(self, times: tuple[LongArray, LongArray]) -> int:
        """How many there are."""
        below = np.concatenate([[0], np.cumsum(times[1][self.groups.candidate[self.order]])])
        return int(times[0][self.groups.query] @ (below[self.last] - below[self.first]))


@kernel(inline="always")
def _below(tree: LongArray, slot: int) -> int:
    """Sum a Fenwick tree below a slot."""
    found = 0
    while slot > 0:
        found += tree[slot]
        slot -= slot & -slot
    return found


class _Ranges(NamedTuple):
    """Ranges of candidates, and of slots at each level."""

    first: IndexArray  # (queries,)
    last: IndexArray
    start: IndexArray  # (levels, queries)
    stop: IndexArray


@kernel
def _count_both(
    ranges: _Ranges,
    times: LongArray,
    slot: IndexArray,
    candidate_times: LongArray,
    ends: IndexArray,
    slots: int,
) -> LongArray:
    """Count pairs whose candidate is in the query's range, and whose slot is in each of some ranges.

    Candidates are added to a tree of partial sums (Fenwick 1994) over their slots; the content of a range is
    the difference between its end and its beginning. `ends` (2 queries,) are the beginnings (numbers of
    queries) and ends (these plus the number of queries) of ranges in ascending order.
    """
    first, last, start, stop = ranges
    tree = np.zeros(slots + 1, dtype=np.int64)
    counts = np.zeros(start.shape[0], dtype=np.int64)
    place = 0
    for end in ends:
        query, sign = (end, -1) if end < first.size else (end - first.size, 1)
        until = first[query] if sign < 0 else last[query]
        while place < until:
            node = slot[place] + 1
            while node <= slots:
                tree[node] += candidate_times[place]
                node += node & -node
            place += 1
        if first[query] < last[query]:
            for level in range(start.shape[0]):
                inside = _below(tree, stop[level, query]) - _below(tree, start[level, query])
                counts[level] += sign * times[query] * inside
    return counts
