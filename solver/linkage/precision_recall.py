"""Compute precision and recall of a linker's claims, and its most probable claim."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray, LongArray
from linkrisk.formulations.compiled import kernel
from linkrisk.solver.linkage.linker import LearnedLinker, Truth, in_chunks
from linkrisk.solver.linkage.score_ranks import ScoredPairs, limits

_BUCKETS = 1 << 16


class Thresholds(NamedTuple):
    """Ascending thresholds, with a table of buckets to search them."""

    values: FloatArray  # (thresholds,): distinct and finite
    scale: float  # buckets for a unit of score
    start: IndexArray  # (buckets + 1,): number of thresholds in earlier buckets

    @classmethod
    def of(cls, values: FloatArray) -> Thresholds:
        """Put thresholds into buckets of equal width, as the compiled code does with scores."""
        if not values.size:
            return cls(values, 0.0, np.zeros(2, dtype=np.intp))
        with np.errstate(over="ignore"):
            extent = values[-1] - values[0]
            scale = float(_BUCKETS / extent) if 0.0 < extent < np.inf else 0.0
        if not np.isfinite(scale):
            scale = 0.0
        bucket = ((values - values[0]) * scale).astype(np.intp) if scale else np.zeros(values.size, np.intp)
        return cls(values, scale, np.searchsorted(bucket, np.arange(bucket[-1] + 2)))

    def counts(self) -> LongArray:
        """Allocate counts for `count_between`."""
        return np.zeros(self.values.size + 1, dtype=np.int64)


@kernel
def count_between(
    scores: FloatArray, rows: LongArray, columns: LongArray, thresholds: Thresholds, counts: LongArray
) -> None:
    """Add to `counts` (thresholds + 1,) the numbers of scores that reach none, one, ..., all thresholds.

    `rows` and `columns` are the numbers of records that those of `scores` (rows, columns) represent.
    """
    values, start = thresholds.values, thresholds.start
    least, most = values[0], values[-1]
    for row in range(scores.shape[0]):
        for column in range(scores.shape[1]):
            score = scores[row, column]
            if score < least:
                place = 0
            elif score >= most:
                place = values.size
            else:
                # Rounding is monotone, so only thresholds of the same bucket need a comparison.
                bucket = int((score - least) * thresholds.scale) if thresholds.scale > 0.0 else 0
                place, last = start[bucket], start[bucket + 1]
                while place < last:
                    middle = (place + last) >> 1
                    if values[middle] <= score:
                        place = middle + 1
                    else:
                        last = middle
            counts[place] += rows[row] * columns[column]


_AT_ONCE = 1 << 22
"""Scores of single pairs counted together."""


@dataclass(frozen=True, eq=False)
class PrecisionRecall:
    """Correct pairs among all pairs with at least a given score (Smith 2016, section 6.3).

    Thresholds are the scores of true matches, the only ones where recall changes, in descending order; of
    those that differ by no more than a tie, the least. Whoever ties with a threshold reaches it.
    """

    thresholds: FloatArray  # (points,)
    correct: IndexArray  # (points,): true matches that reach it (tp)
    claimed: IndexArray  # (points,): pairs that reach it (tp + fp)
    matches: int  # all true matches (tp + fn)

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
        """Thin the curve to at most so many points, evenly spread; the average precision is that of these."""
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
    """Count claims at every threshold, from the scores `own` of true matches and those of all `pairs`.

    Both may be of several file pairs; matches of score -inf are never claimed.
    """
    thresholds = thresholds_of(own)
    found = np.zeros(thresholds.size + 1, dtype=np.intp)
    for scores in pairs:
        found += between(thresholds, scores)
    return curve_of(own, found)


def thresholds_of(own: FloatArray) -> FloatArray:
    """Lower ascending thresholds by the rounding error of sums."""
    return limits(_least_of_ties(own)[0])[1]


def _least_of_ties(own: FloatArray) -> tuple[FloatArray, IndexArray]:
    """List claimable scores of true matches, ascending, the least of those that tie, and their counts."""
    scores = np.sort(own[own > -np.inf])
    begins = np.flatnonzero(limits(scores)[1] > np.concatenate([[-np.inf], scores[:-1]]))
    return scores[begins], np.diff(np.append(begins, scores.size))


def between(thresholds: FloatArray, scores: FloatArray) -> IndexArray:
    """Count the scores that reach so many of the thresholds, from none to all."""
    place = np.searchsorted(thresholds, scores.ravel(), side="right")
    return np.bincount(place, minlength=thresholds.size + 1)


def curve_of(own: FloatArray, found: IndexArray) -> PrecisionRecall:
    """Build the curve from the counts of `between` over all pairs."""
    thresholds, counts = _least_of_ties(own)
    return PrecisionRecall(
        thresholds=thresholds[::-1],
        correct=np.cumsum(counts[::-1]),
        claimed=np.cumsum(found[::-1])[:-1],
        matches=own.size,
    )


def all_scores(linker: LearnedLinker, truth: Truth) -> Iterator[FloatArray]:
    """Yield the scores of all pairs of a task in batches; of scored pairs, where only those have scores."""
    if linker.scored_pairs is not None:
        score = linker.scored_pairs.score
        yield from (score[begin : begin + _AT_ONCE] for begin in range(0, score.size, _AT_ONCE))
        return
    for _, scores in in_chunks(linker, np.arange(truth.queries), truth.candidates):
        yield scores


@dataclass(frozen=True)
class Claim:
    """The most probable match of a file pair (Smith 2016, section 7)."""

    query: int  # rows of the pair, the first when several score alike
    candidate: int
    score: float
    probability: float | None  # of a match, where the linker knows it
    # 1 for a correct claim, 0 for a wrong one; among tied pairs the share of true ones
    correct: float


@dataclass(frozen=True)
class Top:
    """The largest score of some pairs."""

    score: float = -np.inf
    place: tuple[int, int] = (-1, -1)  # rows of the first pair with it; -1 without pairs

    def or_of(self, other: Top) -> Top:
        """Combine it with that of other pairs."""
        if self.score != other.score:
            return self if self.score > other.score else other
        return Top(self.score, min(self.place, other.place))


def top_of(scores: FloatArray, first: IndexArray, candidates: IndexArray) -> Top:
    """Find the largest of the `scores` (rows, columns) of kinds with these first records."""
    top = float(scores.max(initial=-np.inf))
    if top == -np.inf:
        return Top()
    row, column = np.nonzero(scores == top)
    return Top(top, (int(first[row[0]]), int(candidates[column[0]])))


def top_of_pairs(pairs: ScoredPairs) -> Top:
    """Find the largest score of single pairs; all others cannot be matches."""
    best = np.flatnonzero(pairs.score == pairs.score.max(initial=-np.inf))
    if not best.size:
        return Top()
    query, candidate = pairs.query[best], pairs.candidate[best]
    first = int(np.lexsort((candidate, query))[0])
    return Top(float(pairs.score[best[0]]), (int(query[first]), int(candidate[first])))


def claim_of(linker: LearnedLinker, top: Top, own: FloatArray, curve: PrecisionRecall) -> Claim | None:
    """Claim that a pair of the largest score is a match; None when no pair can be one.

    Where a true pair, of scores `own`, ties with the largest score, the curve's first point claims them all.
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
