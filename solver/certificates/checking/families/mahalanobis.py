"""The Mahalanobis-type quadratic form in whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.solver.certificates.checking.families.base import Family, Multipliers, Row
from linkrisk.solver.certificates.checking.fields import Fields, listed, reals
from linkrisk.solver.certificates.checking.parameters import SLACK
from linkrisk.solver.certificates.checking.shapes import Shape, shape_of_form
from linkrisk.solver.certificates.checking.ties import CANCELLATION_SHIFT, TIE_SHIFT, TOLERANCES, Partner
from linkrisk.solver.certificates.core.claims import demand
from linkrisk.solver.certificates.core.families import is_negative_semidefinite
from linkrisk.solver.run.errors import UsageError


class QuadraticForm(Family):
    """``c' M c`` with M positive semidefinite of trace one; parameters are the upper triangle of M.

    Rows hold the entries of a symmetric matrix G, off the diagonal those of one triangle: ``<G, M> > 0``.
    Ties are on the diagonal: there stand ``c+_k`` for ``c_k**2``, and for ``d_k**2`` of the rival a little
    less, as its terms may cancel.
    """

    name: ClassVar[str] = "mahalanobis"
    title: ClassVar[str] = "Mahalanobis-type form"
    differences: ClassVar[tuple[str, ...]] = ("signed", "absolute")
    keys: ClassVar[tuple[str, ...]] = ("matrix",)
    squares: ClassVar[bool] = True
    shift: ClassVar[int] = CANCELLATION_SHIFT

    @property
    def cells(self) -> list[tuple[int, int]]:
        """The upper triangle, row by row."""
        return [(k, m) for k in range(self.attributes) for m in range(k, self.attributes)]

    @property
    def dimension(self) -> int:
        """Entries of the upper triangle."""
        return self.attributes * (self.attributes + 1) // 2

    @property
    def orders(self) -> tuple[bool, ...]:
        """Comparing one attribute after another: by diagonal matrices."""
        return (False,)

    def features(self, c: Sequence[int]) -> Row:
        """Products of attribute distances."""
        return [c[k] * c[m] for k, m in self.cells]

    def row(self, partner: Partner, rival: Sequence[int]) -> Row:
        """The matrix G."""
        rows = [
            (b - a) << self.shift
            for a, b in zip(self.features(partner.distances), self.features(rival), strict=True)
        ]
        for at, (k, m) in enumerate(self.cells):
            if k == m:
                lost = self.cancelled * rival[k] ** 2
                rows[at] = (rival[k] ** 2 << self.shift) - lost - (partner.tied[k] << self.shift - TIE_SHIFT)
        return rows

    @property
    def cancelled(self) -> int:
        """Share of a rival's squares that cancelling terms may move its distance by, times ``2**shift``."""
        return self.attributes * (self.attributes + 2)

    def nowhere_positive(self, row: Row, multipliers: Multipliers, total: int) -> bool:
        """The matrix is negative semidefinite."""
        if multipliers or total != 0:
            return False
        matrix = [[0] * self.attributes for _ in range(self.attributes)]
        for (k, m), value in zip(self.cells, row, strict=True):
            matrix[k][m] = matrix[m][k] = value
        return is_negative_semidefinite(matrix)

    def coefficients(self, row: Row) -> Row:
        """Two entries of G belong to one parameter off the diagonal."""
        return [value if k == m else 2 * value for (k, m), value in zip(self.cells, row, strict=True)]

    def distance(self, theta: FloatArray, c: FloatArray) -> FloatArray:
        """The form."""
        products = np.stack([c[:, k] * c[:, m] * (1.0 if k == m else 2.0) for k, m in self.cells], axis=1)
        return np.asarray(products @ theta)

    def size(self, c: FloatArray) -> FloatArray:
        """The largest square."""
        return np.asarray(np.abs(c).max(axis=1) ** 2)

    def slack(self, theta: FloatArray, own: FloatArray, tied: FloatArray, rivals: FloatArray) -> FloatArray:
        """By the diagonal alone, and what may have cancelled."""
        diagonal = theta[[at for at, (k, m) in enumerate(self.cells) if k == m]]
        share = self.cancelled * TOLERANCES["cancellation"]
        return np.asarray((tied - own**2) @ diagonal + share * (rivals**2 @ diagonal))

    def shape(self, theta: Sequence[Fraction]) -> Shape:
        """The squared length of an image."""
        matrix = np.zeros((self.attributes, self.attributes))
        for (k, m), value in zip(self.cells, theta, strict=True):
            matrix[k, m] = matrix[m, k] = float(value)
        return shape_of_form(matrix, self.cancelled * TOLERANCES["cancellation"])

    def excess(self, own: FloatArray, tied: FloatArray, rivals: FloatArray) -> FloatArray:
        """The largest eigenvalue of G."""
        partner = own[:, None] * own[None, :]
        np.fill_diagonal(partner, tied)
        matrices = rivals[:, :, None] * rivals[:, None, :] - partner
        return np.asarray(np.linalg.eigvalsh(matrices)[:, -1])

    def parameters(self, fields: Fields, attributes: Sequence[str]) -> list[Fraction]:
        """The upper triangle of a symmetric positive semidefinite matrix of trace one."""
        n, where = len(attributes), f"{fields.where}, matrix"
        rows = [reals(row, where, n) for row in listed(fields.value("matrix"), where)]
        if len(rows) != n:
            raise UsageError(f"{where} must have {n} rows")
        demand(all(rows[k][m] == rows[m][k] for k, m in self.cells), f"{where}: it is not symmetric")
        exact = [[Fraction(value) for value in row] for row in rows]
        trace = sum((exact[k][k] for k in range(n)), Fraction(0))
        demand(abs(trace - 1) <= SLACK, f"{where}: the trace is not one")
        # Denominators of doubles are powers of two, so the largest is a multiple of all.
        unit = max(value.denominator for row in exact for value in row)
        lifted = [[-int(value * unit) for value in row] for row in exact]
        demand(is_negative_semidefinite(lifted), f"{where}: it is not positive semidefinite")
        return [exact[k][m] for k, m in self.cells]

    def importance(self, theta: Sequence[Fraction]) -> list[Fraction]:
        """Share of each attribute in the trace."""
        diagonal = [value for (k, m), value in zip(self.cells, theta, strict=True) if k == m]
        return [value / sum(diagonal) for value in diagonal]

    @property
    def euclidean(self) -> list[Fraction]:
        """The identity: quadratic forms have ties of their own."""
        return [Fraction(int(k == m)) for k, m in self.cells]
