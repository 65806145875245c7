"""Every aggregator with its independent definition, for the tests of aggregators, models and engines.

One case for each name of the registry, and more for options. Whoever adds an aggregator adds its case here;
all lists below follow from these and from what aggregators and the verifier say of themselves."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import brute_force as plain
import brute_optimum
import numpy as np

from linkrisk.formulations.linkage.aggregators import Aggregator, make_aggregator
from linkrisk.formulations.linkage.domains import Polytope
from linkrisk.solver.certificates.core.families import FAMILIES

NAMES = ("A", "B", "C", "D", "E", "F")


@dataclass(frozen=True)
class Case:
    """How to make an aggregator, how its JSON parameters define a distance, and its brute-force family.

    `blind` are parameters for the attributes A and B under which a candidate that is far away in one of them
    may still be at no distance.
    """

    label: str
    name: str
    options: dict[str, Any]
    define: Callable[[Aggregator, dict[str, Any]], Callable[[Any], float]]
    family: Callable[[int], brute_optimum.Family]
    blind: dict[str, Any]

    def make(self, n: int) -> Aggregator:
        return make_aggregator(self.name, NAMES[:n], **self.options)

    @property
    def key(self) -> str | None:
        """Under which the JSON has a table of its parameters by name; None where it has none."""
        aggregator = self.make(2)
        key, content = next(iter(aggregator.decode(aggregator.equal()).items()))
        return key if isinstance(content, dict) else None


def _weights(aggregator, parameters):
    weights = [parameters["weights"][name] for name in aggregator.attributes]
    return lambda c: plain.weighted_mean(c, weights)


def _ranks(aggregator, parameters):
    weights = [parameters["weights"][str(rank + 1)] for rank in range(len(aggregator.attributes))]
    return lambda c: plain.owa(c, weights)


def _of_sets(key, integral):
    """Parameters of sets of attributes, whose names commas join."""

    def define(aggregator, parameters):
        place = {name: k for k, name in enumerate(aggregator.attributes)}
        sets = {
            frozenset(place[name] for name in names.split(",")): value
            for names, value in parameters[key].items()
        }
        return lambda c: integral(c, sets)

    return define


_measure, _moebius = _of_sets("measure", plain.choquet), _of_sets("moebius", plain.choquet_of_moebius)


def _matrix(aggregator, parameters):
    del aggregator
    return plain.Bilinear(parameters["matrix"])


CASES: list[Case] = []
LABELS: list[str] = []
BY_LABEL: dict[str, Case] = {}
POLYTOPES: list[Case] = []
"""Those whose domain is a polytope."""
SYMMETRIC: list[str] = []
"""Labels of those whose attributes can change places."""
NAMED: list[Case] = []
"""Those whose parameters are a table of names."""
CERTIFIABLE: list[Case] = []
"""Those that the verifier knows: certificates are tested on these."""


def add(case: Case) -> None:
    """Take a case into all lists that it belongs to."""
    aggregator = case.make(2)
    CASES.append(case)
    LABELS.append(case.label)
    BY_LABEL[case.label] = case
    if isinstance(aggregator.domain, Polytope):
        POLYTOPES.append(case)
    if aggregator.symmetric:
        SYMMETRIC.append(case.label)
    if case.key is not None:
        NAMED.append(case)
    if case.name in FAMILIES:
        CERTIFIABLE.append(case)


_NONE_OF_MEASURE = {"A": 0.0, "B": 0.0, "A,B": 1.0}
_OWN = (
    Case(
        "weighted-mean",
        "weighted-mean",
        {},
        _weights,
        brute_optimum.weighted_mean_family,
        {"weights": {"A": 0.0, "B": 1.0}},
    ),
    Case("owa", "owa", {}, _ranks, brute_optimum.owa_family, {"weights": {"1": 0.0, "2": 1.0}}),
    Case("choquet", "choquet", {}, _measure, brute_optimum.choquet_family, {"measure": _NONE_OF_MEASURE}),
    Case(
        "2-additive",
        "choquet",
        {"k_additive": 2},
        _moebius,
        lambda n: brute_optimum.k_additive_family(n, 2),
        {"moebius": _NONE_OF_MEASURE},
    ),
    Case(
        "3-additive",
        "choquet",
        {"k_additive": 3},
        _moebius,
        lambda n: brute_optimum.k_additive_family(n, 3),
        {"moebius": _NONE_OF_MEASURE},
    ),
    Case(
        "mahalanobis",
        "mahalanobis",
        {},
        _matrix,
        brute_optimum.bilinear_family,
        {"matrix": [[0.5, 0.5], [0.5, 0.5]]},
    ),
    Case(
        "mahalanobis-absolute",
        "mahalanobis",
        {"differences": "absolute"},
        _matrix,
        lambda n: brute_optimum.bilinear_family(n, "absolute"),
        {"matrix": [[0.5, -0.5], [-0.5, 0.5]]},
    ),
)
for _case in _OWN:
    add(_case)


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
    points = [aggregator.domain.sample(count, random), aggregator.equal()[None, :]]
    relative = aggregator.simpler()
    if relative is not None:
        simpler, lift = relative
        lifted = [
            lift(theta) for theta in np.vstack([simpler.domain.sample(20, random), np.eye(simpler.dimension)])
        ]
        points.append(np.array(lifted))
    return np.vstack(points)


# Random measures, and the indices and the integral of a measure by definition


def random_set_function(seed, n):
    """Any values, on the empty set too."""
    return np.random.default_rng(seed).normal(size=1 << n)


def random_fuzzy_measure(seed, n):
    """Monotone by construction: each subset is the largest of its parts plus a random gain."""
    rng = np.random.default_rng(seed)
    measure = np.zeros(1 << n)
    for mask in range(1, 1 << n):
        parts = [measure[mask ^ (1 << k)] for k in range(n) if mask >> k & 1]
        measure[mask] = max(parts) + rng.exponential() * rng.integers(0, 2)
    measure[-1] += 1.0
    return measure / measure[-1]


def subsets(elements):
    """All subsets, by size."""
    return [subset for size in range(len(elements) + 1) for subset in combinations(elements, size)]


def bits(subset):
    """The bit mask of a subset."""
    return sum(1 << k for k in subset)


def subset_weight(size, others):
    """The probability that a random order puts exactly a given subset of `others` elements first."""
    return 1.0 / ((others + 1) * math.comb(others, size))


def brute_shapley(measure, n):
    """What each attribute adds to those before it, averaged over all orders."""
    phi = np.zeros(n)
    for k in range(n):
        for subset in subsets([i for i in range(n) if i != k]):
            gain = measure[bits(subset) | 1 << k] - measure[bits(subset)]
            phi[k] += subset_weight(len(subset), n - 1) * gain
    return phi


def brute_interaction(measure, n):
    """What each pair adds beyond what its two attributes add alone, averaged over all orders."""
    index = np.zeros((n, n))
    for j, k in combinations(range(n), 2):
        for subset in subsets([i for i in range(n) if i not in (j, k)]):
            mask, a, b = bits(subset), 1 << j, 1 << k
            gain = measure[mask | a | b] - measure[mask | a] - measure[mask | b] + measure[mask]
            index[j, k] += subset_weight(len(subset), n - 2) * gain
    return index + index.T
