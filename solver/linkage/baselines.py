"""Distances that nobody has to learn: what the worst case is compared with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from formulations.aggregators.mahalanobis import Mahalanobis
from formulations.aggregators.weighted_mean import WeightedMean
from formulations.distances import Differences
from formulations.forms import DistanceForm
from formulations.pair import LinkagePair
from solver.linkage.evaluator import Evaluator

FloatArray = NDArray[np.float64]


def euclidean_form(pair: LinkagePair) -> DistanceForm:
    """The Euclidean distance of standardised records (D11.2, Eq. 1)."""
    aggregator = WeightedMean(pair.attributes, Differences.SQUARED)
    return aggregator.form(aggregator.equal())


def mahalanobis_form(pair: LinkagePair) -> DistanceForm:
    """The classical Mahalanobis distance (D11.2, Eq. 2).

    The covariance matrix is that of the standardised records of both files together, which an intruder
    can compute without knowing who is who; its pseudo-inverse where attributes are collinear.
    """
    aggregator = Mahalanobis(pair.attributes, Differences.SIGNED)
    covariance = np.atleast_2d(np.cov(np.vstack([pair.queries, pair.candidates]), rowvar=False))
    inverse = np.linalg.pinv(covariance, rcond=1e-10, hermitian=True)
    theta = aggregator.repair(inverse[np.triu_indices(len(inverse))])
    return aggregator.form(theta)


def baselines(evaluator: Evaluator) -> dict[str, int]:
    """Linked records under the Euclidean and the classical Mahalanobis distance."""
    return {
        "euclid": int(evaluator.count(euclidean_form(evaluator.pair)).sum()),
        "mahalanobis": int(evaluator.count(mahalanobis_form(evaluator.pair)).sum()),
    }
