"""Mahalanobis-type symmetric bilinear form ``c' M c`` with a positive semidefinite M (D11.2, DBRLQ)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.aggregators.base import Aggregator, Lift, Words, finite
from linkrisk.formulations.linkage.aggregators.weighted_mean import WeightedMean
from linkrisk.formulations.linkage.distances import Differences
from linkrisk.formulations.linkage.domains import EIGENVALUE_TOLERANCE, Spectrahedron
from linkrisk.formulations.linkage.forms import DistanceForm, FormKind
from linkrisk.formulations.linkage.tie_tolerance import ROW_CANCELLATION_SHARE, Partners, cancellation


class Mahalanobis(Aggregator):
    """The symmetric bilinear form; ``theta`` is the upper triangle of M, row by row, with trace one.

    The rows of its domain are a relaxation, to which `data_rows` adds that no distance in the data is
    negative (D11.2, Table 1).
    """

    name: ClassVar[str] = "mahalanobis"
    words: ClassVar[Words] = Words(
        "Mahalanobis-type distance",
        "share of each attribute in the trace of the matrix",
        column="Share of the diagonal",
    )
    monotone: ClassVar[bool] = False
    allowed_differences: ClassVar[tuple[Differences, ...]] = (Differences.SIGNED, Differences.ABSOLUTE)

    @property
    def dimension(self) -> int:
        """Entries of the upper triangle."""
        return len(self.attributes) * (len(self.attributes) + 1) // 2

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """``m_<attribute>_<attribute>``."""
        pairs = zip(*self.domain.triangle, strict=True)
        return tuple(f"m_{self.attributes[k]}_{self.attributes[m]}" for k, m in pairs)

    def features(self, c: FloatArray) -> sparse.csr_array:
        """Products of attribute distances, such that ``features @ theta`` is ``c' M c``."""
        return sparse.csr_array(self.domain.products(c))

    @property
    def tied_differences(self) -> Differences:
        """Squared: ties widen the diagonal."""
        return Differences.SQUARED

    def rows(self, partners: Partners, rival: FloatArray) -> sparse.csr_array:
        """The difference of the products; off the diagonal nothing is known of how rounding moves them.

        So that a tie is linear in M, it is ``sum_k M_kk (c+_k - c_k**2)``, and what cancelling terms leave of
        the rival's form (`CANCELLATION`).
        """
        matrix = self.domain.products(rival) - self.domain.products(partners.distances)
        first, second = self.domain.triangle
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

    @cached_property
    def domain(self) -> Spectrahedron:
        """Positive semidefinite matrices of trace one."""
        return Spectrahedron(self.attributes)

    def form(self, theta: FloatArray) -> DistanceForm:
        """A quadratic form."""
        return DistanceForm(FormKind.QUADRATIC, self.differences, self.domain.matrix(theta))

    def decode(self, theta: FloatArray) -> dict[str, Any]:
        """``{"matrix": rows of M}``, in the order of the attributes."""
        return {"matrix": self.domain.matrix(theta).tolist()}

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
        return self.domain.theta(matrix)

    def equal(self) -> FloatArray:
        """The identity divided by its trace: the Euclidean distance."""
        return self.domain.theta(np.eye(len(self.attributes)) / len(self.attributes))

    def starts(self, partner: FloatArray) -> FloatArray:
        """Those of the weighted mean, and inverse mean products of the differences to the partner."""
        moments = partner.T @ partner / len(partner)
        ridge = max(np.trace(moments), 1e-12) / len(moments)
        inverses = [np.linalg.inv(moments + share * ridge * np.eye(len(moments))) for share in (1e-3, 1e-1)]
        return np.vstack(
            [super().starts(partner), *(self.domain.repair(self.domain.theta(one)) for one in inverses)]
        )

    def data_rows(self, partner: FloatArray) -> sparse.csr_array:
        """The distance to each partner is non-negative (the distance to a rival then is, when linked)."""
        return self.features(partner)

    def simpler(self) -> tuple[WeightedMean, Lift]:
        """The weighted mean of squared differences: the forms with a diagonal matrix."""
        return WeightedMean(self.attributes, Differences.SQUARED), self.lift

    def lift(self, theta: FloatArray) -> FloatArray:
        """The diagonal matrix of the weights."""
        return self.domain.theta(np.diag(theta))

    def importance(self, theta: FloatArray) -> dict[str, float]:
        """Share of each attribute in the trace."""
        diagonal = np.diag(self.domain.matrix(theta))
        return dict(zip(self.attributes, (diagonal / diagonal.sum()).tolist(), strict=True))
