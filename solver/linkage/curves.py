"""Precision and recall of a linker's claims over all thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.solver.linkage.linker import LearnedLinker, Truth, in_chunks
from linkrisk.solver.linkage.standing import limits

_AT_ONCE = 1 << 22
"""Scores of single pairs that are looked at together."""


@dataclass(frozen=True, eq=False)
class PrecisionRecall:
    """What is right among all pairs with at least a given score (Smith 2016, section 6.3).

    Thresholds are the scores of true matches, the only ones where recall changes, in descending order; of
    those that differ by no more than a tie, the least. Whoever ties with a threshold reaches it.

    Attributes
    ----------
    thresholds : ndarray of float64, shape (points,)
    correct : ndarray of int, shape (points,)
        True matches that reach it (tp).
    claimed : ndarray of int, shape (points,)
        Pairs that reach it (tp + fp).
    matches : int
        All true matches (tp + fn).
    """

    thresholds: FloatArray
    correct: IndexArray
    claimed: IndexArray
    matches: int

    @property
    def precision(self) -> FloatArray:
        """``tp / (tp + fp)``, shape (points,)."""
        return self.correct / self.claimed

    @property
    def recall(self) -> FloatArray:
        """``tp / (tp + fn)``, shape (points,)."""
        return self.correct / self.matches

    @property
    def average_precision(self) -> float:
        """``sum_k (recall_k - recall_(k-1)) precision_k``: the area under the steps of the curve."""
        return float((np.diff(self.recall, prepend=0.0) * self.precision).sum())

    def thinned(self, most: int) -> PrecisionRecall:
        """At most so many points, evenly spread; the average precision is that of these."""
        kept = np.unique(
            np.linspace(0, self.thresholds.size - 1, min(most, self.thresholds.size)).astype(np.intp)
        )
        return PrecisionRecall(self.thresholds[kept], self.correct[kept], self.claimed[kept], self.matches)

    def to_dict(self) -> dict[str, Any]:
        """Lists, ready for JSON."""
        return {
            "average_precision": self.average_precision,
            "threshold": self.thresholds.tolist(),
            "precision": self.precision.tolist(),
            "recall": self.recall.tolist(),
        }


def precision_recall(own: FloatArray, pairs: Iterable[FloatArray]) -> PrecisionRecall:
    """Count claims at every threshold.

    Parameters
    ----------
    own : ndarray of float64, shape (matches,)
        Scores of the true matches, of one file pair or of several; those of -inf are never claimed.
    pairs : iterable of ndarray
        Scores of all pairs, the true matches among them, in any shape: `all_scores`.
    """
    thresholds = thresholds_of(own)
    found = np.zeros(thresholds.size + 1, dtype=np.intp)
    for scores in pairs:
        found += between(thresholds, scores)
    return curve_of(own, found)


def thresholds_of(own: FloatArray) -> FloatArray:
    """From which scores on pairs reach thresholds, ascending: equal sums may differ by rounding."""
    return limits(_least_of_ties(own)[0])[1]


def _least_of_ties(own: FloatArray) -> tuple[FloatArray, IndexArray]:
    """Scores of true matches that may be claimed, ascending, the least of those that tie; how many do."""
    scores = np.sort(own[own > -np.inf])
    begins = np.flatnonzero(limits(scores)[1] > np.concatenate([[-np.inf], scores[:-1]]))
    return scores[begins], np.diff(np.append(begins, scores.size))


def between(thresholds: FloatArray, scores: FloatArray) -> IndexArray:
    """How many scores reach so many of the thresholds, from none to all of them."""
    place = np.searchsorted(thresholds, scores.ravel(), side="right")
    return np.bincount(place, minlength=thresholds.size + 1)


def curve_of(own: FloatArray, found: IndexArray) -> PrecisionRecall:
    """The curve when the scores of all pairs lie between thresholds like this (`between`)."""
    thresholds, counts = _least_of_ties(own)
    return PrecisionRecall(
        thresholds=thresholds[::-1],
        correct=np.cumsum(counts[::-1]),
        claimed=np.cumsum(found[::-1])[:-1],
        matches=own.size,
    )


def all_scores(linker: LearnedLinker, truth: Truth) -> Iterator[FloatArray]:
    """Scores of all pairs of a task, some at a time; where few pairs are scored at all, of these."""
    if linker.scored_pairs is not None:
        score = linker.scored_pairs.score
        yield from (score[begin : begin + _AT_ONCE] for begin in range(0, score.size, _AT_ONCE))
        return
    for _, scores in in_chunks(linker, np.arange(truth.queries), truth.candidates):
        yield scores
