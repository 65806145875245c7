"""Parameters of some attributes as parameters of these and others, which count for nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.aggregators import Aggregator
from linkrisk.formulations.linkage.aggregators.choquet import Choquet
from linkrisk.formulations.linkage.aggregators.mahalanobis import Mahalanobis
from linkrisk.formulations.linkage.aggregators.weighted_mean import WeightedMean


def embedded(
    smaller: Aggregator, larger: Aggregator, positions: Sequence[int], theta: FloatArray
) -> FloatArray | None:
    """The same distance in a family with more attributes; None where the family does not have it.

    A weighted mean gives the others weight zero, a quadratic form rows and columns of zeros, and a measure
    counts of every set the members that there were before. An OWA has no such parameters: one more attribute
    moves all ranks.

    `smaller` and `larger`: of one family, with n and m attributes. `positions`: where each attribute of the
    smaller one is in the larger one. `theta` (dimension of the smaller one,). Returns shape (dimension of the
    larger one,).
    """
    m, at = len(larger.attributes), np.asarray(positions, dtype=np.intp)
    if type(smaller) is not type(larger):
        return None
    if isinstance(larger, WeightedMean):
        weights = np.zeros(m)
        weights[at] = theta
        return weights
    if isinstance(smaller, Mahalanobis) and isinstance(larger, Mahalanobis):
        matrix = np.zeros((m, m))
        matrix[np.ix_(at, at)] = smaller.domain.matrix(theta)
        return larger.domain.theta(matrix)
    if type(larger) is Choquet:
        sets = np.arange(1, 2**m)
        before = sum(((sets >> position) & 1) << k for k, position in enumerate(at.tolist()))
        return np.asarray(np.concatenate([[0.0], theta])[before])
    return None
