"""One look at the scores of kinds of queries with kinds of candidates: all that is said of a linker."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray, LongArray
from linkrisk.solver.linkage.claims import Top, top_of
from linkrisk.solver.linkage.kinds import Kinds
from linkrisk.solver.linkage.linker import LearnedLinker, Truth
from linkrisk.solver.linkage.pair_shares import ReadyPairs
from linkrisk.solver.linkage.standing import (
    Part,
    Partners,
    Rivals,
    Standing,
    add_standing,
    no_standing,
    stand,
)
from linkrisk.solver.linkage.thresholds import Thresholds, count_between

_CELLS_AT_ONCE = 1 << 20
"""Scores that a thread holds at a time: 8 MB, of which most are still at hand when they are looked at."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """The blocks by kinds of queries and candidates: those that stand alike are looked at once.

    Attributes
    ----------
    kinds : (Kinds, Kinds) or None
        Those by which the linker scores; None where each record is looked at.
    part : Part
        All kinds; the partners' scores are not known.
    place : ndarray of int, shape (blocks,)
        Where each block is among the partners of the part.
    """

    kinds: tuple[Kinds, Kinds] | None
    part: Part
    place: IndexArray

    @classmethod
    def of(cls, linker: LearnedLinker, truth: Truth) -> Blocks:
        """Put together what stands alike."""
        group = np.arange(truth.candidates) if truth.twin_group is None else truth.twin_group
        kinds = linker.kinds
        if kinds is not None and not _nested(kinds[1], group):
            kinds = None
        queries, candidates = kinds or (Kinds.each(truth.queries), Kinds.each(truth.candidates))
        rivals = Rivals.of(candidates, group)
        query, partner = queries.kind[truth.query_rows], candidates.kind[truth.partner]
        mine, together = group[truth.partner], Kinds.of((group, candidates.kind), group.size)
        away = together.times[together.kind][truth.partner]
        key = Kinds.of((query, partner, away, rivals.group[partner] == mine), query.size)
        some = key.first[np.argsort(query[key.first], kind="stable")]
        place = np.empty_like(some)
        place[key.kind[some]] = np.arange(some.size)
        partners = Partners(query[some], partner[some], mine[some], away[some], np.zeros(some.size))
        return cls(kinds, Part(0, queries.times, queries.first, partners, rivals), place[key.kind])

    def of_linker(self, linker: LearnedLinker) -> bool:
        """Whether kinds are those that the linker scores; otherwise records have to be told apart."""
        return self.kinds is not None or linker.kinds is None

    def with_own(self, own: FloatArray) -> Part:
        """All kinds with the scores of the partners."""
        part = self.part
        return Part(part.start, part.times, part.first, part.partners._replace(own=own), part.rivals)

    def spread(self, found: Standing) -> Standing:
        """How each block stands."""
        return Standing._make(values[self.place] for values in found)


def _nested(kinds: Kinds, group: IndexArray) -> bool:
    """Whether candidates of a group are of one kind, or else the only ones of their kinds."""
    groups = Kinds.of((group,), group.size)
    apart = kinds.kind != kinds.kind[groups.first][groups.kind]
    torn = np.bincount(groups.kind, apart, groups.first.size)[groups.kind] > 0
    alone = Rivals.of(kinds, group).other < 0
    return bool(alone[kinds.kind[torn]].all())


class Whole(ReadyPairs):
    """All kinds of a linker, or all records."""

    def __init__(self, linker: LearnedLinker, blocks: Blocks) -> None:
        self._score = linker.scores if blocks.kinds is None else linker.kind_scores
        self._shape = blocks.part.times.size, blocks.part.rivals.times.size

    @property
    def shape(self) -> tuple[int, int]:
        """How many kinds there are."""
        return self._shape

    def scores(self, rows: IndexArray) -> FloatArray:
        """Scores of some kinds of queries."""
        return self._score(rows)


@dataclass(frozen=True, eq=False)
class Seen:
    """What was seen of some kinds.

    Attributes
    ----------
    standing : Standing
        Of the partners.
    counts : ndarray of int64, shape (thresholds + 1,)
        How many pairs of records reach so many thresholds.
    top : Top
    """

    standing: Standing
    counts: LongArray
    top: Top


def look(
    pairs: ReadyPairs,
    part: Part,
    thresholds: Thresholds,
    *,
    standings: bool = True,
    threads: int | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Seen:
    """Look once at the scores of some kinds.

    Whatever is added up is whole, so that the order in which threads come does not matter.

    Parameters
    ----------
    pairs : ReadyPairs
        The kinds of the part, counted from 0.
    part : Part
    thresholds : Thresholds
    standings : bool
        Whether to look how partners stand.
    threads : int, optional
        All cores when absent.
    stop : callable
        Asked now and then whether to give up: nobody then looks at what was seen.
    """
    queries, candidates = pairs.shape
    height = max(1, _CELLS_AT_ONCE // max(1, candidates))
    firsts = iter(range(0, queries, height))  # taken by whoever is free: next() is atomic
    found = no_standing(part.partners.own.size)
    many = min(threads or os.cpu_count() or 1, -(-queries // height))

    def task(_: int) -> tuple[LongArray, Top]:
        counts, top = thresholds.counts(), Top()
        for first in firsts:
            rows = slice(first, min(first + height, queries))
            times = part.times[rows]
            scores = np.ascontiguousarray(pairs.scores(np.arange(rows.start, rows.stop)))
            if standings:
                start = part.start + first
                some = part.partners.among(start, start + times.size)
                add_standing(found, some, stand(scores, start, part.partners.part(some), part.rivals))
            if thresholds.values.size:
                count_between(scores, times, part.rivals.times, thresholds, counts)
            top = top.or_of(top_of(scores, part.first[rows], part.rivals.first))
            if stop():
                break
        return counts, top

    if many <= 1:
        seen = [task(0)]
    else:
        with ThreadPoolExecutor(many) as pool:
            seen = list(pool.map(task, range(many)))
    top = Top()
    for _, best in seen:
        top = top.or_of(best)
    return Seen(found, np.sum([counts for counts, _ in seen], axis=0), top)
