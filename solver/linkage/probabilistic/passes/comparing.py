"""The pairs of all passes with their agreement patterns, and how all other pairs agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import FloatArray, IntArray
from linkrisk.solver.linkage.helpers import Helpers
from linkrisk.solver.linkage.probabilistic.comparisons import Comparison
from linkrisk.solver.linkage.probabilistic.em import OutsidePairs
from linkrisk.solver.linkage.probabilistic.kernels import LEVEL_BITS
from linkrisk.solver.linkage.probabilistic.passes.joining import JoinedFiles, Pairs
from linkrisk.solver.linkage.probabilistic.passes.levels import PairLevels, ValueLevels
from linkrisk.solver.linkage.probabilistic.passes.shares import Patterns, compared_by, patterns_of
from linkrisk.solver.linkage.probabilistic.patterns import PatternCounts

RANDOM_PAIRS = 1 << 22
"""How many pairs drawn at random tell how all pairs agree; files with fewer pairs are compared whole."""

_AT_ONCE = 1 << 20

_DEARER = 5
"""Pairs of all pairs that cost as much as a pair of a pass, whose values are compared one by one."""


@dataclass(frozen=True, eq=False)
class ComparedPairs:
    """Every pair of some pass, once, in the order of queries.

    Attributes
    ----------
    pairs : Pairs
    pattern : ndarray of int32, shape (pairs,)
        Which of the patterns each has.
    counts : PatternCounts
    """

    pairs: Pairs
    pattern: IntArray
    counts: PatternCounts


def compare_pairs(
    joined: JoinedFiles, levels: Sequence[PairLevels], helpers: Helpers | None = None
) -> ComparedPairs:
    """Compare the pairs of all passes, and number their patterns as they come."""
    number: dict[int, int] = {}
    # Room for all, of which the memory is taken only where something is written.
    most = sum(joined.pairs)
    room = Pairs(np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most, np.uint8))
    pattern, size = np.empty(most, dtype=np.int32), 0
    by_others = helpers is not None and helpers.worth(_DEARER * most)
    looks = compared_by(helpers, joined, levels) if helpers and by_others else _compared(joined, levels)
    for pairs, (place, distinct) in looks:
        known = [number.setdefault(one, len(number)) for one in distinct.tolist()]
        part = slice(size, size + place.size)
        pattern[part] = np.array(known, dtype=np.int32)[place]
        room.query[part], room.candidate[part] = pairs.query, pairs.candidate
        room.first_pass[part] = pairs.first_pass
        size = part.stop
    return ComparedPairs(
        room.part(slice(size)), pattern[:size], _counted(pattern[:size], number, len(levels))
    )


def _compared(joined: JoinedFiles, levels: Sequence[PairLevels]) -> Iterator[tuple[Pairs, Patterns]]:
    """All pairs, some at a time, with their patterns."""
    for pairs in joined.batches():
        yield pairs, patterns_of(pairs, levels)


def _counted(pattern: IntArray, number: Mapping[int, int], attributes: int) -> PatternCounts:
    """How often each of the numbered patterns occurs."""
    code = np.fromiter(number, dtype=np.int64, count=len(number))
    table = (code[:, None] >> (LEVEL_BITS * np.arange(attributes))) & ((1 << LEVEL_BITS) - 1)
    counts = np.bincount(pattern, minlength=len(number)).astype(np.float64)
    return PatternCounts(table.astype(np.uint8), counts)


def outside_pairs(
    compared: ComparedPairs, levels: Sequence[PairLevels], queries: int, candidates: int, seed: int
) -> OutsidePairs:
    """How the pairs agree that no pass compares, from all pairs or a random sample of these.

    Parameters
    ----------
    compared : ComparedPairs
    levels : sequence of PairLevels, length K
    queries, candidates : int
        How many records there are.
    seed : int
        Of the sample.
    """
    every = queries * candidates
    if every <= RANDOM_PAIRS:
        query, candidate = (side.ravel().astype(np.int32) for side in np.indices((queries, candidates)))
    else:
        random = np.random.default_rng(seed)
        query = random.integers(queries, size=RANDOM_PAIRS, dtype=np.int32)
        candidate = random.integers(candidates, size=RANDOM_PAIRS, dtype=np.int32)
    counts = compared.counts
    outside = []
    for k, attribute in enumerate(levels):
        size = attribute.comparison.levels
        seen = np.bincount(counts.patterns[:, k], counts.counts, minlength=size + 1)[1:]
        outside.append(np.maximum(_among_all(attribute, query, candidate, every) - seen, 0.0))
    return OutsidePairs(every - counts.pairs, tuple(outside))


def _among_all(attribute: PairLevels, query: IntArray, candidate: IntArray, every: int) -> FloatArray:
    """How many of all pairs are at each level, disagreement first, from some of them.

    Equal values are counted, not drawn: they may be too rare to be met.
    """
    size = attribute.comparison.levels
    drawn, twins = np.zeros(size), 0
    for begin in range(0, query.size, _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        level = attribute.of(query[part], candidate[part])
        if isinstance(attribute, ValueLevels):
            twin = (level > 0) & (attribute.first[query[part]] == attribute.second[candidate[part]])
            twins += int(twin.sum())
            level[twin] = 0
        drawn += np.bincount(level, minlength=size + 1)[1:]
    if query.size == every:
        drawn[-1] += twins
        return drawn
    known = [float(side.sum()) for side in attribute.known]
    both = known[0] * known[1]
    equal = 0.0
    if isinstance(attribute, ValueLevels):
        first, second = attribute.shares()
        equal = both * float(first @ second)
    among = drawn * ((both - equal) / (drawn.sum() or 1.0))
    among[-1] += equal
    return among


def without_interpolation(comparison: Comparison) -> Comparison:
    """The same levels, each with one weight."""
    return Comparison(comparison.measure, comparison.thresholds)
