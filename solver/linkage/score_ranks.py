"""Ranks of partners among their rivals, by scores of kinds of records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray, LongArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.linkage.ties import TIE_TOLERANCE
from linkrisk.solver.linkage.kinds import Kinds


class Rivals(NamedTuple):
    """Some kinds of candidates, which follow one another.

    Attributes
    ----------
    start : int
        The number of the first of them.
    times : ndarray of int64, shape (kinds,)
        How many candidates are of each kind.
    first, other : ndarray of int, shape (kinds,)
        The row of the first candidate of each kind, and of the first of another group than this one's, -1
        where there is none.
    group : ndarray of int, shape (kinds,)
        The group of the first candidate: those of the partner's group are no rivals. Candidates of one group
        are of one kind, or the only ones of their kinds.
    """

    start: int
    times: LongArray
    first: IndexArray
    other: IndexArray
    group: IndexArray

    @classmethod
    def of(cls, kinds: Kinds, group: IndexArray) -> Rivals:
        """All kinds; `group`, shape (candidates,), is the group of each candidate."""
        own = group[kinds.first]
        other = np.full(kinds.first.size, -1, dtype=np.intp)
        away = np.flatnonzero(group != own[kinds.kind])[::-1]
        other[kinds.kind[away]] = away  # of several the last one written stays: the first row
        return cls(0, kinds.times, kinds.first, other, own)

    def part(self, columns: slice) -> Rivals:
        """Some of them."""
        return Rivals(
            self.start + columns.start,
            self.times[columns],
            self.first[columns],
            self.other[columns],
            self.group[columns],
        )


class Partners(NamedTuple):
    """Blocks that stand alike, and their partners.

    Attributes
    ----------
    query, partner : ndarray of int, shape (any,)
        Kinds of query and partner, the former ascending.
    mine : ndarray of int, shape (any,)
        The group of the partner.
    away : ndarray of int64, shape (any,)
        How many candidates of the partner's kind are of that group, itself among them.
    own : ndarray of float64, shape (any,)
        The partner's score.
    """

    query: IndexArray
    partner: IndexArray
    mine: IndexArray
    away: LongArray
    own: FloatArray

    def among(self, first: int, last: int) -> slice:
        """Those of some kinds of queries."""
        return slice(*np.searchsorted(self.query, [first, last]).tolist())

    def part(self, some: slice) -> Partners:
        """Some of them."""
        return Partners._make(values[some] for values in self)


@dataclass(frozen=True, eq=False)
class Part:
    """Some kinds of queries, which follow one another, with some kinds of candidates.

    Attributes
    ----------
    start : int
        The number of the first kind of queries.
    times : ndarray of int64, shape (kinds of queries,)
        How many queries are of each kind.
    first : ndarray of int, shape (kinds of queries,)
        The row of the first query of each kind.
    partners : Partners
        Of blocks with these queries.
    rivals : Rivals
        The kinds of candidates.
    """

    start: int
    times: LongArray
    first: IndexArray
    partners: Partners
    rivals: Rivals

    def some(self, rows: slice, columns: slice) -> Part:
        """Fewer of them, counted from 0."""
        last = self.start + rows.stop
        partners = self.partners.part(self.partners.among(self.start + rows.start, last))
        return Part(
            self.start + rows.start, self.times[rows], self.first[rows], partners, self.rivals.part(columns)
        )


class Standing(NamedTuple):
    """How partners stand among rivals.

    Attributes
    ----------
    nearer, at_least : ndarray of int, shape (blocks,)
        How many rivals score higher, and how many at least as high.
    best : ndarray of float64, shape (blocks,)
        The highest score of a rival.
    rival : ndarray of int, shape (blocks,)
        The first rival that has it, -1 where there is none.
    """

    nearer: IndexArray
    at_least: IndexArray
    best: FloatArray
    rival: IndexArray


def no_standing(blocks: int) -> Standing:
    """How partners stand before any rival has been looked at."""
    nearer, at_least = (np.zeros(blocks, dtype=np.intp) for _ in range(2))
    return Standing(nearer, at_least, np.full(blocks, -np.inf), np.full(blocks, -1, dtype=np.intp))


def add_standing(whole: Standing, place: slice, some: Standing) -> None:
    """Add what was found of some blocks among some rivals; the first of the best is kept, in any order."""
    whole.nearer[place] += some.nearer
    whole.at_least[place] += some.at_least
    best, rival = whole.best[place], whole.rival[place]
    as_good = (some.best == best) & ((rival < 0) | (some.rival < rival))
    better = (some.rival >= 0) & ((some.best > best) | as_good)
    whole.best[place] = np.where(better, some.best, best)
    whole.rival[place] = np.where(better, some.rival, rival)


def limits(own: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Above which scores rivals are nearer than partners of these scores, and from which on they tie."""
    tolerance = np.where(np.isfinite(own), TIE_TOLERANCE * np.abs(own), 0.0)
    return own + tolerance, own - tolerance


def stand(scores: FloatArray, first: int, partners: Partners, rivals: Rivals) -> Standing:
    """How partners stand among some rivals.

    Parameters
    ----------
    scores : ndarray of float64, shape (rows, kinds of candidates)
        Of kinds of queries from `first` on.
    first : int
    partners : Partners
        Of these kinds of queries.
    rivals : Rivals
    """
    found = no_standing(partners.own.size)
    here = partners._replace(query=partners.query - first, partner=partners.partner - rivals.start)
    _stand(scores, here, *limits(partners.own), rivals, found)
    return found


@kernel
def _stand(
    scores: FloatArray,
    partners: Partners,
    above: FloatArray,
    below: FloatArray,
    rivals: Rivals,
    found: Standing,
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


def standing_on_a_line(queries: FloatArray, candidates: FloatArray, part: Part) -> Standing | None:
    """How partners stand when scores are distances ``|a - b|`` of places with their sign changed.

    On either side of a query scores fall with the distance, also when they are rounded. So those above a
    score are found by binary search, the best ones next to the query.

    Parameters
    ----------
    queries, candidates : ndarray of float64, shape (kinds,)
        Places of all kinds, none missing.
    part : Part
        All kinds, with the scores of the partners.

    Returns
    -------
    Standing or None
        None where candidates of a partner's group are elsewhere than the partner.
    """
    rivals, partners = part.rivals, part.partners
    order = np.argsort(candidates, kind="stable")
    places = candidates[order]
    _, group = np.unique(rivals.group, return_inverse=True)
    home = np.zeros(int(group.max(initial=-1)) + 1)
    home[group] = candidates
    if (home[group] != candidates).any():
        return None
    # Whoever is in a partner's group scores as the partner does, so it never scores higher.
    size = np.bincount(group, rivals.times).astype(np.int64)
    alone = rivals.other < 0
    found = no_standing(partners.own.size)
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
    """How many of the first `last` places, ascending and not above the query, score less than `least`.

    Or at most that, when only those that score `strictly` more count.
    """
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
    """Up to where places from `first` on, ascending and above the query, score at least that."""
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
    """Places in ascending order, how many candidates are below each, and who they are (`Rivals`)."""

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
    found: Standing,
) -> None:
    """For every block its standing."""
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
