"""Distances that nobody has to learn: what the worst case is compared with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from formulations.aggregators import Aggregator
from formulations.aggregators.mahalanobis import Mahalanobis
from formulations.aggregators.weighted_mean import WeightedMean
from formulations.distances import Differences
from formulations.forms import DistanceForm
from formulations.pair import LinkagePair
from solver.linkage.evaluator import Evaluator
from solver.results import plain

FloatArray = NDArray[np.float64]


def euclidean_form(pair: LinkagePair) -> DistanceForm:
    """The Euclidean distance of standardised records (D11.2, Eq. 1)."""
    aggregator = WeightedMean(pair.attributes, Differences.SQUARED)
    return aggregator.form(aggregator.equal())


def mahalanobis_form(pair: LinkagePair) -> DistanceForm:
    """The classical Mahalanobis distance (D11.2, Eq. 2).

    The covariance matrix is that of the differences between partners, ``Var(X) + Var(Y) - 2 Cov(X, Y)``
    (Torra, Abowd and Domingo-Ferrer 2006, the source of Eq. 2), with a pseudo-inverse where attributes
    are collinear; the Euclidean distance where there is no covariance to speak of. Distances of categories
    have no sign: each has its mean square instead, and no covariance with the others.
    """
    aggregator = Mahalanobis(pair.attributes, Differences.SIGNED)
    differences = pair.partner_distances(Differences.SIGNED)[pair.reachable]
    if len(differences) < 2:
        return aggregator.form(aggregator.equal())
    covariance = np.atleast_2d(np.cov(differences, rowvar=False))
    if pair.tables is not None:
        for k in pair.tables.attributes:
            covariance[k, :] = covariance[:, k] = 0.0
            covariance[k, k] = np.mean(differences[:, k] ** 2)
    if not covariance.any():
        return aggregator.form(aggregator.equal())  # nothing was masked
    inverse = np.linalg.pinv(covariance, rcond=1e-10, hermitian=True).astype(np.float64)
    theta = aggregator.repair(inverse[np.triu_indices(len(inverse))])
    return aggregator.form(theta)


def baseline_forms(pair: LinkagePair) -> dict[str, DistanceForm]:
    """The distances that nobody has to learn, by name."""
    return {"euclid": euclidean_form(pair), "mahalanobis": mahalanobis_form(pair)}


def own_attacks(aggregator: Aggregator, pair: LinkagePair) -> dict[str, FloatArray]:
    """The baselines that belong to a family, by name, as its parameters."""
    return {}


def baselines(evaluator: Evaluator) -> dict[str, float]:
    """Weight of the records linked by the Euclidean and the classical Mahalanobis distance.

    Under the strict tie rule that is their number.
    """
    return {name: plain(evaluator.weight(form)) for name, form in baseline_forms(evaluator.pair).items()}
