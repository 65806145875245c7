"""Weighted mean: ``sum_k p_k c_k`` with weights ``p`` on the simplex (D11.2, DBRLW)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from formulations.aggregators.base import (
    Aggregator,
    Domain,
    FloatArray,
    named_values,
    on_simplex,
    sample_simplex,
    simplex,
)
from formulations.distances import Differences
from formulations.forms import DistanceForm, FormKind


class WeightedMean(Aggregator):
    """The weighted mean of attribute distances; ``theta`` is the weighting vector ``p``."""

    name: ClassVar[str] = "weighted-mean"
    on_simplex: ClassVar[bool] = True

    @property
    def dimension(self) -> int:
        """One weight per attribute."""
        return len(self.attributes)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """``p_<attribute>``."""
        return tuple(f"p_{name}" for name in self.attributes)

    def features(self, c: FloatArray) -> sparse.csr_array:
        """The attribute distances themselves."""
        return sparse.csr_array(c)

    def domain(self) -> Domain:
        """Non-negative weights that sum to one (D11.2, Table 1)."""
        return simplex(self.dimension)

    def largest_excess(self, partner: FloatArray, rival: FloatArray) -> FloatArray:
        """``max_k (partner_k - rival_k)``: a linear function is largest at a corner of the simplex."""
        return np.asarray((partner - rival).max(axis=1))

    def form(self, theta: FloatArray) -> DistanceForm:
        """A weighted sum; each term alone bounds it from below."""
        weights = theta.copy()
        return DistanceForm(
            FormKind.WEIGHTED_SUM, self.differences, weights, weights, unit=float(theta.sum())
        )

    def decode(self, theta: FloatArray) -> dict[str, Any]:
        """``{"weights": {attribute: weight}}``."""
        return {"weights": dict(zip(self.attributes, theta.tolist(), strict=True))}

    def encode(self, parameters: Mapping[str, Any]) -> FloatArray:
        """Read ``{"weights": {attribute: weight}}``."""
        return self.admit(named_values(parameters, "weights", self.attributes, self.name))

    def repair(self, theta: FloatArray) -> FloatArray:
        """Clip and normalise."""
        return on_simplex(theta)

    def equal(self) -> FloatArray:
        """Equal weights: the Euclidean distance (D11.2, Eq. 1)."""
        return np.full(self.dimension, 1.0 / self.dimension)

    def sample(self, count: int, generator: np.random.Generator) -> FloatArray:
        """Dirichlet draws of several concentrations."""
        return sample_simplex(count, self.dimension, generator)

    def starts(self, partner: FloatArray) -> FloatArray:
        """Equal weights, and weights that even out how far masking has moved each attribute."""
        moved = partner.mean(axis=0) if self.differences is Differences.SQUARED else (partner**2).mean(axis=0)
        inverse = on_simplex(1.0 / np.maximum(moved, 1e-9))
        return np.vstack([self.equal(), inverse, on_simplex(np.sqrt(inverse))])

    def importance(self, theta: FloatArray) -> dict[str, float]:
        """The weights."""
        return dict(zip(self.attributes, theta.tolist(), strict=True))
