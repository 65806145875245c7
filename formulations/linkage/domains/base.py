"""The contract of a domain: a convex set of parameters, its linear rows, points and lines in it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray


@dataclass(frozen=True)
class DomainRows:
    """Linear rows that hold on a domain: ``row_lower <= matrix @ theta <= row_upper`` within column bounds.

    Attributes
    ----------
    matrix : scipy.sparse.csr_array, shape (rows, dimension)
    row_lower, row_upper : ndarray of float64, shape (rows,)
    column_lower, column_upper : ndarray of float64, shape (dimension,)
        Finite.
    row_names : tuple of str
        What each row says, for model files.
    """

    matrix: sparse.csr_array
    row_lower: FloatArray
    row_upper: FloatArray
    column_lower: FloatArray
    column_upper: FloatArray
    row_names: tuple[str, ...]

    def violation(self, theta: FloatArray) -> float:
        """Largest violation of a row or bound at `theta` of shape (dimension,)."""
        activity = self.matrix @ theta
        parts = (
            self.row_lower - activity,
            activity - self.row_upper,
            self.column_lower - theta,
            theta - self.column_upper,
        )
        return max((float(part.max()) for part in parts if part.size), default=0.0)


class Domain(ABC):
    """A convex set of parameters ``theta`` of shape (dimension,).

    What an engine can do for a domain depends on its type: it looks that up in a registry of its own, from
    the type to those that it is derived from.

    Attributes
    ----------
    dimension : int
        Length of ``theta``.
    """

    dimension: int

    @property
    @abstractmethod
    def rows(self) -> DomainRows:
        """All rows of a polytope; of another domain rows that hold on it, a relaxation."""

    @abstractmethod
    def repair(self, theta: FloatArray) -> FloatArray:
        """The domain's point at or near `theta`: solvers return points that miss it by a rounding."""

    def exact(self, theta: FloatArray) -> FloatArray:
        """`theta` as it is written down: moved by a few roundings, so that it is in the domain exactly.

        That is, as rational numbers and up to a common factor. What is counted of a result, and proved about
        it, is counted for these.
        """
        return theta

    @abstractmethod
    def sample(self, count: int, generator: np.random.Generator) -> FloatArray:
        """Random points, shape (count, dimension), spread over the domain and its extremes."""

    @abstractmethod
    def chord(self, theta: FloatArray, direction: FloatArray) -> tuple[float, float]:
        """Range of t for which ``theta + t * direction`` stays in the domain, `theta` being inside."""

    @abstractmethod
    def cuts(self, theta: FloatArray) -> FloatArray:
        """Rows, shape (any, dimension), non-negative on the domain and negative at `theta`.

        None where `theta` is in the domain, or violates only `rows`.
        """
