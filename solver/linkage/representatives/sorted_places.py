"""How partners stand among candidates on a line: by binary search among sorted places, not pair by pair."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray, LongArray
from linkrisk.formulations.compiled import kernel
from linkrisk.solver.linkage.standing import Part, Standing, limits, no_standing


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
