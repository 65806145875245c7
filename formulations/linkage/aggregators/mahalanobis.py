"""Mahalanobis-type symmetric bilinear form ``c' M c`` with a positive semidefinite M (D11.2, DBRLQ)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.aggregators.base import Aggregator, Domain, FloatArray, Lift, finite
from linkrisk.formulations.linkage.aggregators.exact_domains import semidefinite
from linkrisk.formulations.linkage.aggregators.simplex import sample_simplex
from linkrisk.formulations.linkage.aggregators.weighted_mean import WeightedMean
from linkrisk.formulations.linkage.distances import Differences
from linkrisk.formulations.linkage.forms import DistanceForm, FormKind
from linkrisk.formulations.linkage.ties import ROW_CANCELLATION_SHARE, Partners, cancellation

EIGENVALUE_TOLERANCE = 1e-9
"""A matrix of trace one with no eigenvalue below minus this is semidefinite up to rounding."""


class Mahalanobis(Aggregator):
    """The symmetric bilinear form; ``theta`` is the upper triangle of M, row by row, with trace one.

    The semidefinite cone is no polytope, so `domain` is a linear relaxation of it: non-negative on every
    sum and difference of two attributes (``M_kk + M_ll >= 2 |M_kl|``) and, through `data_rows`, on the
    data (D11.2, Table 1). `cuts` separates what the relaxation lets through.
    """

    name: ClassVar[str] = "mahalanobis"
    monotone: ClassVar[bool] = False
    semidefinite: ClassVar[bool] = True
    allowed_differences: ClassVar[tuple[Differences, ...]] = (Differences.SIGNED, Differences.ABSOLUTE)

    @property
    def _triangle(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        return np.triu_indices(len(self.attributes))

    @property
    def dimension(self) -> int:
        """Entries of the upper triangle."""
        return len(self.attributes) * (len(self.attributes) + 1) // 2

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """``m_<attribute>_<attribute>``."""
        pairs = zip(*self._triangle, strict=True)
        return tuple(f"m_{self.attributes[k]}_{self.attributes[m]}" for k, m in pairs)

    def products(self, c: FloatArray) -> FloatArray:
        """Dense features: ``c_k**2`` on the diagonal, ``2 c_k c_l`` beside it."""
        first, second = self._triangle
        return np.asarray(c[..., first] * c[..., second] * np.where(first == second, 1.0, 2.0))

    def features(self, c: FloatArray) -> sparse.csr_array:
        """Products of attribute distances, such that ``features @ theta`` is ``c' M c``."""
        return sparse.csr_array(self.products(c))

    @property
    def tied_differences(self) -> Differences:
        """Squared: ties widen the diagonal."""
        return Differences.SQUARED

    def rows(self, partners: Partners, rival: FloatArray) -> sparse.csr_array:
        """The difference of the products; beside the diagonal nothing is known of how rounding moves them.

        So that a tie is linear in M, it is ``sum_k M_kk (c+_k - c_k**2)``, and what cancelling terms leave of
        the rival's form (`CANCELLATION`).
        """
        matrix = self.products(rival) - self.products(partners.distances)
        first, second = self._triangle
        matrix[:, first == second] = self._diagonal(partners, rival)
        return sparse.csr_array(matrix)

    def _diagonal(self, partners: Partners, rival: FloatArray) -> FloatArray:
        """Coefficients of ``M_kk`` in rows, shape (rows, attributes)."""
        lost = ROW_CANCELLATION_SHARE * cancellation(len(self.attributes))
        return np.asarray((1.0 - lost) * rival**2 - partners.tied)

    def least(self, partners: Partners, rival: FloatArray) -> FloatArray:
        """``min_k (G_kk - sum_{l != k} |G_kl|)``, where G are the rows as symmetric matrices.

        On the relaxed domain ``2 |M_kl| <= M_kk + M_ll``, so ``<G, M>`` is at least a weighted mean of these
        row sums with the diagonal of M, and a corner of the domain attains the smallest.
        """
        diagonal, beside = self._row_sums(partners, rival)
        return np.asarray((diagonal - beside).min(axis=1))

    def most(self, partners: Partners, rival: FloatArray) -> FloatArray:
        """``max_k (G_kk + sum_{l != k} |G_kl|)``."""
        diagonal, beside = self._row_sums(partners, rival)
        return np.asarray((diagonal + beside).max(axis=1))

    def _row_sums(self, partners: Partners, rival: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``G_kk`` and ``sum_{l != k} |G_kl|``, shape (rows, attributes)."""
        own, beside = partners.distances, np.empty_like(rival)
        for k in range(len(self.attributes)):
            row = rival * rival[:, [k]] - own * own[:, [k]]
            row[:, k] = 0.0
            beside[:, k] = np.abs(row).sum(axis=1)
        return self._diagonal(partners, rival), beside

    def domain(self) -> Domain:
        """Trace one, and ``M_kk + M_ll +- 2 M_kl >= 0`` for every pair: a relaxation of semidefiniteness."""
        n, (first, second) = len(self.attributes), self._triangle
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
                    names.append(f"nonnegative_{self.attributes[k]}_{word}_{self.attributes[m]}")
        return Domain(
            matrix=sparse.csr_array(np.vstack(rows)),
            row_lower=np.array([1.0] + [0.0] * (len(rows) - 1)),
            row_upper=np.array([1.0] + [np.inf] * (len(rows) - 1)),
            column_lower=np.where(diagonal, 0.0, -0.5),
            column_upper=np.where(diagonal, 1.0, 0.5),
            row_names=tuple(names),
        )

    def matrix(self, theta: FloatArray) -> FloatArray:
        """The symmetric matrix M whose upper triangle is `theta`."""
        n = len(self.attributes)
        matrix = np.zeros((n, n))
        matrix[self._triangle] = theta
        return np.asarray(matrix + np.triu(matrix, 1).T)

    def _theta(self, matrix: FloatArray) -> FloatArray:
        return np.asarray(((matrix + matrix.T) / 2)[self._triangle])

    def form(self, theta: FloatArray) -> DistanceForm:
        """A quadratic form; ``z_k**2 / (M^-1)_kk`` bounds it from below where M is well conditioned."""
        matrix = self.matrix(theta)
        floor = np.zeros(len(matrix))
        trace = float(np.trace(matrix))
        # Then noise * sum_k M_kk c_k**2 <= noise * trace / smallest * c' M c < 1e-4 * c' M c: see `floor`.
        if not np.triu(matrix, 1).any():  # no terms that could cancel
            floor = 0.999 * np.diag(matrix)
        elif np.linalg.eigvalsh(matrix)[0] > 1e4 * cancellation(len(matrix)) * trace:
            floor = 0.999 / np.diag(np.linalg.inv(matrix))
        return DistanceForm(FormKind.QUADRATIC, self.differences, matrix, floor)

    def decode(self, theta: FloatArray) -> dict[str, Any]:
        """``{"matrix": rows of M}``, in the order of the attributes."""
        return {"matrix": self.matrix(theta).tolist()}

    def encode(self, parameters: Mapping[str, Any]) -> FloatArray:
        """Read ``{"matrix": rows of M}``; it must be symmetric."""
        n = len(self.attributes)
        matrix = finite(parameters.get("matrix", np.nan), "mahalanobis matrix")
        if matrix.shape != (n, n):
            raise FormulationError(
                f"the mahalanobis matrix must have {n} rows and columns, one per attribute"
            )
        if not np.allclose(matrix, matrix.T, rtol=1e-12, atol=1e-15):
            raise FormulationError("the mahalanobis matrix must be symmetric")
        if np.linalg.eigvalsh(matrix)[0] < -EIGENVALUE_TOLERANCE * max(1.0, np.trace(matrix)):
            raise FormulationError("the mahalanobis matrix must be positive semidefinite")
        if not matrix.any():
            raise FormulationError("the mahalanobis matrix must not be zero")
        return self._theta(matrix)

    def repair(self, theta: FloatArray) -> FloatArray:
        """Lift negative eigenvalues to zero and divide by the trace."""
        values, vectors = np.linalg.eigh(self.matrix(theta))
        # A hair above zero: reassembling the matrix costs a rounding that must not turn it indefinite.
        lifted = np.maximum(values, 1e-14 * max(values[-1], 1e-300)) if values[0] <= 0.0 else values
        matrix = (vectors * lifted) @ vectors.T
        return self.exact(self._theta(matrix / np.trace(matrix)))

    def exact(self, theta: FloatArray) -> FloatArray:
        """Positive semidefinite, entry for entry."""
        return self._theta(semidefinite(self.matrix(theta)))

    def cuts(self, theta: FloatArray) -> FloatArray:
        """``v' M v >= 0`` for each eigenvector v of a negative eigenvalue."""
        values, vectors = np.linalg.eigh(self.matrix(theta))
        return self.products(vectors[:, values < -EIGENVALUE_TOLERANCE].T)

    def equal(self) -> FloatArray:
        """The identity divided by its trace: the Euclidean distance."""
        return self._theta(np.eye(len(self.attributes)) / len(self.attributes))

    def sample(self, count: int, generator: np.random.Generator) -> FloatArray:
        """Random semidefinite matrices: Wishart draws with random scales, some nearly diagonal."""
        n = len(self.attributes)
        scales = np.sqrt(sample_simplex(count, n, generator))
        factors = generator.standard_normal((count, n, n)) * scales[:, :, None]
        wishart = factors @ factors.transpose(0, 2, 1)
        share = generator.uniform(size=(count, 1, 1))
        diagonal = np.einsum("sk,kl->skl", scales**2, np.eye(n))
        matrices = share * wishart + (1 - share) * diagonal
        traces = np.trace(matrices, axis1=1, axis2=2)[:, None, None]
        return np.stack([self._theta(matrix) for matrix in matrices / traces])

    def chord(self, theta: FloatArray, direction: FloatArray) -> tuple[float, float]:
        """Where the matrix stays semidefinite: by the eigenvalues of the direction relative to it."""
        matrix, change = self.matrix(theta), self.matrix(direction)
        matrix = matrix + 1e-12 * np.eye(len(matrix))
        values = eigh(change, matrix, eigvals_only=True)
        low = -1.0 / values[-1] if values[-1] > 1e-6 else -1e6
        high = -1.0 / values[0] if values[0] < -1e-6 else 1e6
        return float(low), float(high)

    def starts(self, partner: FloatArray) -> FloatArray:
        """Those of the weighted mean, and inverse mean products of the differences to the partner."""
        moments = partner.T @ partner / len(partner)
        ridge = max(np.trace(moments), 1e-12) / len(moments)
        inverses = [np.linalg.inv(moments + share * ridge * np.eye(len(moments))) for share in (1e-3, 1e-1)]
        return np.vstack([super().starts(partner), *(self.repair(self._theta(one)) for one in inverses)])

    def data_rows(self, partner: FloatArray) -> sparse.csr_array:
        """The distance to each partner is non-negative (the distance to a rival then is, when linked)."""
        return self.features(partner)

    def relative(self) -> tuple[WeightedMean, Lift]:
        """The weighted mean of squared differences: the forms with a diagonal matrix."""
        return WeightedMean(self.attributes, Differences.SQUARED), self.lift

    def lift(self, theta: FloatArray) -> FloatArray:
        """The diagonal matrix of the weights."""
        return self._theta(np.diag(theta))

    def importance(self, theta: FloatArray) -> dict[str, float]:
        """Share of each attribute in the trace."""
        diagonal = np.diag(self.matrix(theta))
        return dict(zip(self.attributes, (diagonal / diagonal.sum()).tolist(), strict=True))
