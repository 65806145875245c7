"""A mixed-integer linear model as plain arrays: what every backend takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

FloatArray = NDArray[np.float64]


def _default_names(model: MilpModel) -> tuple[list[str], list[str]]:
    rows, columns = model.shape
    return [f"r{i}" for i in range(rows)], [f"x{j}" for j in range(columns)]


@dataclass(frozen=True)
class MilpModel:
    """Minimise ``objective @ x + constant`` over ``row_lower <= matrix @ x <= row_upper`` and column bounds.

    Attributes
    ----------
    objective : ndarray of float64, shape (n,)
        Coefficients to minimise.
    constant : float
        Added to the objective.
    matrix : scipy.sparse.csr_array, shape (m, n)
        Row coefficients.
    row_lower, row_upper : ndarray of float64, shape (m,)
        Bounds of the rows; infinities where there are none.
    column_lower, column_upper : ndarray of float64, shape (n,)
        Bounds of the columns.
    integer : ndarray of bool, shape (n,)
        Which columns are integer.
    name_maker : callable
        Makes ``(row names, column names)``; called only when a file is written, because a hundred
        thousand strings cost more than the arrays.
    """

    objective: FloatArray
    matrix: sparse.csr_array
    row_lower: FloatArray
    row_upper: FloatArray
    column_lower: FloatArray
    column_upper: FloatArray
    integer: NDArray[np.bool_]
    constant: float = 0.0
    name_maker: Callable[[MilpModel], tuple[list[str], list[str]]] = field(
        default=_default_names, repr=False, compare=False
    )

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.matrix.shape
        return int(rows), int(columns)

    @property
    def nonzeros(self) -> int:
        """Stored coefficients."""
        return int(self.matrix.nnz)

    def names(self) -> tuple[list[str], list[str]]:
        """Row names and column names, for files that people read."""
        return self.name_maker(self)

    def value(self, x: FloatArray) -> float:
        """Objective at the point `x` of shape (n,)."""
        return float(self.objective @ x) + self.constant

    def violation(self, x: FloatArray) -> float:
        """Largest violation of a row, a column bound or integrality at the point `x` of shape (n,)."""
        activity = self.matrix @ x
        parts = [
            self.row_lower - activity,
            activity - self.row_upper,
            self.column_lower - x,
            x - self.column_upper,
            np.abs(x - np.round(x))[self.integer],
        ]
        return max((float(part.max()) for part in parts if part.size), default=0.0)
