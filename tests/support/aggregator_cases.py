"""Every aggregator with its independent definition, for the tests of aggregators, models and engines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import brute_force as plain
import brute_optimum
import numpy as np

from linkrisk.formulations.linkage.aggregators import Aggregator, make_aggregator

NAMES = ("A", "B", "C", "D", "E", "F")


@dataclass(frozen=True)
class Case:
    """How to make an aggregator, how its JSON parameters define a distance, and its brute-force family."""

    label: str
    name: str
    options: dict[str, Any]
    define: Callable[[Aggregator, dict[str, Any]], Callable[[Any], float]]
    family: Callable[[int], brute_optimum.Family]

    def make(self, n: int) -> Aggregator:
        return make_aggregator(self.name, NAMES[:n], **self.options)


def _weights(aggregator, parameters):
    weights = [parameters["weights"][name] for name in aggregator.attributes]
    return lambda c: plain.weighted_mean(c, weights)


def _ranks(aggregator, parameters):
    weights = [parameters["weights"][str(rank + 1)] for rank in range(len(aggregator.attributes))]
    return lambda c: plain.owa(c, weights)


def _measure(aggregator, parameters):
    place = {name: k for k, name in enumerate(aggregator.attributes)}
    measure = {
        frozenset(place[name] for name in key.split(",")): value
        for key, value in parameters["measure"].items()
    }
    return lambda c: plain.choquet(c, measure)


def _moebius(aggregator, parameters):
    place = {name: k for k, name in enumerate(aggregator.attributes)}
    moebius = {
        frozenset(place[name] for name in key.split(",")): value
        for key, value in parameters["moebius"].items()
    }
    return lambda c: plain.choquet_of_moebius(c, moebius)


def _matrix(aggregator, parameters):
    del aggregator
    return plain.Bilinear(parameters["matrix"])


CASES = (
    Case("weighted-mean", "weighted-mean", {}, _weights, brute_optimum.weighted_mean_family),
    Case("owa", "owa", {}, _ranks, brute_optimum.owa_family),
    Case("choquet", "choquet", {}, _measure, brute_optimum.choquet_family),
    Case(
        "2-additive", "choquet", {"k_additive": 2}, _moebius, lambda n: brute_optimum.k_additive_family(n, 2)
    ),
    Case(
        "3-additive", "choquet", {"k_additive": 3}, _moebius, lambda n: brute_optimum.k_additive_family(n, 3)
    ),
    Case("mahalanobis", "mahalanobis", {}, _matrix, brute_optimum.bilinear_family),
    Case(
        "mahalanobis-absolute",
        "mahalanobis",
        {"differences": "absolute"},
        _matrix,
        lambda n: brute_optimum.bilinear_family(n, "absolute"),
    ),
)
LABELS = [case.label for case in CASES]
BY_LABEL = {case.label: case for case in CASES}
POLYTOPES = [case for case in CASES if case.name != "mahalanobis"]


def random_distances(case: Case, seed: int, rows: int, n: int) -> np.ndarray:
    """Attribute distances of the kind that the aggregator takes, with ties and zeros among them."""
    random = np.random.default_rng(seed)
    z = random.normal(size=(rows, n))
    z[rows // 2 :] = np.round(z[rows // 2 :])
    kind = case.make(n).differences.value
    return np.array([plain.compare(row, np.zeros(n), kind) for row in z])


def samples(aggregator, count=60, seed=0):
    """Random parameters, the equal ones, and those of the simpler aggregator."""
    random = np.random.default_rng(seed)
    points = [aggregator.sample(count, random), aggregator.equal()[None, :]]
    relative = aggregator.relative()
    if relative is not None:
        simpler, lift = relative
        lifted = [lift(theta) for theta in np.vstack([simpler.sample(20, random), np.eye(simpler.dimension)])]
        points.append(np.array(lifted))
    return np.vstack(points)
