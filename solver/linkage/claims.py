"""The single most probable claim of a linker: the pair of largest score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.solver.linkage.curves import PrecisionRecall
from linkrisk.solver.linkage.linker import LearnedLinker
from linkrisk.solver.linkage.scored_pairs import ScoredPairs
from linkrisk.solver.linkage.standing import limits


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
        1 when the claim is right, 0 when it is wrong; among pairs that tie with it the share of true ones.
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
        Rows of the first pair that has it; -1 where there is none.
    """

    score: float = -np.inf
    place: tuple[int, int] = (-1, -1)

    def or_of(self, other: Top) -> Top:
        """The largest score of these pairs and others."""
        if self.score != other.score:
            return self if self.score > other.score else other
        return Top(self.score, min(self.place, other.place))


def top_of(scores: FloatArray, first: IndexArray, candidates: IndexArray) -> Top:
    """The largest score of some kinds of records.

    Parameters
    ----------
    scores : ndarray of float64, shape (rows, columns)
    first, candidates : ndarray of int
        The first record of each kind of queries and of candidates, ascending.
    """
    top = float(scores.max(initial=-np.inf))
    if top == -np.inf:
        return Top()
    row, column = np.nonzero(scores == top)
    return Top(top, (int(first[row[0]]), int(candidates[column[0]])))


def top_of_pairs(pairs: ScoredPairs) -> Top:
    """The same of pairs that were scored one by one; all others cannot be matches."""
    best = np.flatnonzero(pairs.score == pairs.score.max(initial=-np.inf))
    if not best.size:
        return Top()
    query, candidate = pairs.query[best], pairs.candidate[best]
    first = int(np.lexsort((candidate, query))[0])
    return Top(float(pairs.score[best[0]]), (int(query[first]), int(candidate[first])))


def claim_of(linker: LearnedLinker, top: Top, own: FloatArray, curve: PrecisionRecall) -> Claim | None:
    """The claim that a pair of the largest score is a match; None when no pair can be one.

    Parameters
    ----------
    linker : LearnedLinker
    top : Top
    own : ndarray of float64, shape (blocks,)
        Scores of the true pairs.
    curve : PrecisionRecall
        Where a true pair ties with the largest score, its first point claims all pairs that do.
    """
    if top.score == -np.inf:
        return None
    probability = linker.probabilities(np.array([top.score]))
    tied = own.max(initial=-np.inf) >= limits(np.array([top.score]))[1][0]
    return Claim(
        query=top.place[0],
        candidate=top.place[1],
        score=top.score,
        probability=None if probability is None else float(probability[0]),
        correct=float(curve.precision[0]) if tied else 0.0,
    )
