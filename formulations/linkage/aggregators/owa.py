"""Ordered weighted average: ``sum_r w_r c_(r)``, the largest attribute distance first (Yager 1988)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.aggregators.base import SimplexAggregator, Words, named_values
from linkrisk.formulations.linkage.forms import DistanceForm, FormKind


def descending(c: FloatArray) -> FloatArray:
    """Sort the last axis, the largest first."""
    return np.asarray(-np.sort(-c, axis=-1))


class OrderedWeightedAverage(SimplexAggregator):
    """OWA of attribute distances; ``theta`` holds the weight of the largest, the second largest, ..."""

    name: ClassVar[str] = "owa"
    words: ClassVar[Words] = Words(
        "ordered weighted average (OWA)",
        "weight by rank of the attribute distance (1 = largest)",
        owner="Rank of the attribute distance (1 is the largest)",
        owners="ranks",
    )

    @property
    def ranks(self) -> tuple[str, ...]:
        """``"1"`` is the largest attribute distance."""
        return tuple(str(rank + 1) for rank in range(len(self.attributes)))

    @property
    def dimension(self) -> int:
        """One weight per rank."""
        return len(self.attributes)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """``w_<rank>``."""
        return tuple(f"w_{rank}" for rank in self.ranks)

    def features(self, c: FloatArray) -> sparse.csr_array:
        """The attribute distances in descending order."""
        return sparse.csr_array(descending(c))

    def comparable(self, c: FloatArray) -> FloatArray:
        """In descending order, rank is compared with rank."""
        return descending(c)

    def reach(self, c: FloatArray) -> FloatArray:
        """A rival's largest distance is compared with the partner's largest."""
        return np.broadcast_to(c.max(axis=1, keepdims=True), c.shape)

    def form(self, theta: FloatArray) -> DistanceForm:
        """An ordered sum."""
        return DistanceForm(FormKind.ORDERED_SUM, self.differences, theta.copy())

    def decode(self, theta: FloatArray) -> dict[str, Any]:
        """``{"weights": {rank: weight}}``, rank 1 the largest distance."""
        return {"weights": dict(zip(self.ranks, theta.tolist(), strict=True))}

    def encode(self, parameters: Mapping[str, Any]) -> FloatArray:
        """Read ``{"weights": {rank: weight}}``."""
        return self.admit(named_values(parameters, "weights", self.ranks, self.name))
