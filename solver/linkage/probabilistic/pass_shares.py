"""Comparing the pairs of passes by workers: some queries each, with the candidates that share keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import LongArray
from linkrisk.solver.linkage.helpers import TASKS_EACH, Helpers
from linkrisk.solver.linkage.probabilistic.cutting import cut_groups, met_by
from linkrisk.solver.linkage.probabilistic.kernels import LEVEL_BITS, Groups
from linkrisk.solver.linkage.probabilistic.pairs import (
    PAIRS_AT_ONCE,
    JoinedFiles,
    PairLevels,
    Pairs,
    found_pairs,
)
from linkrisk.solver.run.clock import Clock

Patterns = tuple[NDArray[np.integer], LongArray]
"""Of some pairs: which of the distinct patterns each has, and these in the order of their first pairs."""

_FEWEST = 1 << 14
"""Pairs of a task: fewer are not worth their way."""


def patterns_of(pairs: Pairs, levels: Sequence[PairLevels]) -> Patterns:
    """Compare some pairs, attribute by attribute."""
    code = np.zeros(pairs.query.size, dtype=np.int64)
    for k, attribute in enumerate(levels):
        code |= attribute.of(pairs.query, pairs.candidate).astype(np.int64) << (LEVEL_BITS * k)
    return pd.factorize(code)


@dataclass(frozen=True, eq=False)
class ReadyRange:
    """Some queries, and the candidates that a pass compares one of them with; nobody else.

    Attributes
    ----------
    groups : Groups
    levels : tuple of PairLevels
    candidates : int
        How many there are.
    """

    groups: Groups
    levels: tuple[PairLevels, ...]
    candidates: int

    def ready(self) -> ReadyRange:
        """Itself."""
        return self


@dataclass(frozen=True, eq=False)
class RangeShare:
    """Some queries of two files; on its way to another process a `ReadyRange`.

    Attributes
    ----------
    groups : Groups
    levels : tuple of PairLevels
        Of both files.
    first, last : int
        The queries are those from `first` up to, but not with `last`.
    """

    groups: Groups
    levels: tuple[PairLevels, ...]
    first: int
    last: int

    def ready(self) -> ReadyRange:
        """With what is about them alone."""
        rows = np.arange(self.first, self.last)
        candidates = met_by(*self.groups, rows)
        groups = Groups(*cut_groups(*self.groups, rows, candidates))
        levels = tuple(attribute.part(rows, candidates) for attribute in self.levels)
        return ReadyRange(groups, levels, candidates.size)

    def __reduce__(self) -> tuple[type[ReadyRange], tuple[Groups, tuple[PairLevels, ...], int]]:
        """All that another process needs."""
        ready = self.ready()
        return ReadyRange, (ready.groups, ready.levels, ready.candidates)


def compared_by(
    helpers: Helpers, joined: JoinedFiles, levels: Sequence[PairLevels]
) -> Iterator[tuple[Pairs, Patterns]]:
    """All pairs in the order of queries, some at a time, with the patterns that workers have found."""
    ranges: list[tuple[int, int]] = []

    def plan(many: int) -> list[RangeShare | ReadyRange]:
        each = sum(joined.pairs) // (TASKS_EACH * many)
        ranges.extend(joined.ranges(min(PAIRS_AT_ONCE, max(_FEWEST, each))))
        return [RangeShare(joined.groups, tuple(levels), *ends) for ends in ranges]

    waiting: dict[int, Patterns] = {}
    pairs = joined.batches(ranges)  # looks at these when the first answer is there, and they are known
    following = 0
    for at, patterns in helpers.answers(None, _compare, plan):
        waiting[at] = patterns
        while following in waiting:
            yield next(pairs), waiting.pop(following)
            following += 1


def _compare(given: None, share: RangeShare | ReadyRange, clock: Clock) -> Patterns:
    """Compare the pairs of some queries, at a worker; whoever asks finds the pairs again by itself."""
    del given
    ready = share.ready()
    for attribute in ready.levels:
        attribute.threads = clock.threads
    mark = np.full(ready.candidates, -1, dtype=np.int64)
    pairs = found_pairs(ready.groups, 0, len(ready.groups.key), mark)
    place, distinct = patterns_of(pairs, ready.levels)
    return place.astype(np.min_scalar_type(distinct.size)), distinct
