"""Provide the baselines: distances without learning, as comparison and warm start of the worst case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.errors import called
from linkrisk.formulations.linkage.aggregators import Aggregator
from linkrisk.formulations.linkage.aggregators.mahalanobis import Mahalanobis
from linkrisk.formulations.linkage.aggregators.weighted_mean import WeightedMean
from linkrisk.formulations.linkage.distances import Differences
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.run.result import plain

EXACT = 1e-6
"""Directions in which partners differ by less than this share of strangers' differences count as exact.

Shares are of mean squares. It is small enough for exact columns to decide before all others: two values a
hundredth of a standard deviation apart outweigh columns whose masking has left nothing. It is large enough
for the others to break the ties that exact columns leave: distances tie within `TIE_TOLERANCE` of the
matrix's trace, which is 1e-5 of the terms of a column with the smallest weight.
"""

_NOTHING = 1e-10
"""Relative size below which a direction is zero, because columns are collinear."""


def euclidean_form(pair: LinkagePair) -> DistanceForm:
    """The Euclidean distance of standardised records (D11.2, Eq. 1)."""
    aggregator = WeightedMean(pair.attributes, Differences.SQUARED)
    return aggregator.form(aggregator.equal())


def mahalanobis_form(pair: LinkagePair) -> DistanceForm:
    """The classical Mahalanobis distance (D11.2, Eq. 2); its matrix is `classical_matrix`."""
    aggregator = Mahalanobis(pair.attributes, Differences.SIGNED)
    return aggregator.form(_upper_triangle(aggregator, classical_matrix(pair)))


def classical_matrix(pair: LinkagePair) -> FloatArray:
    """The matrix of the classical Mahalanobis distance, shape (attributes, attributes).

    It is the inverse of the mean products of the differences between partners. Where the means of both files
    are the same, as those of files standardised by their own are, these are the covariances ``Var(X) + Var(Y)
    - 2 Cov(X, Y)`` of Eq. 2 (Torra, Abowd and Domingo-Ferrer 2006, its source). Otherwise a shift of all
    records counts as a difference like any other, because the distance does not take it back.

    Directions are judged by how much partners differ in them relative to strangers (all queries and all
    candidates), so units do not matter. In a direction where partners do not differ the inverse would be
    infinite; its mean square is taken as `EXACT` of that of strangers, so it counts most, not least.
    Directions in which strangers do not differ either (collinear columns) count nothing. Distances of
    categories have no sign: each has its mean square, and no product with the others. The identity, where
    there are no more partners than attributes, and products would say more of them than of masking.
    """
    differences = pair.partner_distances(Differences.SIGNED)[pair.reachable]
    count, n = differences.shape
    if count <= n:
        return np.eye(n)
    partners = _without_products(pair, differences.T @ differences / count)
    strangers = _between_strangers(pair)
    scale = np.sqrt(np.diag(strangers))
    scale[scale == 0.0] = 1.0
    spread, directions = np.linalg.eigh(strangers / np.outer(scale, scale))
    kept = spread > _NOTHING * spread[-1]
    if not kept.any():
        return np.eye(n)
    # Scale columns so that strangers differ by one on average, then take the products of partners.
    white = directions[:, kept] / np.sqrt(spread[kept]) / scale[:, None]
    share, turned = np.linalg.eigh(white.T @ partners @ white)
    axes = white @ turned
    return _without_products(pair, (axes / np.maximum(share, EXACT)) @ axes.T)


def _between_strangers(pair: LinkagePair) -> FloatArray:
    """Compute mean products of differences between all queries and all possible candidates."""
    # About the candidates' mean, products of a query and a candidate are zero on average.
    middle = np.nanmean(pair.candidates, axis=0)
    # Missing values are replaced by the mean.
    queries, candidates = (
        np.where(np.isnan(records), 0.0, records - middle) for records in (pair.queries, pair.candidates)
    )
    products = queries.T @ queries / len(queries) + candidates.T @ candidates / len(candidates)
    products = _without_products(pair, products)
    for k, table in pair.looked_up.items():
        sides = zip((pair.queries, pair.candidates), table.shape, strict=True)
        often = [np.bincount(values[:, k].astype(np.intp), minlength=size) for values, size in sides]
        weight = np.outer(*often).astype(np.float64) * np.isfinite(table)
        squares = np.where(np.isfinite(table), table, 0.0) ** 2
        products[k, k] = (weight * squares).sum() / max(weight.sum(), 1.0)
    return products


def _without_products(pair: LinkagePair, matrix: FloatArray) -> FloatArray:
    """Clear the entries of a categorical attribute with another one."""
    for k in pair.looked_up:
        own = matrix[k, k]
        matrix[k, :] = matrix[:, k] = 0.0
        matrix[k, k] = own
    return matrix


def _upper_triangle(aggregator: Mahalanobis, matrix: FloatArray) -> FloatArray:
    return aggregator.domain.repair(matrix[np.triu_indices(len(matrix))])


def baseline_forms(pair: LinkagePair, aggregator: Aggregator | None = None) -> dict[str, DistanceForm]:
    """List the baselines by name.

    Those that belong to the family of `aggregator` are its members, so that near-ties are judged as those of
    all its attacks are.
    """
    forms = {"euclid": euclidean_form(pair), "mahalanobis": mahalanobis_form(pair)}
    if aggregator is not None:
        forms |= {name: aggregator.form(theta) for name, theta in own_attacks(aggregator, pair).items()}
    return forms


def own_attacks(aggregator: Aggregator, pair: LinkagePair) -> dict[str, FloatArray]:
    """Express the baselines that belong to a family as its parameters, by name.

    The Euclidean distance is a mean of squared differences, and a quadratic form of whatever differences. The
    classical Mahalanobis distance is a quadratic form of signed ones; where it is diagonal (one attribute at
    most is numeric), it is a quadratic form of absolute differences and a weighted mean of squared ones too.
    """
    squared = aggregator.differences is Differences.SQUARED
    # Ties of squares are those of a mean of squared differences, and of quadratic forms.
    own = {"euclid": aggregator.equal()} if aggregator.tied_differences is Differences.SQUARED else {}
    matrix = classical_matrix(pair)
    diagonal = not (matrix - np.diag(np.diag(matrix))).any()
    if isinstance(aggregator, Mahalanobis):
        if diagonal or aggregator.differences is Differences.SIGNED:
            own["mahalanobis"] = _upper_triangle(aggregator, matrix)
    elif diagonal and squared:
        weights = np.diag(matrix) / np.trace(matrix)
        relative = aggregator.simpler()
        if isinstance(aggregator, WeightedMean):
            own["mahalanobis"] = weights
        elif relative is not None:
            own["mahalanobis"] = relative[1](weights)
    return own


def baselines(evaluator: Evaluator, aggregator: Aggregator | None = None) -> dict[str, float | None]:
    """Count the weight linked by each of `baseline_forms`; None where not all blocks could be counted.

    Under the strict tie rule that is their number.
    """
    forms = baseline_forms(evaluator.pair, aggregator)
    counts = {name: evaluator.count(form) for name, form in forms.items()}
    return {
        name: plain(found.linked_weight) if found.settled.all() else None for name, found in counts.items()
    }


@dataclass(frozen=True)
class KnownAttack:
    """A baseline of another family that links more than the attack that was found."""

    name: str  # ``euclid`` or ``mahalanobis``
    linked: float  # its linked weight
    options: str | None  # options of `fit` whose family contains it; None where no family does


def best_known(
    aggregator: Aggregator, pair: LinkagePair, counts: Mapping[str, float | None], linked: float
) -> KnownAttack | None:
    """Find the best of the baselines outside a family, if it links more than `linked`."""
    own = own_attacks(aggregator, pair)
    others = {
        name: count
        for name, count in counts.items()
        if name not in own and count is not None and count > linked + 1e-9
    }
    if not others:
        return None
    name = max(others, key=lambda other: others[other])
    return KnownAttack(name, others[name], _options(name, aggregator, pair))


def _options(name: str, aggregator: Aggregator, pair: LinkagePair) -> str | None:
    """List the options of `fit` whose family contains a baseline."""
    if name == "euclid":
        return called("differences", "squared")
    usual = aggregator.differences is aggregator.allowed_differences[0]
    kind = Differences.ABSOLUTE if pair.looked_up else Differences.SIGNED
    if name not in own_attacks(Mahalanobis(pair.attributes, kind), pair):
        return None  # numeric differences with a sign beside categories without
    if isinstance(aggregator, Mahalanobis):
        return called("differences", kind)
    return called("aggregator", "mahalanobis") + ("" if usual else f" {called('differences', kind)}")
