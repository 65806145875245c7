"""Choquet integral over an unconstrained fuzzy measure (D11.2, DBRLCI)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray
from linkrisk.errors import called
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.aggregators.base import Aggregator, Lift, Words, named_values
from linkrisk.formulations.linkage.aggregators.owa import OrderedWeightedAverage
from linkrisk.formulations.linkage.aggregators.weighted_mean import WeightedMean
from linkrisk.formulations.linkage.distances import Differences
from linkrisk.formulations.linkage.domains import Measures, on_simplex
from linkrisk.formulations.linkage.forms import DistanceForm, FormKind
from linkrisk.formulations.linkage.fuzzy_measures import (
    additive_measure,
    interaction_indices,
    moebius,
    shapley_values,
    subset_names,
    symmetric_measure,
)

MOST_ATTRIBUTES = 12
"""An unconstrained measure on more attributes has more subsets than a model can hold."""


class Choquet(Aggregator):
    """The Choquet integral of attribute distances; ``theta[A - 1]`` is mu(A) for the bit mask A.

    The measure is unconstrained: all ``2**n - 1`` non-empty subsets, monotone, ``mu(V) = 1``.
    """

    name: ClassVar[str] = "choquet"
    words: ClassVar[Words] = Words(
        "Choquet integral", "importance of each attribute (Shapley value)", column="Shapley value"
    )

    def __init__(self, attributes: tuple[str, ...], differences: Differences | str | None = None) -> None:
        super().__init__(attributes, differences)
        n = len(self.attributes)
        if n > MOST_ATTRIBUTES:
            raise FormulationError(
                f"a fuzzy measure on {n} attributes has {2**n - 1:,} non-empty subsets; at most "
                f"{MOST_ATTRIBUTES} attributes are possible: choose fewer with {called('attributes')}, or "
                f"use {called('k_additive', 2)}",
                option="attributes",
            )

    @property
    def dimension(self) -> int:
        """One value per non-empty subset."""
        return int(2 ** len(self.attributes) - 1)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """``mu_<attributes of the subset>``."""
        return self.domain.names

    def features(self, c: FloatArray) -> sparse.csr_array:
        """``c_s(i) - c_s(i-1)`` at the subset ``A_s(i)`` of the attributes that are at least ``c_s(i)``."""
        rows, n = c.shape
        order = np.argsort(c, axis=1, kind="stable")
        steps = np.diff(np.take_along_axis(c, order, axis=1), axis=1, prepend=0.0)
        subsets = np.cumsum(np.left_shift(1, order)[:, ::-1], axis=1)[:, ::-1]
        where = (np.repeat(np.arange(rows), n), (subsets - 1).ravel())
        matrix = sparse.coo_array((steps.ravel(), where), shape=(rows, self.dimension)).tocsr()
        matrix.eliminate_zeros()
        return matrix

    @cached_property
    def domain(self) -> Measures:
        """All fuzzy measures."""
        return Measures(self.attributes)

    def measure(self, theta: FloatArray) -> FloatArray:
        """The measure as a table of ``2**n`` values indexed by bit mask."""
        return np.concatenate([[0.0], theta])

    def form(self, theta: FloatArray) -> DistanceForm:
        """A Choquet integral."""
        return DistanceForm(FormKind.CHOQUET, self.differences, self.measure(theta))

    def decode(self, theta: FloatArray) -> dict[str, Any]:
        """``{"measure": {attributes joined by commas: mu}}`` for every non-empty subset."""
        return {"measure": dict(zip(subset_names(self.attributes), theta.tolist(), strict=True))}

    def encode(self, parameters: Mapping[str, Any]) -> FloatArray:
        """Read ``{"measure": {...}}``."""
        return self.admit(
            named_values(parameters, "measure", tuple(subset_names(self.attributes)), self.name)
        )

    def equal(self) -> FloatArray:
        """The additive measure with equal weights: the arithmetic mean."""
        return self.lift(np.full(len(self.attributes), 1.0 / len(self.attributes)))

    def simpler(self) -> tuple[WeightedMean, Lift]:
        """The weighted mean: the integrals over additive measures."""
        return WeightedMean(self.attributes, self.differences), self.lift

    def lift(self, theta: FloatArray) -> FloatArray:
        """The additive measure of the weights."""
        return self.domain.repair(additive_measure(theta)[1:])

    def lift_from(self, other: Aggregator) -> Lift | None:
        """The weighted mean, and the OWA: the integrals over symmetric measures."""
        if isinstance(other, OrderedWeightedAverage) and other.differences is self.differences:
            return lambda theta: self.domain.repair(symmetric_measure(on_simplex(theta))[1:])
        return super().lift_from(other)

    def importance(self, theta: FloatArray) -> dict[str, float]:
        """Shapley value of each attribute; they sum to one."""
        shapley = shapley_values(self.measure(theta))
        return dict(zip(self.attributes, shapley.tolist(), strict=True))

    def interaction(self, theta: FloatArray) -> list[list[float]]:
        """Pairwise interaction indices (Murofushi and Soneda 1993)."""
        indices: list[list[float]] = interaction_indices(self.measure(theta)).tolist()
        return indices

    def moebius(self, theta: FloatArray) -> FloatArray:
        """Moebius transform of the measure."""
        return moebius(self.measure(theta))
