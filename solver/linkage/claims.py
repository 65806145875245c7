"""The single most probable claim of a linker: the pair of largest score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkrisk.solver.linkage.linker import LearnedLinker
from linkrisk.solver.linkage.scored_pairs import ScoredPairs

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
LongArray = NDArray[np.int64]


@dataclass(frozen=True)
class Claim:
    """The single most probable match of a file pair (Smith 2016, section 7).

    Attributes
    ----------
    query, candidate : int
        Their rows; the first such pair when several score alike.
    score : float
    probability : float or None
        Of a match, where the linker knows it.
    correct : float
        1 when the claim is right, 0 when it is wrong; among pairs that score alike the share of true ones.
    """

    query: int
    candidate: int
    score: float
    probability: float | None
    correct: float


@dataclass(frozen=True)
class Top:
    """The largest score of some pairs.

    Attributes
    ----------
    score : float
    place : (int, int)
        Rows of the first pair that has it.
    alike : int
        How many pairs have it.
    """

    score: float = -np.inf
    place: tuple[int, int] = (-1, -1)
    alike: int = 0

    def or_of(self, other: Top) -> Top:
        """The largest score of these pairs and others."""
        if self.score != other.score:
            return self if self.score > other.score else other
        if not self.alike:
            return other
        first = min(self.place, other.place) if other.alike else self.place
        return Top(self.score, first, self.alike + other.alike)


def top_of(
    scores: FloatArray, rows: tuple[IndexArray, LongArray], columns: tuple[LongArray, IndexArray]
) -> Top:
    """The largest score of some kinds of records.

    Parameters
    ----------
    scores : ndarray of float64, shape (rows, columns)
    rows : pair of ndarray of int
        The first record of each kind of queries, ascending, and how many there are.
    columns : pair of ndarray of int
        How many there are of each kind of candidates, and the first of each, ascending.
    """
    top = float(scores.max(initial=-np.inf))
    if top == -np.inf:
        return Top()
    row, column = np.nonzero(scores == top)
    alike = int((rows[1][row] * columns[0][column]).sum())
    return Top(top, (int(rows[0][row[0]]), int(columns[1][column[0]])), alike)


def claim_of(linker: LearnedLinker, top: Top, own: FloatArray) -> Claim | None:
    """The claim that a pair of the largest score is a match; None when no pair can be one.

    Parameters
    ----------
    linker : LearnedLinker
    top : Top
    own : ndarray of float64, shape (blocks,)
        Scores of the true pairs.
    """
    if top.score == -np.inf:
        return None
    probability = linker.probabilities(np.array([top.score]))
    return Claim(
        query=top.place[0],
        candidate=top.place[1],
        score=top.score,
        probability=None if probability is None else float(probability[0]),
        correct=int((own == top.score).sum()) / top.alike,
    )


def claim_of_pairs(linker: LearnedLinker, pairs: ScoredPairs, own: FloatArray) -> Claim | None:
    """The same of pairs that were scored one by one; all others cannot be matches."""
    best = np.flatnonzero(pairs.score == pairs.score.max(initial=-np.inf))
    if not best.size:
        return None
    query, candidate = pairs.query[best], pairs.candidate[best]
    first = int(np.lexsort((candidate, query))[0])
    top = Top(float(pairs.score[best[0]]), (int(query[first]), int(candidate[first])), best.size)
    return claim_of(linker, top, own)
