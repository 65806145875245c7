"""Counting agreement patterns by workers: some queries with some candidates each."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray, LongArray
from linkrisk.solver.linkage.helpers import TASKS_EACH, Helpers
from linkrisk.solver.linkage.pair_shares import PairShare, ReadyPairs, Rows, places, shared_out
from linkrisk.solver.linkage.probabilistic.cutting import Codes, cut_codes, met_by
from linkrisk.solver.linkage.probabilistic.kernels import Blocks, add_weights
from linkrisk.solver.linkage.probabilistic.match_weights import Thresholds
from linkrisk.solver.linkage.probabilistic.patterns import (
    PatternCounts,
    added_up,
    agreement_patterns,
    as_counts,
    table_of_patterns,
)
from linkrisk.solver.run.clock import Clock

_LEAST_OF_ROW = 4_096
"""Pairs that a query counts for at least where keys are compared: its own codes have to be sent, too."""

_CELLS_AT_ONCE = 1 << 20
"""Weights that a thread holds at a time: 8 MB."""

_PAIRS = 1 << 28
"""Most pairs of a share where keys are compared, unless one query alone has more."""


class CodeShare(PairShare):
    """Some queries and some candidates as codes.

    Parameters
    ----------
    codes : Codes
    rows, candidates : ndarray of int, or slice with both ends
        The latter in ascending order.
    """

    def __init__(self, codes: Codes, rows: Rows, candidates: Rows) -> None:
        self._codes, self._rows, self._candidates = codes, rows, candidates

    def cut(self) -> Codes:
        """What of the codes is about them."""
        return cut_codes(self._codes, places(self._rows), places(self._candidates))

    def ready(self) -> ReadyShare:
        """With the codes of these records alone (see `PairShare.ready`)."""
        return ReadyShare(self.cut())

    def __reduce__(self) -> tuple[type[ReadyShare], tuple[Codes]]:
        """All that another process needs."""
        return ReadyShare, (self.cut(),)


class ReadyShare(ReadyPairs, PairShare):
    """Codes of nothing but the queries and the candidates of a share.

    Parameters
    ----------
    codes : Codes
    """

    def __init__(self, codes: Codes) -> None:
        self._codes = codes

    def cut(self) -> Codes:
        """The codes."""
        return self._codes

    def ready(self) -> ReadyShare:
        """Itself."""
        return self

    @property
    def shape(self) -> tuple[int, int]:
        """How many queries and candidates there are."""
        coded = self._codes.coded
        return len(coded.query_code), coded.candidate_slot.shape[1]

    def times(self, rows: slice) -> FloatArray:
        """How many pairs of records those of some queries with all candidates stand for."""
        coded = self._codes.coded
        return np.outer(coded.query_times[rows], coded.candidate_times).astype(np.float64)

    def scores(self, rows: IndexArray) -> FloatArray:
        """Match weights (see `ReadyPairs.scores`)."""
        coded, blocks, weights = self._codes
        assert weights is not None
        total = np.empty((rows.size, self.shape[1]))
        add_weights(coded, blocks, weights, rows, total)
        return total


Share = CodeShare | ReadyShare


def patterns_by(codes: Codes, helpers: Helpers | None) -> PatternCounts:
    """How often each pattern occurs, counted by workers where that is worth it (see `agreement_patterns`)."""
    queries, attributes = codes.coded.query_code.shape
    candidates = codes.coded.candidate_slot.shape[1]
    keyed = codes.blocks.key.shape[1] > 0
    pairs = _pairs_of_rows(codes.blocks)
    if helpers is None or not helpers.worth(float(pairs.sum()) if keyed else queries * candidates):
        return agreement_patterns(codes.coded, codes.blocks)

    def plan(many: int) -> Sequence[Share]:
        return _by_keys(codes, pairs, many) if keyed else every_pair(codes, many)

    table = np.empty((0, 2), dtype=np.int64)
    for _, counted in helpers.answers(None, _count, plan):
        table = added_up([table, counted])
    return as_counts(table, attributes)


def every_pair(codes: Codes, many: int) -> list[Share]:
    """Shares that make up all pairs, compared or not, for so many workers."""
    queries, attributes = codes.coded.query_code.shape
    candidates = codes.coded.candidate_slot.shape[1]
    return [
        CodeShare(codes, rows, columns) for rows, columns in shared_out(queries, candidates, attributes, many)
    ]


def _pairs_of_rows(blocks: Blocks) -> LongArray:
    """Pairs of each query by all its keys, those that agree on several of them counted as often."""
    size = np.append(np.diff(blocks.first), 0)  # the last one for keys that no candidate has
    return np.asarray(size[blocks.key].sum(axis=1), dtype=np.int64)


def _by_keys(codes: Codes, pairs: LongArray, many: int) -> list[Share]:
    """Queries with equal keys together, and the candidates that have one of their keys."""
    blocks, attributes = codes.blocks, codes.coded.query_code.shape[1]
    rows = np.flatnonzero(pairs)
    rows = rows[np.lexsort(blocks.key[rows].T[::-1])]
    cost = np.cumsum(np.maximum(pairs[rows], _LEAST_OF_ROW))
    each = min(_PAIRS, max(1, int(cost[-1]) // (TASKS_EACH * many)))
    shares: list[Share] = []
    for part in np.split(rows, np.flatnonzero(np.diff(cost // each)) + 1):
        met = met_by(*blocks, part)
        for _, columns in shared_out(1, met.size, attributes, 1):
            shares.append(CodeShare(codes, part, met[columns]))
    return shares


def _count(given: None, share: Share, clock: Clock) -> LongArray:
    """Count the patterns of a share, at a worker."""
    del given
    codes = share.cut()
    return table_of_patterns(codes.coded, codes.blocks, clock.threads, lambda: clock.expired)


def outcomes_by(codes: Codes, thresholds: Thresholds, helpers: Helpers | None) -> dict[str, float]:
    """How many pairs are linked, clerical and non-linked, by their own weights; by workers where worth it."""
    ready = ReadyShare(codes)
    if helpers is not None and helpers.worth(math.prod(ready.shape)):
        answers = helpers.answers(thresholds, _decide, lambda many: every_pair(codes, many))
        return _together(found for _, found in answers)
    queries, candidates = ready.shape
    size = max(1, _CELLS_AT_ONCE // candidates)
    parts = [slice(first, min(first + size, queries)) for first in range(0, queries, size)]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return _together(pool.map(lambda part: _outcomes(thresholds, ready, part), parts))


def _together(found: Iterable[dict[str, float]]) -> dict[str, float]:
    """Outcomes added up; numbers are whole, so that their order does not matter."""
    total = dict.fromkeys(("linked", "clerical", "non_linked"), 0.0)
    for some in found:
        for name, count in some.items():
            total[name] += count
    return total


def _outcomes(thresholds: Thresholds, ready: ReadyShare, part: slice) -> dict[str, float]:
    """What becomes of the pairs of some queries."""
    weights = ready.scores(np.arange(part.start, part.stop))
    return thresholds.outcomes(weights.ravel(), ready.times(part).ravel())


def _decide(thresholds: Thresholds, share: Share, clock: Clock) -> dict[str, float]:
    """What becomes of the pairs of a share, at a worker."""
    ready, found = share.ready(), []
    queries, candidates = ready.shape
    size = max(1, _CELLS_AT_ONCE // candidates)
    for first in range(0, queries, size):
        found.append(_outcomes(thresholds, ready, slice(first, min(first + size, queries))))
        if clock.expired:
            break
    return _together(found)
