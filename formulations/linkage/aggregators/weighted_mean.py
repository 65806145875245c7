"""Weighted mean: ``sum_k p_k c_k`` with weights ``p`` on the simplex (D11.2, DBRLW)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.aggregators.base import SimplexAggregator, Words, named_values
from linkrisk.formulations.linkage.distances import Differences
from linkrisk.formulations.linkage.domains import on_simplex
from linkrisk.formulations.linkage.forms import DistanceForm, FormKind


class WeightedMean(SimplexAggregator):
    """The weighted mean of attribute distances; ``theta`` is the weighting vector ``p``."""

    name: ClassVar[str] = "weighted-mean"
    words: ClassVar[Words] = Words("weighted mean", "weight of each attribute")

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

    def form(self, theta: FloatArray) -> DistanceForm:
        """A weighted sum."""
        return DistanceForm(FormKind.WEIGHTED_SUM, self.differences, theta.copy())

    def decode(self, theta: FloatArray) -> dict[str, Any]:
        """``{"weights": {attribute: weight}}``."""
        return {"weights": dict(zip(self.attributes, theta.tolist(), strict=True))}

    def encode(self, parameters: Mapping[str, Any]) -> FloatArray:
        """Read ``{"weights": {attribute: weight}}``."""
        return self.admit(named_values(parameters, "weights", self.attributes, self.name))

    def starts(self, partner: FloatArray) -> FloatArray:
        """Equal weights, weights that even out how far masking has moved each attribute, each one alone."""
        moved = partner.mean(axis=0) if self.differences is Differences.SQUARED else (partner**2).mean(axis=0)
        inverse = on_simplex(1.0 / np.maximum(moved, 1e-9))
        alone = np.eye(self.dimension)
        return np.vstack([self.equal(), inverse, on_simplex(np.sqrt(inverse)), alone])

    def importance(self, theta: FloatArray) -> dict[str, float]:
        """The weights."""
        return dict(zip(self.attributes, theta.tolist(), strict=True))
