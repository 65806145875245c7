"""Link in several blocking passes, with m and u learned from the pairs of all passes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, IndexArray, IntArray, LongArray
from linkrisk.datasets.errors import DataError
from linkrisk.solver.linkage.linker import TASKS_EACH, Helpers, LinkageTask
from linkrisk.solver.linkage.parameters import USUAL_BAND, ProbabilisticParameters
from linkrisk.solver.linkage.probabilistic.all_pairs import estimated, read_parameters
from linkrisk.solver.linkage.probabilistic.blocking import (
    PAIRS_AT_ONCE,
    JoinedFiles,
    PairLevels,
    Pairs,
    Pass,
    ValueLevels,
    found_pairs,
    pair_levels,
    parse_pass,
)
from linkrisk.solver.linkage.probabilistic.coding import cut_groups, in_units, met_by, readable_columns
from linkrisk.solver.linkage.probabilistic.comparisons import Comparison
from linkrisk.solver.linkage.probabilistic.fellegi_sunter import (
    MOST_MATCHES,
    EMSettings,
    MatchWeights,
    OutsidePairs,
    Probabilities,
    Thresholds,
    error_rate_thresholds,
    pattern_weights,
)
from linkrisk.solver.linkage.probabilistic.kernels import LEVEL_BITS, Groups, add_agreement
from linkrisk.solver.linkage.probabilistic.patterns import PatternCounts, as_counts
from linkrisk.solver.linkage.score_ranks import ScoredPairs
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.remote import Deferred

_FEWEST = 1 << 14
"""Minimum pairs of a task: fewer are not worth sending."""


Patterns = tuple[NDArray[np.integer], LongArray]
"""Patterns of some pairs: the number of each one's pattern, and the distinct patterns."""


def patterns_of(pairs: Pairs, levels: Sequence[PairLevels]) -> Patterns:
    """Compare some pairs, attribute by attribute."""
    code = np.zeros(pairs.query.size, dtype=np.int64)
    for k, attribute in enumerate(levels):
        code |= attribute.of(pairs.query, pairs.candidate).astype(np.int64) << (LEVEL_BITS * k)
    return pd.factorize(code)


@dataclass(frozen=True, eq=False)
class RangeOfQueries:
    """Some queries with the number of candidates in their blocks."""

    groups: Groups
    levels: tuple[PairLevels, ...]
    candidates: int


def range_share(
    groups: Groups, levels: Sequence[PairLevels], first: int, last: int
) -> Deferred[RangeOfQueries]:
    """Extract the queries from `first` to `last`-1."""
    return Deferred(_cut_range, groups, tuple(levels), first, last)


def _cut_range(groups: Groups, levels: Sequence[PairLevels], first: int, last: int) -> RangeOfQueries:
    rows = np.arange(first, last)
    candidates = met_by(*groups, rows)
    own = Groups(*cut_groups(*groups, rows, candidates))
    return RangeOfQueries(own, tuple(each.part(rows, candidates) for each in levels), candidates.size)


def compared_by(
    helpers: Helpers, joined: JoinedFiles, levels: Sequence[PairLevels]
) -> Iterator[tuple[Pairs, Patterns]]:
    """Yield all pairs in the order of queries, in batches, with the patterns that workers found."""
    ranges: list[tuple[int, int]] = []

    def plan(many: int) -> list[Deferred[RangeOfQueries]]:
        each = sum(joined.pairs) // (TASKS_EACH * many)
        ranges.extend(joined.ranges(min(PAIRS_AT_ONCE, max(_FEWEST, each))))
        return [range_share(joined.groups, levels, *ends) for ends in ranges]

    waiting: dict[int, Patterns] = {}
    pairs = joined.batches(ranges)  # read with the first answer, when the ranges are known
    following = 0
    for at, patterns in helpers.answers(None, _compare, plan):
        waiting[at] = patterns
        while following in waiting:
            yield next(pairs), waiting.pop(following)
            following += 1


def _compare(given: None, share: Deferred[RangeOfQueries], clock: Clock) -> Patterns:
    """Compare the pairs of some queries on a worker; the parent finds the pairs itself."""
    del given
    some = share.made()
    for attribute in some.levels:
        attribute.threads = clock.threads
    mark = np.full(some.candidates, -1, dtype=np.int64)
    pairs = found_pairs(some.groups, 0, len(some.groups.key), mark)
    place, distinct = patterns_of(pairs, some.levels)
    return place.astype(np.min_scalar_type(distinct.size)), distinct


RANDOM_PAIRS = 1 << 22
"""Size of the random sample of all pairs; files with fewer pairs are compared completely."""

_AT_ONCE = 1 << 20

_DEARER = 5
"""Relative cost of a pair of a pass, compared value by value, in pairs of coded files."""


@dataclass(frozen=True, eq=False)
class ComparedPairs:
    """Every pair of some pass, once, in the order of queries."""

    pairs: Pairs
    pattern: IntArray  # (pairs,): number of each one's pattern
    counts: PatternCounts


def compare_pairs(
    joined: JoinedFiles, levels: Sequence[PairLevels], helpers: Helpers | None = None
) -> ComparedPairs:
    """Compare the pairs of all passes, and number their patterns in order of appearance."""
    number: dict[int, int] = {}
    # Allocated for all; the system provides memory when it is written.
    most = sum(joined.pairs)
    room = Pairs(np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most, np.uint8))
    pattern, size = np.empty(most, dtype=np.int32), 0
    batches: Iterable[tuple[Pairs, Patterns]]
    if helpers is not None and helpers.worth(_DEARER * most):
        batches = compared_by(helpers, joined, levels)
    else:
        batches = ((pairs, patterns_of(pairs, levels)) for pairs in joined.batches())
    for pairs, (place, distinct) in batches:
        known = [number.setdefault(one, len(number)) for one in distinct.tolist()]
        part = slice(size, size + place.size)
        pattern[part] = np.array(known, dtype=np.int32)[place]
        room.query[part], room.candidate[part] = pairs.query, pairs.candidate
        room.first_pass[part] = pairs.first_pass
        size = part.stop
    codes = np.fromiter(number, dtype=np.int64, count=len(number))
    table = np.stack([codes, np.bincount(pattern[:size], minlength=codes.size)], axis=1)
    return ComparedPairs(room.part(slice(size)), pattern[:size], as_counts(table, len(levels)))


def outside_pairs(
    compared: ComparedPairs, levels: Sequence[PairLevels], queries: int, candidates: int, seed: int
) -> OutsidePairs:
    """Count levels of agreement of the pairs outside all passes, from all pairs or a random sample."""
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
    """Estimate the number of all pairs at each level, disagreement first, from a sample.

    Pairs of equal values are counted exactly: they may be too rare for a sample.
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


@dataclass(frozen=True, eq=False)
class PassFiles:
    """Two files, and the compared pairs of all passes."""

    attributes: tuple[str, ...]
    comparisons: tuple[Comparison, ...]  # comparisons, in units of each attribute
    levels: tuple[PairLevels, ...]
    joined: JoinedFiles
    compared: ComparedPairs

    @classmethod
    def of(
        cls, task: LinkageTask, comparisons: Mapping[str, Comparison], passes: Sequence[Pass]
    ) -> PassFiles:
        """Join the files of a task and compare their pairs."""
        joined = JoinedFiles.of(task, passes)
        if not sum(joined.pairs):
            every = " or ".join(f"'{one}'" for one in passes)
            raise UsageError(
                f"no pair of records agrees on all keys of {every}; give a pass with fewer or coarser keys"
            )
        readable = readable_columns(task, comparisons)
        own = {name: in_units(comparisons[name], *columns) for name, columns in readable.items()}
        levels = pair_levels(readable, own)
        return cls(
            tuple(own), tuple(own.values()), levels, joined, compare_pairs(joined, levels, task.helpers)
        )


class LearnedPasses(MatchWeights):
    """Scores pairs by match weights in bits; a pair that no pass compares cannot be a match."""

    def __init__(
        self,
        files: PassFiles,
        probabilities: Probabilities,
        parameters: dict[str, Any],
        notes: tuple[str, ...] = (),
    ) -> None:
        super().__init__(probabilities, parameters, notes)
        self.files = files
        found, joined = files.compared.pairs, files.joined
        weights = pattern_weights(files.compared.counts.patterns, self.level_weights)[files.compared.pattern]
        if parameters["frequency_weights"]:
            for attribute in files.levels:
                if isinstance(attribute, ValueLevels):
                    codes = attribute.first, attribute.second
                    add_agreement(*codes, attribute.rarity(), found.query, found.candidate, weights)
        self._pairs = ScoredPairs(found.query, found.candidate, weights, joined.queries, joined.candidates)

    @property
    def scored_pairs(self) -> ScoredPairs:
        """List every pair of the passes with its match weight."""
        return self._pairs

    def scores(self, rows: IndexArray) -> FloatArray:
        """Compute match weights of some queries with every candidate; -inf where no pass compares them."""
        return self.scored_pairs.dense(rows)


def parse_band(text: str) -> tuple[float, float]:
    """Parse two match probabilities, as in ``0.5,0.9``; DataError on anything else."""
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise DataError(f"{text!r} is not a band; write two match probabilities like 0.5,0.9") from None
    return low, high


def learn_in_passes(
    task: LinkageTask,
    comparisons: Mapping[str, Comparison],
    em: EMSettings,
    settings: ProbabilisticParameters,
) -> LearnedPasses:
    """Learn from the pairs of all passes.

    Pairs that no pass compares count as non-matches: u is that of all pairs, and p the share of matches among
    all pairs, whatever the keys are. There are at most `MOST_MATCHES` times as many matches as records of
    the smaller file.
    """
    files = PassFiles.of(task, comparisons, settings.passes)
    records = len(task.queries), len(task.candidates)
    outside = outside_pairs(files.compared, files.levels, *records, task.seed)
    counts = files.compared.counts
    # Without a known share, EM may confuse millions of similar pairs with matches.
    most = min(records) / (records[0] * records[1])
    em = replace(em, start_p=min(0.5, most), most_p=min(1.0, MOST_MATCHES * most))
    found, parameters, notes = estimated(
        files.attributes, files.comparisons, counts, em, min(records), outside
    )
    parameters |= {
        "passes": [str(one) for one in settings.passes],
        "linked_leave": settings.linked_leave,
        "frequency_weights": settings.frequency_weights,
        "all_pairs": records[0] * records[1],
    }
    learned = LearnedPasses(files, found, parameters, notes)
    thresholds = _thresholds(learned, settings)
    outcomes = thresholds.outcomes(*_weights_and_counts(learned))
    outcomes["non_linked"] += outside.pairs
    parameters["thresholds"] = thresholds.to_dict() | {name: int(count) for name, count in outcomes.items()}
    return learned


def _weights_and_counts(learned: LearnedPasses) -> tuple[FloatArray, FloatArray]:
    """List match weights and their counts: by pattern, or by pair with frequency weights."""
    if learned.parameters["frequency_weights"]:
        scores = learned.scored_pairs.score
        return scores, np.ones(scores.size)
    counts = learned.files.compared.counts
    return pattern_weights(counts.patterns, learned.level_weights), counts.counts


def _thresholds(learned: LearnedPasses, settings: ProbabilisticParameters) -> Thresholds:
    weights, counts = _weights_and_counts(learned)
    probability = learned.probabilities(weights)
    matches, others = counts * probability, counts * (1.0 - probability)
    if settings.false_link_rate is not None and settings.false_non_link_rate is not None:
        rates = settings.false_link_rate, settings.false_non_link_rate
        return error_rate_thresholds(weights, matches, others, *rates, learned.even)
    band = np.array(settings.clerical_band or USUAL_BAND)
    with np.errstate(divide="ignore"):
        low, high = (learned.even + (np.log2(band) - np.log2(1.0 - band))).tolist()
    return Thresholds(
        link=high,
        non_link=low,
        false_link_rate=float(others[weights >= high].sum() / (others.sum() or 1.0)),
        false_non_link_rate=float(matches[weights < low].sum() / (matches.sum() or 1.0)),
    )


def restored_passes(parameters: Mapping[str, Any], task: LinkageTask) -> LearnedPasses:
    """Apply learned parameters to the files of a task."""
    read = read_parameters(parameters, task)
    try:
        passes = [parse_pass(str(text)) for text in parameters["passes"]]
        for flag in ("frequency_weights", "linked_leave"):
            bool(parameters[flag])
        for end in ("link", "non_link"):
            float(parameters["thresholds"][end] or 0.0)
    except KeyError as problem:
        raise UsageError(f"these are not parameters of linkage in passes: {problem} is missing") from None
    except (TypeError, ValueError) as problem:
        raise UsageError(f"these are not parameters of linkage in passes: {problem}") from None
    files = PassFiles.of(task, read.comparisons, passes)
    return LearnedPasses(files, read, dict(parameters))
