"""Choquet integral over a k-additive fuzzy measure: interactions of at most k attributes (Grabisch 1997)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray
from linkrisk.errors import called
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.aggregators.base import ROUNDED, Aggregator, Lift, Words, named_values
from linkrisk.formulations.linkage.aggregators.choquet import MOST_ATTRIBUTES, Choquet
from linkrisk.formulations.linkage.aggregators.owa import OrderedWeightedAverage
from linkrisk.formulations.linkage.aggregators.weighted_mean import WeightedMean
from linkrisk.formulations.linkage.distances import Differences
from linkrisk.formulations.linkage.domains import MoebiusMeasures, Simplex, on_simplex
from linkrisk.formulations.linkage.forms import DistanceForm, FormKind
from linkrisk.formulations.linkage.fuzzy_measures import (
    check_names,
    measure_to_names,
    moebius,
    symmetric_measure,
    zeta,
)

_GRID = 2.0**-52


class _KAdditive(Aggregator):
    """What both k-additive forms share: a Moebius transform on the subsets of at most k attributes."""

    name: ClassVar[str] = Choquet.name
    words: ClassVar[Words] = Choquet.words
    k: int

    def __init__(self, attributes: tuple[str, ...], differences: Differences | str | None = None) -> None:
        super().__init__(attributes, differences)
        check_names(self._subset_names())

    @property
    def options(self) -> dict[str, Any]:
        """The k that a user chose."""
        return {"k_additive": self.k}

    @property
    def subsets(self) -> list[tuple[int, ...]]:
        """Subsets of one to k attributes, by size."""
        n = len(self.attributes)
        return [subset for size in range(1, self.k + 1) for subset in combinations(range(n), size)]

    def _subset_names(self) -> tuple[str, ...]:
        return tuple(",".join(self.attributes[k] for k in subset) for subset in self.subsets)

    @abstractmethod
    def moebius(self, theta: FloatArray) -> FloatArray:
        """Moebius coefficient of each of `subsets`."""

    @abstractmethod
    def _from_moebius(self, coefficients: FloatArray) -> FloatArray:
        """``theta`` of Moebius coefficients."""

    def _table(self, theta: FloatArray) -> FloatArray:
        """The measure as a table of ``2**n`` values."""
        full = np.zeros(2 ** len(self.attributes))
        full[[sum(1 << k for k in subset) for subset in self.subsets]] = self.moebius(theta)
        return zeta(full)

    def form(self, theta: FloatArray) -> DistanceForm:
        """A Choquet integral, by its table or, where that would be too long, by pairwise minima."""
        coefficients = self.moebius(theta)
        n = len(self.attributes)
        if n <= MOST_ATTRIBUTES:
            return DistanceForm(FormKind.CHOQUET, self.differences, self._table(theta))
        matrix = np.zeros((n, n))
        for subset, value in zip(self.subsets, coefficients, strict=True):
            matrix[subset[0], subset[-1]] = value
        return DistanceForm(FormKind.PAIRWISE, self.differences, matrix)

    def decode(self, theta: FloatArray) -> dict[str, Any]:
        """``{"moebius": {...}}``, and ``{"measure": {...}}`` while its subsets can be listed."""
        coefficients = self.moebius(theta).tolist()
        parameters: dict[str, Any] = {"moebius": dict(zip(self._subset_names(), coefficients, strict=True))}
        n = len(self.attributes)
        if n <= MOST_ATTRIBUTES:
            table = self._table(theta)
            parameters["measure"] = measure_to_names(table, self.attributes)
        return parameters

    def encode(self, parameters: Mapping[str, Any]) -> FloatArray:
        """Read ``{"moebius": {...}}``."""
        coefficients = named_values(parameters, "moebius", self._subset_names(), self.name)
        return self.admit(self._from_moebius(coefficients))

    def equal(self) -> FloatArray:
        """Equal weights, no interaction."""
        return self.lift(np.full(len(self.attributes), 1.0 / len(self.attributes)))

    def simpler(self) -> tuple[WeightedMean, Lift]:
        """The weighted mean: the 1-additive measures."""
        return WeightedMean(self.attributes, self.differences), self.lift

    def lift(self, theta: FloatArray) -> FloatArray:
        """The additive measure of the weights."""
        rest = np.zeros(len(self.subsets) - len(self.attributes))
        return self._from_moebius(np.concatenate([theta, rest]))

    def lift_from(self, other: Aggregator) -> Lift | None:
        """The weighted mean; and the OWA, where k does not restrict."""
        n = len(self.attributes)
        owa = isinstance(other, OrderedWeightedAverage) and other.differences is self.differences
        if not owa or self.k < n or n > MOST_ATTRIBUTES:
            return super().lift_from(other)
        masks = [sum(1 << k for k in subset) for subset in self.subsets]
        return lambda theta: self.domain.repair(
            self._from_moebius(moebius(symmetric_measure(on_simplex(theta)))[masks])
        )

    def importance(self, theta: FloatArray) -> dict[str, float]:
        """Shapley values: each Moebius coefficient shared equally among the attributes of its subset."""
        shares = dict.fromkeys(self.attributes, 0.0)
        for subset, value in zip(self.subsets, self.moebius(theta).tolist(), strict=True):
            for k in subset:
                shares[self.attributes[k]] += value / len(subset)
        return shares

    def interaction(self, theta: FloatArray) -> list[list[float]]:
        """Pairwise interaction: ``sum over A containing both of m(A) / (|A| - 1)``."""
        n = len(self.attributes)
        matrix = np.zeros((n, n))
        for subset, value in zip(self.subsets, self.moebius(theta), strict=True):
            for first, second in combinations(subset, 2):
                matrix[first, second] += value / (len(subset) - 1)
        indices: list[list[float]] = (matrix + matrix.T).tolist()
        return indices


class ExtremePoints(Simplex):
    """Weights of ``c_k``, ``min(c_k, c_l)`` and ``max(c_k, c_l)``, in this order."""

    def __init__(self, attributes: int) -> None:
        super().__init__(attributes**2)
        self._single, self._pairs = attributes, attributes * (attributes - 1) // 2

    def exact(self, theta: FloatArray) -> FloatArray:
        """Multiples of 2**-52, whose sums and differences are doubles: Moebius coefficients are exact."""
        theta = np.clip(theta, 0.0, None)
        if not theta[theta.size - self._pairs :].any():  # no maxima, so that nothing is added up
            return theta
        return np.asarray(np.round(theta / _GRID) * _GRID)

    def repair(self, theta: FloatArray) -> FloatArray:
        """Clip and normalise, exactly."""
        return self.exact(super().repair(theta))

    def sample(self, count: int, generator: np.random.Generator) -> FloatArray:
        """Dirichlet draws over the extreme points, and additive measures among them."""
        points = super().sample(count, generator)
        additive = generator.uniform(size=(count, 1)) ** 2
        points[:, self._single :] *= additive
        return np.asarray(points / points.sum(axis=1, keepdims=True))


class TwoAdditiveChoquet(_KAdditive):
    """The 2-additive Choquet integral: a weighted mean of ``c_k``, ``min(c_k, c_l)`` and ``max(c_k, c_l)``.

    The extreme points of the 2-additive measures are 0-1 valued: they look at one attribute, at the
    smaller or at the larger of two (Miranda, Grabisch and Gil 2006). So ``theta`` is a point of the
    simplex over these, whatever the number of attributes.
    """

    k = 2

    @property
    def _pairs(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        return np.triu_indices(len(self.attributes), 1)

    @cached_property
    def domain(self) -> ExtremePoints:
        """The simplex over the extreme points."""
        return ExtremePoints(len(self.attributes))

    @property
    def dimension(self) -> int:
        """Attributes, and twice the number of their pairs."""
        return len(self.attributes) ** 2

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """``one_<attribute>``, ``min_<pair>``, ``max_<pair>``."""
        pairs = [f"{self.attributes[k]}+{self.attributes[m]}" for k, m in zip(*self._pairs, strict=True)]
        ones = [f"one_{name}" for name in self.attributes]
        return (*ones, *(f"min_{pair}" for pair in pairs), *(f"max_{pair}" for pair in pairs))

    def features(self, c: FloatArray) -> sparse.csr_array:
        """Attribute distances, pairwise minima and pairwise maxima."""
        first, second = self._pairs
        low, high = np.minimum(c[:, first], c[:, second]), np.maximum(c[:, first], c[:, second])
        return sparse.csr_array(np.hstack([c, low, high]))

    def moebius(self, theta: FloatArray) -> FloatArray:
        """``max(c_k, c_l) = c_k + c_l - min(c_k, c_l)``, coefficient by coefficient."""
        n, (first, second) = len(self.attributes), self._pairs
        single, low, high = theta[:n].copy(), theta[n : n + first.size], theta[n + first.size :]
        np.add.at(single, first, high)
        np.add.at(single, second, high)
        return np.concatenate([single, low - high])

    def _from_moebius(self, coefficients: FloatArray) -> FloatArray:
        n, (first, second) = len(self.attributes), self._pairs
        single, pair = coefficients[:n].copy(), coefficients[n:]
        high = np.clip(-pair, 0.0, None)
        np.subtract.at(single, first, high)
        np.subtract.at(single, second, high)
        if single.min() < -ROUNDED:
            raise FormulationError("the Moebius coefficients are not those of a monotone 2-additive measure")
        return np.concatenate([np.clip(single, 0.0, None), np.clip(pair, 0.0, None), high])


class KAdditiveChoquet(_KAdditive):
    """The k-additive Choquet integral for k of 3 or more; ``theta`` is the Moebius transform."""

    def __init__(
        self, attributes: tuple[str, ...], k: int, differences: Differences | str | None = None
    ) -> None:
        n = len(attributes)
        self.k = min(k, n)
        if n > MOST_ATTRIBUTES:
            raise FormulationError(
                f"a {k}-additive measure on {n} attributes needs {n * 2 ** (n - 1):,} monotonicity rows; at "
                f"most {MOST_ATTRIBUTES} attributes are possible: choose fewer with {called('attributes')}, "
                f"or use {called('k_additive', 2)}",
                option="attributes",
            )
        super().__init__(attributes, differences)

    @property
    def dimension(self) -> int:
        """Subsets of one to k attributes."""
        return sum(comb(len(self.attributes), size) for size in range(1, self.k + 1))

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """``m_<attributes of the subset>``."""
        return tuple("m_" + name.replace(",", "+") for name in self._subset_names())

    def features(self, c: FloatArray) -> sparse.csr_array:
        """``min_{k in A} c_k`` for each subset A."""
        return sparse.csr_array(np.stack([c[:, list(subset)].min(axis=1) for subset in self.subsets], axis=1))

    @cached_property
    def domain(self) -> MoebiusMeasures:
        """All measures whose coefficients of larger subsets are zero."""
        return MoebiusMeasures(self.attributes, self.subsets)

    def moebius(self, theta: FloatArray) -> FloatArray:
        """``theta`` itself."""
        return theta

    def _from_moebius(self, coefficients: FloatArray) -> FloatArray:
        return coefficients
