"""A linear program as plain arrays, and what multipliers of its rows prove."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray


@dataclass(frozen=True, kw_only=True)
class LinearModel:
    """Minimise ``objective @ x + constant`` over ``row_lower <= matrix @ x <= row_upper`` and column bounds.

    Attributes
    ----------
    objective : ndarray of float64, shape (n,)
        Coefficients to minimise.
    matrix : scipy.sparse.csr_array, shape (m, n)
        Row coefficients.
    row_lower, row_upper : ndarray of float64, shape (m,)
        Bounds of the rows; infinities where there are none.
    column_lower, column_upper : ndarray of float64, shape (n,)
        Bounds of the columns.
    constant : float
        Added to the objective.
    """

    objective: FloatArray
    matrix: sparse.csr_array
    row_lower: FloatArray
    row_upper: FloatArray
    column_lower: FloatArray
    column_upper: FloatArray
    constant: float = 0.0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.matrix.shape
        return int(rows), int(columns)

    @property
    def nonzeros(self) -> int:
        """Stored coefficients."""
        return int(self.matrix.nnz)

    def value(self, x: FloatArray) -> float:
        """Objective at the point `x` of shape (n,)."""
        return float(self.objective @ x) + self.constant

    def violation(self, x: FloatArray) -> float:
        """Largest violation of a row or a column bound at the point `x` of shape (n,)."""
        activity = self.matrix @ x
        parts = [
            self.row_lower - activity,
            activity - self.row_upper,
            self.column_lower - x,
            x - self.column_upper,
        ]
        return max((float(part.max()) for part in parts if part.size), default=0.0)


def box_model(objective: FloatArray) -> LinearModel:
    """Minimise over points between zero and one; rows are to be added."""
    columns, none = objective.size, np.empty(0)
    return LinearModel(
        objective=objective,
        matrix=sparse.csr_array((0, columns)),
        row_lower=none,
        row_upper=none,
        column_lower=np.zeros(columns),
        column_upper=np.ones(columns),
    )


def lower_bound(model: LinearModel, multipliers: FloatArray) -> float:
    """What any multipliers of the rows prove about the objective, by weak duality.

    With multipliers y, every feasible x has ``objective @ x`` at least
    ``sum_i (y_i > 0 ? y_i row_lower_i : y_i row_upper_i) + sum_j min(r_j lower_j, r_j upper_j)`` where
    ``r = objective - y @ matrix``; at the optimum the duals of an optimal basis make it an equality.

    Parameters
    ----------
    model : LinearModel
    multipliers : ndarray of float64, shape (m,)
        Any numbers; those that would need a row's bound which is not there count as zero.

    Returns
    -------
    float
        The bound, constant included, up to rounding; -inf where a column's bound is needed that is not there.
    """
    sides = np.where(multipliers > 0.0, model.row_lower, model.row_upper)
    used = np.where(np.isfinite(sides), multipliers, 0.0)
    rows = _products(used, sides)
    rest = model.objective - used @ model.matrix
    columns = _products(rest, np.where(rest > 0.0, model.column_lower, model.column_upper))
    if not np.isfinite(columns).all():
        return -np.inf
    return float(rows.sum() + columns.sum()) + model.constant


def excess(model: LinearModel, ray: FloatArray) -> float:
    """By how much a combination of rows asks for more than any point within the column bounds has.

    Above zero, by more than rounding, it proves that the model has no solution (Farkas 1902): it is the
    `lower_bound` of an objective that is zero everywhere.

    Parameters
    ----------
    model : LinearModel
    ray : ndarray of float64, shape (m,)
        Multipliers of the rows.
    """
    nothing = replace(model, objective=np.zeros_like(model.objective), constant=0.0)
    return lower_bound(nothing, ray)


def _products(factors: FloatArray, bounds: FloatArray) -> FloatArray:
    """Factor times bound, zero where the factor is, whatever the bound."""
    return np.asarray(factors * np.where(factors == 0.0, 0.0, bounds))
