"""Rank partners by scores, once for all records of a kind, which have equal scores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, IndexArray, IntArray, LongArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.linkage.tie_tolerance import TIE_TOLERANCE

_WORTH = 0.9
"""Largest number of kinds as a share of the records; above it, grouping saves nothing."""


@dataclass(frozen=True, eq=False)
class Kinds:
    """Kinds of the records of a file, in the order of their first records."""

    kind: IndexArray  # (records,): the kind of each record
    first: IndexArray  # (kinds,): the row of the first record of each kind, ascending
    times: LongArray  # (kinds,): how many records are of each kind

    @property
    def apart(self) -> bool:
        """Whether every record is its own kind."""
        return self.first.size == self.kind.size

    @classmethod
    def each(cls, records: int) -> Self:
        """Make every record its own kind."""
        rows = np.arange(records)
        return cls(rows, rows, np.ones(records, dtype=np.int64))

    @classmethod
    def of(cls, columns: Iterable[NDArray[Any]], records: int, most: float = 1.0) -> Self:
        """Group records that are equal in all columns, each of shape (records,); NaN equals NaN.

        With more kinds than the share `most` of the records, each record is its own.
        """
        kind, many = np.zeros(records, dtype=np.int64), min(1, records)
        for column in columns:
            place, values = pd.factorize(column, use_na_sentinel=False)
            kind, found = pd.factorize(kind * len(values) + place)
            many = len(found)
            if many == records or many > most * records:
                return cls.each(records)
        # A kind is numbered at its first record.
        before = np.maximum.accumulate(np.concatenate([[-1], kind]))[:-1]
        times = np.bincount(kind, minlength=many).astype(np.int64)
        return cls(kind.astype(np.intp), np.flatnonzero(kind > before), times)

    @classmethod
    def where_worth(cls, columns: Iterable[NDArray[Any]], records: int) -> Self:
        """Group records only where that saves work (`_WORTH`)."""
        return cls.of(columns, records, _WORTH)


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """Pairs that may be matches, each once; all others score -inf."""

    query: IntArray  # (pairs,): their rows, in ascending order of queries
    candidate: IntArray
    score: FloatArray  # (pairs,)
    queries: int  # numbers of records
    candidates: int

    @cached_property
    def first(self) -> IndexArray:
        """Where the pairs of each query begin, and the last ones end; shape (queries + 1,)."""
        rows = np.arange(self.queries + 1, dtype=self.query.dtype)  # another type would copy the array
        return np.searchsorted(self.query, rows)

    def place(self, query: IndexArray, candidate: IndexArray) -> IndexArray:
        """Find the given pairs among these, -1 for others; each query at most once."""
        wanted = np.full(self.queries, -1, dtype=np.int32)
        wanted[query] = candidate
        found = np.flatnonzero(wanted[self.query] == self.candidate)
        place = np.full(self.queries, -1, dtype=np.intp)
        place[self.query[found]] = found
        return place[query]

    def dense(self, rows: IndexArray) -> FloatArray:
        """Compute scores of some queries with every candidate, shape (rows, candidates)."""
        scores = np.full((rows.size, self.candidates), -np.inf)
        for at, row in enumerate(rows):
            own = slice(self.first[row], self.first[row + 1])
            scores[at, self.candidate[own]] = self.score[own]
        return scores


class Rivals(NamedTuple):
    """Consecutive kinds of candidates."""

    start: int  # the number of the first of them
    times: LongArray  # (kinds,): how many candidates are of each kind
    first: IndexArray  # (kinds,): row of the first candidate of each kind
    other: IndexArray  # (kinds,): row of the first candidate that is not of that one's group, -1 without
    # (kinds,): group of the first candidate. Candidates of the partner's group are no rivals; those of one
    # group are of one kind, or alone in their kinds.
    group: IndexArray

    @classmethod
    def of(cls, kinds: Kinds, group: IndexArray) -> Rivals:
        """Collect all kinds, from the `group` of each candidate, shape (candidates,)."""
        own = group[kinds.first]
        other = np.full(kinds.first.size, -1, dtype=np.intp)
        away = np.flatnonzero(group != own[kinds.kind])[::-1]
        other[kinds.kind[away]] = away  # the first row is written last
        return cls(0, kinds.times, kinds.first, other, own)

    def part(self, columns: slice) -> Rivals:
        """Select some of these kinds."""
        return Rivals(self.start + columns.start, *(values[columns] for values in self[1:]))


class Partners(NamedTuple):
    """Partners of blocks, one for all blocks of equal rank; arrays of shape (partners,)."""

    query: IndexArray  # kind of the query, ascending
    partner: IndexArray  # kind of the partner
    mine: IndexArray  # group of the partner
    away: LongArray  # number of candidates of the partner's kind that are of its group, itself included
    own: FloatArray  # score of the partner

    def among(self, first: int, last: int) -> slice:
        """Find the partners of the kinds of queries from `first` to `last`-1."""
        return slice(*np.searchsorted(self.query, [first, last]).tolist())

    def part(self, some: slice) -> Partners:
        """Select some of these partners."""
        return Partners._make(values[some] for values in self)


@dataclass(frozen=True, eq=False)
class Part:
    """Consecutive kinds of queries with consecutive kinds of candidates."""

    start: int  # number of the first kind of queries
    times: LongArray  # (kinds of queries,): number of queries of each kind
    first: IndexArray  # (kinds of queries,): row of the first query of each kind
    partners: Partners
    rivals: Rivals

    def some(self, rows: slice, columns: slice) -> Part:
        """Select some of these kinds, by slices."""
        start, last = self.start + rows.start, self.start + rows.stop
        partners = self.partners.part(self.partners.among(start, last))
        return Part(start, self.times[rows], self.first[rows], partners, self.rivals.part(columns))


class PartnerRanks(NamedTuple):
    """Ranks of partners among rivals; arrays of shape (partners,)."""

    nearer: IndexArray  # number of rivals that score higher
    at_least: IndexArray  # number of rivals that score at least as high
    best: FloatArray  # highest score of a rival
    rival: IndexArray  # first rival with that score, -1 without rivals

    def add(self, place: slice, some: PartnerRanks) -> None:
        """Add the ranks among further rivals; of equal best ones the first is kept, in any order."""
        self.nearer[place] += some.nearer
        self.at_least[place] += some.at_least
        best, rival = self.best[place], self.rival[place]
        as_good = (some.best == best) & ((rival < 0) | (some.rival < rival))
        better = (some.rival >= 0) & ((some.best > best) | as_good)
        self.best[place] = np.where(better, some.best, best)
        self.rival[place] = np.where(better, some.rival, rival)


def no_ranks(partners: int) -> PartnerRanks:
    """Make the ranks before any rival was compared."""
    nearer, at_least = (np.zeros(partners, dtype=np.intp) for _ in range(2))
    return PartnerRanks(nearer, at_least, np.full(partners, -np.inf), np.full(partners, -1, dtype=np.intp))


def limits(own: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute scores above which rivals are nearer than partners of score `own`, and above which they tie."""
    tolerance = np.where(np.isfinite(own), TIE_TOLERANCE * np.abs(own), 0.0)
    return own + tolerance, own - tolerance


def rank_partners(scores: FloatArray, first: int, partners: Partners, rivals: Rivals) -> PartnerRanks:
    """Rank partners by `scores` (rows, kinds of candidates) of the kinds of queries from `first` on."""
    found = no_ranks(partners.own.size)
    here = partners._replace(query=partners.query - first, partner=partners.partner - rivals.start)
    _rank(scores, here, *limits(partners.own), rivals, found)
    return found


@kernel
def _rank(
    scores: FloatArray,
    partners: Partners,
    above: FloatArray,
    below: FloatArray,
    rivals: Rivals,
    found: PartnerRanks,
) -> None:
    row, partner, mine, away, _ = partners
    _, times, first, other, group = rivals
    nearer, at_least, best, rival = found
    for block in range(row.size):
        own = scores[row[block]]
        higher, reached, top, who = 0, 0, -np.inf, -1
        for k in range(times.size):
            score = own[k]
            if score < below[block] and score < top:
                continue
            many, one = times[k], first[k]
            if group[k] == mine[block]:
                one = other[k]
                many = many - away[block] if k == partner[block] else 0
            elif k == partner[block]:
                many -= away[block]
            if many <= 0:
                continue
            if score > above[block]:
                higher += many
            if score >= below[block]:
                reached += many
            if score > top or who < 0 or (score == top and one < who):
                top, who = score, one
        nearer[block], at_least[block], best[block], rival[block] = higher, reached, top, who


def ranks_on_a_line(queries: FloatArray, candidates: FloatArray, part: Part) -> PartnerRanks | None:
    """Rank partners by scores ``-|a - b|`` of positions of all `queries` and `candidates`, shapes (kinds,).

    On either side of a query scores decrease with the distance, rounded ones included, so binary search finds
    those above a score. None where candidates of a partner's group have other positions.
    """
    rivals, partners = part.rivals, part.partners
    order = np.argsort(candidates, kind="stable")
    places = candidates[order]
    _, group = np.unique(rivals.group, return_inverse=True)
    home = np.zeros(int(group.max(initial=-1)) + 1)
    home[group] = candidates
    if (home[group] != candidates).any():
        return None
    # Candidates of the partner's group score as the partner does, never higher.
    size = np.bincount(group, rivals.times).astype(np.int64)
    alone = rivals.other < 0
    found = no_ranks(partners.own.size)
    _search(
        queries[partners.query],
        _Sorted(
            places,
            np.concatenate([[0], np.cumsum(rivals.times[order])]),
            rivals.first[order],
            rivals.other[order],
            rivals.group[order],
        ),
        partners.mine,
        np.where(alone[partners.partner], size[group[partners.partner]], partners.away),
        *limits(partners.own),
        found,
    )
    return found


@kernel(inline="always")
def _before(query: float, places: FloatArray, least: float, last: int, strictly: bool) -> int:
    """Count `last` positions, ascending up to the query, that score below `least` (`strictly`: at most)."""
    first = 0
    while first < last:
        middle = (first + last) >> 1
        score = -abs(query - places[middle])
        if score > least or (score == least and not strictly):
            last = middle
        else:
            first = middle + 1
    return first


@kernel(inline="always")
def _until(query: float, places: FloatArray, least: float, first: int, strictly: bool) -> int:
    """Find the end of ascending positions from `first` on that score `least` (`strictly`: more)."""
    last = places.size
    while first < last:
        middle = (first + last) >> 1
        score = -abs(query - places[middle])
        if score > least or (score == least and not strictly):
            first = middle + 1
        else:
            last = middle
    return first


class _Sorted(NamedTuple):
    """Sorted positions, the number of candidates below each, and their fields of `Rivals`."""

    places: FloatArray
    below: LongArray
    first: IndexArray
    other: IndexArray
    group: IndexArray


@kernel
def _search(
    queries: FloatArray,
    candidates: _Sorted,
    mine: IndexArray,
    away: LongArray,
    above: FloatArray,
    least: FloatArray,
    found: PartnerRanks,
) -> None:
    places, below, first, other, group = candidates
    nearer, at_least, best, rival = found
    for block in range(queries.size):
        query = queries[block]
        middle = np.searchsorted(places, query, side="right")
        start = _before(query, places, above[block], middle, True)
        stop = _until(query, places, above[block], middle, True)
        nearer[block] = below[stop] - below[start]
        start = _before(query, places, least[block], middle, False)
        stop = _until(query, places, least[block], middle, False)
        at_least[block] = below[stop] - below[start] - away[block]
        top, who = -np.inf, -1
        for step in (-1, 1):
            at = middle - 1 if step < 0 else middle
            while 0 <= at < places.size:
                score = -abs(query - places[at])
                one = first[at] if group[at] != mine[block] else other[at]
                if who >= 0 and score < top:
                    break
                if one >= 0 and (who < 0 or score > top or one < who):
                    top, who = score, one
                at += step
        best[block], rival[block] = top, who


@kernel
def rank_pairs(
    spans: tuple[IndexArray, IndexArray],
    candidate: IntArray,
    score: FloatArray,
    group: IndexArray,
    mine: IndexArray,
    limits: tuple[FloatArray, FloatArray],
    found: PartnerRanks,
    scored: IndexArray,
) -> None:
    """Rank partners among the scored pairs of their blocks, which lie in `spans`, and count those."""
    begin, end = spans
    above, below = limits
    nearer, at_least, best, rival = found
    for block in range(begin.size):
        for at in range(begin[block], end[block]):
            other = candidate[at]
            if group[other] == mine[block]:
                continue
            scored[block] += 1
            nearer[block] += score[at] > above[block]
            at_least[block] += score[at] >= below[block]
            if (
                rival[block] < 0
                or score[at] > best[block]
                or (score[at] == best[block] and other < rival[block])
            ):
                best[block], rival[block] = score[at], other
