"""Match weights in bits: of every level of agreement, and interpolated between thresholds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray
from linkrisk.solver.linkage.probabilistic.coding import CodedColumn
from linkrisk.solver.linkage.probabilistic.comparisons import SIMILARITIES, Comparison
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
