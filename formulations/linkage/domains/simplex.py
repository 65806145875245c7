"""The simplex of non-negative weights that sum to one."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.domains.base import DomainRows
from linkrisk.formulations.linkage.domains.polytope import Polytope


class Simplex(Polytope):
    """All non-negative weights that sum to one (D11.2, Table 1).

    Parameters
    ----------
    dimension : int
        How many weights.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension

    @cached_property
    def rows(self) -> DomainRows:
        """Non-negative weights that sum to one."""
        return DomainRows(
            matrix=sparse.csr_array(np.ones((1, self.dimension))),
            row_lower=np.ones(1),
            row_upper=np.ones(1),
            column_lower=np.zeros(self.dimension),
            column_upper=np.ones(self.dimension),
            row_names=("sum_to_one",),
        )

    def repair(self, theta: FloatArray) -> FloatArray:
        """Clip and normalise."""
        return on_simplex(theta)

    def exact(self, theta: FloatArray) -> FloatArray:
        """No weight below zero; that the sum is one up to rounding is a common factor."""
        return np.clip(theta, 0.0, None)

    def sample(self, count: int, generator: np.random.Generator) -> FloatArray:
        """Dirichlet draws of several concentrations."""
        return sample_simplex(count, self.dimension, generator)


def on_simplex(theta: FloatArray) -> FloatArray:
    """Clip negative entries and divide by the sum."""
    clipped = np.clip(theta, 0.0, None)
    total = clipped.sum()
    if total <= 0.0:
        return np.full(theta.shape, 1.0 / theta.size)
    return np.asarray(clipped / total)


def sample_simplex(count: int, dimension: int, generator: np.random.Generator) -> FloatArray:
    """Points of the simplex, from its middle to its corners: Dirichlet draws of several concentrations."""
    concentration = generator.choice([0.2, 0.5, 1.0, 3.0], size=count)
    draws = generator.standard_gamma(concentration[:, None], size=(count, dimension)) + 1e-300
    return np.asarray(draws / draws.sum(axis=1, keepdims=True))
