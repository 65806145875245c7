"""Shares of the pairs of two coded files, compared by workers: all pairs, or those of passes."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, IndexArray, LongArray
from linkrisk.solver.linkage.pair_shares import TASKS_EACH, Helpers, ReadyPairs, Rows, places, shared_out
from linkrisk.solver.linkage.probabilistic.cutting import Codes, cut_codes, cut_groups, met_by
from linkrisk.solver.linkage.probabilistic.kernels import LEVEL_BITS, Blocks, Groups, add_weights
from linkrisk.solver.linkage.probabilistic.match_weights import Thresholds
from linkrisk.solver.linkage.probabilistic.pairs import (
    PAIRS_AT_ONCE,
    JoinedFiles,
    PairLevels,
    Pairs,
    found_pairs,
)
from linkrisk.solver.linkage.probabilistic.patterns import (
    PatternCounts,
    added_up,
    agreement_patterns,
    as_counts,
    table_of_patterns,
)
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.remote import Deferred

_LEAST_OF_ROW = 4_096
"""Pairs that a query counts for at least where keys are compared: its own codes have to be sent, too."""

_CELLS_AT_ONCE = 1 << 20
"""Weights that a thread holds at a time: 8 MB."""

_PAIRS = 1 << 28
"""Most pairs of a share where keys are compared, unless one query alone has more."""

_FEWEST = 1 << 14
"""Pairs of passes in a task: fewer are not worth their way."""

# ---- all pairs


class CodedPairs(ReadyPairs):
    """The pairs of all queries with all candidates of coded files."""

    def __init__(self, codes: Codes) -> None:
        self.codes = codes

    @property
    def shape(self) -> tuple[int, int]:
        """How many queries and candidates there are."""
        coded = self.codes.coded
        return len(coded.query_code), coded.candidate_slot.shape[1]

    def times(self, rows: slice) -> FloatArray:
        """Pairs of records that each pair of some queries with all candidates stands for."""
        coded = self.codes.coded
        return np.outer(coded.query_times[rows], coded.candidate_times).astype(np.float64)

    def scores(self, rows: IndexArray) -> FloatArray:
        """Match weights (see `ReadyPairs.scores`)."""
        coded, blocks, weights = self.codes
        assert weights is not None
        total = np.empty((rows.size, self.shape[1]))
        add_weights(coded, blocks, weights, rows, total)
        return total


def share_of(codes: Codes, rows: Rows, candidates: Rows) -> Deferred[CodedPairs]:
    """Share of some queries and some candidates, the latter in ascending order."""
    return Deferred(_cut, codes, rows, candidates)


def _cut(codes: Codes, rows: Rows, candidates: Rows) -> CodedPairs:
    return CodedPairs(cut_codes(codes, places(rows), places(candidates)))


def patterns_by(codes: Codes, helpers: Helpers | None) -> PatternCounts:
    """Count agreement patterns, by workers where that is worth it (see `agreement_patterns`)."""
    queries, attributes = codes.coded.query_code.shape
    candidates = codes.coded.candidate_slot.shape[1]
    keyed = codes.blocks.key.shape[1] > 0
    pairs = _pairs_of_rows(codes.blocks)
    if helpers is None or not helpers.worth(float(pairs.sum()) if keyed else queries * candidates):
        return agreement_patterns(codes.coded, codes.blocks)

    def plan(many: int) -> Sequence[Deferred[CodedPairs]]:
        return _by_keys(codes, pairs, many) if keyed else every_pair(codes, many)

    table = np.empty((0, 2), dtype=np.int64)
    for _, counted in helpers.answers(None, _count, plan):
        table = added_up([table, counted])
    return as_counts(table, attributes)


def every_pair(codes: Codes, many: int) -> list[Deferred[CodedPairs]]:
    """Shares that make up all pairs, compared or not, for so many workers."""
    queries, attributes = codes.coded.query_code.shape
    candidates = codes.coded.candidate_slot.shape[1]
    return [share_of(codes, *share) for share in shared_out(queries, candidates, attributes, many)]


def _pairs_of_rows(blocks: Blocks) -> LongArray:
    """Pairs of each query by all its keys, those that agree on several of them counted as often."""
    size = np.append(np.diff(blocks.first), 0)  # the last one for keys that no candidate has
    return np.asarray(size[blocks.key].sum(axis=1), dtype=np.int64)


def _by_keys(codes: Codes, pairs: LongArray, many: int) -> list[Deferred[CodedPairs]]:
    """Shares of queries with equal keys and the candidates that have one of their keys."""
    blocks, attributes = codes.blocks, codes.coded.query_code.shape[1]
    rows = np.flatnonzero(pairs)
    rows = rows[np.lexsort(blocks.key[rows].T[::-1])]
    cost = np.cumsum(np.maximum(pairs[rows], _LEAST_OF_ROW))
    each = min(_PAIRS, max(1, int(cost[-1]) // (TASKS_EACH * many)))
    shares: list[Deferred[CodedPairs]] = []
    for part in np.split(rows, np.flatnonzero(np.diff(cost // each)) + 1):
        met = met_by(*blocks, part)
        for _, columns in shared_out(1, met.size, attributes, 1):
            shares.append(share_of(codes, part, met[columns]))
    return shares


def _count(given: None, share: Deferred[CodedPairs], clock: Clock) -> LongArray:
    """Count the patterns of a share, at a worker."""
    del given
    codes = share.made().codes
    return table_of_patterns(codes.coded, codes.blocks, clock.threads, lambda: clock.expired)


def outcomes_by(codes: Codes, thresholds: Thresholds, helpers: Helpers | None) -> dict[str, float]:
    """Count links, clerical pairs and non-links by their own weights; by workers where that is worth it."""
    pairs = CodedPairs(codes)
    if helpers is not None and helpers.worth(math.prod(pairs.shape)):
        answers = helpers.answers(thresholds, _decide, lambda many: every_pair(codes, many))
        return _together(found for _, found in answers)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return _together(pool.map(lambda part: _outcomes(thresholds, pairs, part), _parts(pairs)))


def _parts(pairs: CodedPairs) -> list[slice]:
    """Queries whose weights a thread holds at a time."""
    queries, candidates = pairs.shape
    size = max(1, _CELLS_AT_ONCE // candidates)
    return [slice(first, min(first + size, queries)) for first in range(0, queries, size)]


def _together(found: Iterable[dict[str, float]]) -> dict[str, float]:
    """Add up outcomes; numbers are whole, so that their order does not matter."""
    total = dict.fromkeys(("linked", "clerical", "non_linked"), 0.0)
    for some in found:
        for name, count in some.items():
            total[name] += count
    return total


def _outcomes(thresholds: Thresholds, pairs: CodedPairs, part: slice) -> dict[str, float]:
    weights = pairs.scores(np.arange(part.start, part.stop))
    return thresholds.outcomes(weights.ravel(), pairs.times(part).ravel())


def _decide(thresholds: Thresholds, share: Deferred[CodedPairs], clock: Clock) -> dict[str, float]:
    """Count the outcomes of a share, at a worker."""
    pairs, found = share.made(), []
    for part in _parts(pairs):
        found.append(_outcomes(thresholds, pairs, part))
        if clock.expired:
            break
    return _together(found)


# ---- pairs of passes

Patterns = tuple[NDArray[np.integer], LongArray]
"""Of some pairs: which of the distinct patterns each has, and these in the order of their first pairs."""


def patterns_of(pairs: Pairs, levels: Sequence[PairLevels]) -> Patterns:
    """Compare some pairs, attribute by attribute."""
    code = np.zeros(pairs.query.size, dtype=np.int64)
    for k, attribute in enumerate(levels):
        code |= attribute.of(pairs.query, pairs.candidate).astype(np.int64) << (LEVEL_BITS * k)
    return pd.factorize(code)


@dataclass(frozen=True, eq=False)
class RangeOfQueries:
    """Some queries with the candidates that a pass compares with one of them, so many."""

    groups: Groups
    levels: tuple[PairLevels, ...]
    candidates: int


def range_share(
    groups: Groups, levels: Sequence[PairLevels], first: int, last: int
) -> Deferred[RangeOfQueries]:
    """Share of the queries from `first` up to, but not with `last`."""
    return Deferred(_cut_range, groups, tuple(levels), first, last)


def _cut_range(groups: Groups, levels: Sequence[PairLevels], first: int, last: int) -> RangeOfQueries:
    rows = np.arange(first, last)
    candidates = met_by(*groups, rows)
    own = Groups(*cut_groups(*groups, rows, candidates))
    return RangeOfQueries(own, tuple(each.part(rows, candidates) for each in levels), candidates.size)


def compared_by(
    helpers: Helpers, joined: JoinedFiles, levels: Sequence[PairLevels]
) -> Iterator[tuple[Pairs, Patterns]]:
    """Yield all pairs in the order of queries, some at a time, with the patterns that workers found."""
    ranges: list[tuple[int, int]] = []

    def plan(many: int) -> list[Deferred[RangeOfQueries]]:
        each = sum(joined.pairs) // (TASKS_EACH * many)
        ranges.extend(joined.ranges(min(PAIRS_AT_ONCE, max(_FEWEST, each))))
        return [range_share(joined.groups, levels, *ends) for ends in ranges]

    waiting: dict[int, Patterns] = {}
    pairs = joined.batches(ranges)  # read when the first answer is there, and the ranges are known
    following = 0
    for at, patterns in helpers.answers(None, _compare, plan):
        waiting[at] = patterns
        while following in waiting:
            yield next(pairs), waiting.pop(following)
            following += 1


def _compare(given: None, share: Deferred[RangeOfQueries], clock: Clock) -> Patterns:
    """Compare the pairs of some queries, at a worker; the parent finds the pairs again by itself."""
    del given
    some = share.made()
    for attribute in some.levels:
        attribute.threads = clock.threads
    mark = np.full(some.candidates, -1, dtype=np.int64)
    pairs = found_pairs(some.groups, 0, len(some.groups.key), mark)
    place, distinct = patterns_of(pairs, some.levels)
    return place.astype(np.min_scalar_type(distinct.size)), distinct
