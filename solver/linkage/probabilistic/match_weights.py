"""Match weights in bits, and the decision rule of Fellegi and Sunter (1969)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from linkrisk.arrays import FloatArray
from linkrisk.solver.linkage.linker import LearnedLinker
from linkrisk.solver.linkage.probabilistic.coding import CodedColumn
from linkrisk.solver.linkage.probabilistic.comparisons import SIMILARITIES, Comparison
from linkrisk.solver.linkage.probabilistic.em import Probabilities
from linkrisk.solver.linkage.probabilistic.kernels import Weights


def level_weights(m: FloatArray, u: FloatArray) -> FloatArray:
    """``log2(m / u)`` of every level, disagreement first (Fellegi and Sunter 1969)."""
    return np.asarray(np.log2(m) - np.log2(u))


def pattern_weights(patterns: NDArray[np.uint8], weights: Sequence[FloatArray]) -> FloatArray:
    """Match weight of every pattern, shape (G,): the sum over attributes, 0 for a missing value."""
    total = np.zeros(len(patterns))
    for k, own in enumerate(weights):
        total += np.concatenate([[0.0], own])[patterns[:, k]]
    return total


def compiled_weights(
    columns: Sequence[CodedColumn], comparisons: Sequence[Comparison], weights: Sequence[FloatArray]
) -> Weights:
    """Match weights as compiled code reads them.

    Between two thresholds of an interpolated comparison the weight is linear in the similarity or the
    difference (Winkler 1990); from full agreement on, and where disagreement is full, it is constant.
    """
    none = np.empty(0)
    segment, knots, heights = [], [], []
    for column, comparison, own in zip(columns, comparisons, weights, strict=True):
        interpolated = comparison.disagreement is not None
        knot, height = (np.array(comparison.knots), own[::-1]) if interpolated else (none, none)
        knots.append(knot)
        heights.append(height)
        if not interpolated:
            segment.append(own[column.segments.level.astype(np.intp) - 1])
        elif comparison.measure in SIMILARITIES:
            segment.append(np.interp(column.segments.similarity, knot[::-1], height[::-1]))
        else:
            segment.append(np.full(column.segments.level.size, np.nan))
    return Weights(
        disagreement=np.array([own[0] for own in weights]),
        segment=np.concatenate(segment),
        knot_first=np.concatenate([[0], np.cumsum([knot.size for knot in knots])]).astype(np.int64),
        knot=np.concatenate(knots),
        knot_weight=np.concatenate(heights),
    )


class MatchWeights(LearnedLinker):
    """Scores are match weights in bits: the sum over attributes of ``log2(m / u)`` at the level reached."""

    def __init__(
        self,
        probabilities: Probabilities,
        parameters: dict[str, Any],
        notes: tuple[str, ...] = (),
    ) -> None:
        self.p = probabilities.p
        both = zip(probabilities.m, probabilities.u, strict=True)
        self.level_weights = tuple(level_weights(m, u) for m, u in both)
        self.parameters = parameters
        self.notes = notes

    @property
    def even(self) -> float:
        """The match weight at which a match is as likely as none, in bits."""
        return float(np.log2(1.0 - self.p) - np.log2(self.p))

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """``p 2**w / (p 2**w + 1 - p)`` for a match weight w."""
        odds = scores - self.even  # in place from here: there may be very many
        odds *= np.log(2.0)
        return np.asarray(expit(odds, out=odds), dtype=np.float64)


@dataclass(frozen=True)
class Thresholds:
    """Match weights that divide pairs in three."""

    link: float  # pairs with at least this weight, in bits, are linked; inf when no pair may be
    non_link: float  # pairs with less are non-linked; those between the two are for clerical review
    # ``P(linked | U)`` that the rule then has: the share of non-matches that are linked
    false_link_rate: float
    false_non_link_rate: float  # ``P(non-linked | M)``: the share of matches that are non-linked

    def outcomes(self, weights: FloatArray, counts: FloatArray) -> dict[str, float]:
        """How many pairs of these weights are linked, clerical and non-linked."""
        linked, non_linked = weights >= self.link, weights < self.non_link
        return {
            "linked": float(counts[linked].sum()),
            "clerical": float(counts[~(linked | non_linked)].sum()),
            "non_linked": float(counts[non_linked].sum()),
        }

    def to_dict(self) -> dict[str, Any]:
        """Numbers, ready for JSON; infinite thresholds are None."""
        return {name: value if np.isfinite(value) else None for name, value in asdict(self).items()}


def error_rate_thresholds(
    weights: FloatArray,
    matches: FloatArray,
    others: FloatArray,
    most_false_links: float,
    most_false_non_links: float,
    even: float,
) -> Thresholds:
    """Link as many pairs, and leave as many out, as two error rates allow.

    Patterns are ordered by their weight; those of equal weight stay together, so that the rates are
    reached or stayed below. Where a pattern could be either, it is linked when a match is at least as
    likely as none, and nothing is left for clerical review. `matches` and `others` are expected numbers of
    pairs of each weight; `most_false_links` is mu = P(linked | U), `most_false_non_links` lambda =
    P(non-linked | M), and `even` the weight at which a match is as likely as none.
    """
    levels, place = np.unique(weights, return_inverse=True)
    share_m = _shares(np.bincount(place, matches))
    share_u = _shares(np.bincount(place, others))
    below = np.concatenate([[0.0], np.cumsum(share_m)])  # P(weight < level | M)
    above = np.concatenate([np.cumsum(share_u[::-1])[::-1], [0.0]])  # P(weight >= level | U)
    rounding = 1e-12
    first_linked = int(np.argmax(above <= most_false_links + rounding))
    first_kept = int(np.flatnonzero(below <= most_false_non_links + rounding)[-1])
    if first_linked < first_kept:
        cut = int(np.clip(np.searchsorted(levels, even), first_linked, first_kept))
        first_linked = first_kept = cut
    edges = np.append(levels, np.inf)
    return Thresholds(
        link=float(edges[first_linked]),
        non_link=float(edges[first_kept]),
        false_link_rate=float(above[first_linked]),
        false_non_link_rate=float(below[first_kept]),
    )


def _shares(counts: NDArray[np.generic]) -> FloatArray:
    """Counts as shares of their sum; zeros stay zeros."""
    amounts = counts.astype(np.float64)
    return np.asarray(amounts / (amounts.sum() or 1.0))
