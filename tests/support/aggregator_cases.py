"""Every aggregator with its independent definition, for the tests of aggregators, models and engines.

One case for each name of the registry, and more for options. Whoever adds an aggregator adds its case here;
all lists below follow from these and from what aggregators and the verifier say of themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
