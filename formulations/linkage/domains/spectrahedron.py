"""The spectrahedron: positive semidefinite matrices of trace one."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.domains.base import Domain, DomainRows
from linkrisk.formulations.linkage.domains.exactness import semidefinite
from linkrisk.formulations.linkage.domains.simplex import sample_simplex

EIGENVALUE_TOLERANCE = 1e-9
"""A matrix of trace one with no eigenvalue below minus this is semidefinite up to rounding."""


class Spectrahedron(Domain):
    """All positive semidefinite matrices M of trace one; ``theta`` is the upper triangle, row by row.

    It is not a polytope, so `rows` are a relaxation: non-negative on every sum and difference of two
    coordinates (``M_kk + M_ll >= 2 |M_kl|``). `cuts` separates what they let through.

    Parameters
    ----------
    names : tuple of str
        Of the coordinates, for those of the rows.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.dimension = len(names) * (len(names) + 1) // 2

    @property
    def triangle(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Row and column of each entry of ``theta``."""
        return np.triu_indices(len(self.names))

    def matrix(self, theta: FloatArray) -> FloatArray:
        """The symmetric matrix whose upper triangle is `theta`."""
        n = len(self.names)
        matrix = np.zeros((n, n))
        matrix[self.triangle] = theta
        return np.asarray(matrix + np.triu(matrix, 1).T)

    def theta(self, matrix: FloatArray) -> FloatArray:
        """The upper triangle of the symmetric part of a matrix."""
        return np.asarray(((matrix + matrix.T) / 2)[self.triangle])

    def products(self, x: FloatArray) -> FloatArray:
        """``x_k**2`` on the diagonal, ``2 x_k x_l`` off it, such that ``products @ theta`` is ``x' M x``.

        Shape (..., coordinates) becomes (..., dimension).
        """
        first, second = self.triangle
        return np.asarray(x[..., first] * x[..., second] * np.where(first == second, 1.0, 2.0))

    @cached_property
    def rows(self) -> DomainRows:
        """Trace one, and ``M_kk + M_ll +- 2 M_kl >= 0`` for every pair: a relaxation of semidefiniteness."""
        n, (first, second) = len(self.names), self.triangle
        diagonal = first == second
        position = {(int(k), int(m)): at for at, (k, m) in enumerate(zip(first, second, strict=True))}
        rows: list[FloatArray] = [diagonal.astype(np.float64)]
        names = ["trace_one"]
        for k in range(n):
            for m in range(k + 1, n):
                for sign, word in ((2.0, "plus"), (-2.0, "minus")):
                    row = np.zeros(self.dimension)
                    row[position[k, k]] = row[position[m, m]] = 1.0
                    row[position[k, m]] = sign
                    rows.append(row)
                    names.append(f"nonnegative_{self.names[k]}_{word}_{self.names[m]}")
        return DomainRows(
            matrix=sparse.csr_array(np.vstack(rows)),
            row_lower=np.array([1.0] + [0.0] * (len(rows) - 1)),
            row_upper=np.array([1.0] + [np.inf] * (len(rows) - 1)),
            column_lower=np.where(diagonal, 0.0, -0.5),
            column_upper=np.where(diagonal, 1.0, 0.5),
            row_names=tuple(names),
        )

    def repair(self, theta: FloatArray) -> FloatArray:
        """Lift negative eigenvalues to zero and divide by the trace."""
        values, vectors = np.linalg.eigh(self.matrix(theta))
        # A hair above zero: reassembling the matrix costs a rounding that must not turn it indefinite.
        lifted = np.maximum(values, 1e-14 * max(values[-1], 1e-300)) if values[0] <= 0.0 else values
        matrix = (vectors * lifted) @ vectors.T
        return self.exact(self.theta(matrix / np.trace(matrix)))

    def exact(self, theta: FloatArray) -> FloatArray:
        """Positive semidefinite, entry for entry."""
        return self.theta(semidefinite(self.matrix(theta)))

    def cuts(self, theta: FloatArray) -> FloatArray:
        """``v' M v >= 0`` for each eigenvector v of a negative eigenvalue."""
        values, vectors = np.linalg.eigh(self.matrix(theta))
        return self.products(vectors[:, values < -EIGENVALUE_TOLERANCE].T)

    def sample(self, count: int, generator: np.random.Generator) -> FloatArray:
        """Random semidefinite matrices: Wishart draws with random scales, some nearly diagonal."""
        n = len(self.names)
        scales = np.sqrt(sample_simplex(count, n, generator))
        factors = generator.standard_normal((count, n, n)) * scales[:, :, None]
        wishart = factors @ factors.transpose(0, 2, 1)
        share = generator.uniform(size=(count, 1, 1))
        diagonal = np.einsum("sk,kl->skl", scales**2, np.eye(n))
        matrices = share * wishart + (1 - share) * diagonal
        traces = np.trace(matrices, axis1=1, axis2=2)[:, None, None]
        return np.stack([self.theta(matrix) for matrix in matrices / traces])

    def chord(self, theta: FloatArray, direction: FloatArray) -> tuple[float, float]:
        """Where the matrix stays semidefinite: by the eigenvalues of the direction relative to it."""
        matrix, change = self.matrix(theta), self.matrix(direction)
        matrix = matrix + 1e-12 * np.eye(len(matrix))
        values = eigh(change, matrix, eigvals_only=True)
        low = -1.0 / values[-1] if values[-1] > 1e-6 else -1e6
        high = -1.0 / values[0] if values[0] < -1e-6 else 1e6
        return float(low), float(high)
