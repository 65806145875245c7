"""What aggregators share whose parameters are weights: the simplex is their domain."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.aggregators.base import Aggregator
from linkrisk.formulations.linkage.domains import Simplex


class SimplexAggregator(Aggregator):
    """An aggregator whose parameters are all non-negative weights that sum to one (D11.2, Table 1).

    A subclass says what the weights belong to, and how they are written to JSON; and gives `equal`, where
    the features are not the attribute distances themselves in some order.
    """

    @cached_property
    def domain(self) -> Simplex:
        """Non-negative weights that sum to one."""
        return Simplex(self.dimension)

    def equal(self) -> FloatArray:
        """Equal weights: the arithmetic mean, which is the Euclidean distance (D11.2, Eq. 1)."""
        return np.full(self.dimension, 1.0 / self.dimension)
