"""Rows that a model has too many of to be written down: a separator returns those that a point violates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Cuts:
    """Rows ``lower <= matrix @ x <= upper``.

    Attributes
    ----------
    matrix : scipy.sparse.csr_array, shape (k, n)
    lower, upper : ndarray of float64, shape (k,)
    """

    matrix: sparse.csr_array
    lower: FloatArray
    upper: FloatArray

    @property
    def count(self) -> int:
        """How many rows."""
        return int(self.lower.size)

    def violation(self, x: FloatArray) -> float:
        """Largest violation of one of them at the point `x`; 0 when there are none."""
        activity = self.matrix @ x
        return max(float(np.maximum(self.lower - activity, activity - self.upper).max(initial=0.0)), 0.0)


def no_cuts(columns: int) -> Cuts:
    """No rows, of a model with so many columns."""
    return Cuts(sparse.csr_array((0, columns)), np.empty(0), np.empty(0))


@runtime_checkable
class Separator(Protocol):
    """Knows rows of a model that are not written down. It goes to other processes, so it can be pickled.

    Attributes
    ----------
    fractional : bool
        Whether it is worth asking about points that are not integral, such as optima of the relaxation.
    """

    @property
    def fractional(self) -> bool:
        """Whether points that are not integral may be asked about."""
        ...

    def __call__(self, x: FloatArray) -> Cuts:
        """Rows that every solution keeps and the point `x`, shape (n,), violates; none if it keeps them all.

        A row that `x` satisfies, or violates within the tolerance of optimisers (1e-6), helps nobody: asked
        again and again about the same point, it would be returned again and again.
        """
        ...
