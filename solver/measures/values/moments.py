"""What masking has done to moments, correlations and regressions of numeric attributes.

All functions take the two files as arrays of shape (records, attributes), NaN where a value is missing, and a
constant original attribute gives NaN: there is no standard deviation to measure by.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from linkrisk.arrays import FloatArray

_LEVEL = 0.975
"""Of the t distribution, for both ends of 95 % confidence intervals."""

_SINGULAR = 1e-10
"""A correlation matrix whose smallest eigenvalue is below this share of the largest has none to divide by."""


def spread(values: FloatArray) -> FloatArray:
    """Standard deviation of each attribute with n - 1, shape (attributes,); NaN where it is zero."""
    deviations = pd.DataFrame(values).std().to_numpy(dtype=np.float64)
    # Rounding gives equal values a standard deviation of some last digits.
    smallest = 1e-12 * np.nan_to_num(np.abs(pd.DataFrame(values)).max().to_numpy(dtype=np.float64))
    return np.where(deviations > smallest, deviations, np.nan)


def il1s(original: FloatArray, masked: FloatArray, deviation: FloatArray) -> FloatArray:
    """Every value's distance to what it was: ``|x - x'| / (sqrt(2) s_j)``, shape (records, attributes).

    `original` and `masked` are partners, row by row; `deviation` is ``s_j``, of the original attributes. NaN
    where either value is missing. The mean is the information loss IL1s (Yancey, Winkler and Creecy, 2002;
    Mateo-Sanz, Sebe and Domingo-Ferrer, 2004); sdcMicro's ``dUtility(method = "IL1s")`` is the sum.
    """
    return np.asarray(np.abs(original - masked) / (np.sqrt(2.0) * deviation))


def eigenvalue_difference(original: FloatArray, masked: FloatArray) -> float | None:
    """``sum_j |l_j - l'_j| / l_j`` of the sorted eigenvalues of the two correlation matrices.

    sdcMicro's ``dUtility(method = "eigen")``, with pairwise complete records. None where an attribute is
    constant, or the originals are linearly dependent: then some ``l_j`` is zero.
    """
    values = []
    for table in (original, masked):
        matrix = correlations(table)
        if np.isnan(matrix).any():
            return None
        values.append(np.linalg.eigvalsh(matrix)[::-1])
    if values[0][-1] < _SINGULAR * values[0][0]:
        return None
    return float((np.abs(values[0] - values[1]) / values[0]).sum())


def covariances(values: FloatArray) -> FloatArray:
    """Covariance matrix with n - 1, of each pair from the records that have both values."""
    if len(values) < 2:  # pandas would warn
        return np.full((values.shape[1], values.shape[1]), np.nan)
    return pd.DataFrame(values).cov().to_numpy(dtype=np.float64)


def correlations(values: FloatArray) -> FloatArray:
    """Correlation matrix, from the records that have both values; NaN where one of the two is constant."""
    matrix = pd.DataFrame(values).corr().to_numpy(dtype=np.float64).copy()
    constant = np.isnan(spread(values))
    matrix[constant] = np.nan
    matrix[:, constant] = np.nan
    return matrix


@dataclass(frozen=True, eq=False)
class Triangle:
    """What least squares need of a table: centred, its complete records are an orthogonal matrix times this.

    One decomposition serves the regressions of all attributes, whatever the number of records.
    """

    records: int  # complete ones
    factor: FloatArray  # (records, attributes): the triangular factor R

    @classmethod
    def of(cls, values: FloatArray) -> Triangle:
        """Of values, shape (records, attributes), about 1 in size."""
        complete = values[~np.isnan(values).any(axis=1)]
        centred = complete - complete.mean(axis=0) if len(complete) else complete
        return cls(len(complete), np.asarray(np.linalg.qr(centred, mode="r")))

    @property
    def independent(self) -> NDArray[np.bool_]:
        """Which attributes are no linear combination of those before them, shape (attributes,)."""
        if self.records == 0:
            return np.ones(self.factor.shape[1], dtype=np.bool_)
        # The diagonal of R is what is left of a column once those before it are taken out.
        left = np.zeros(self.factor.shape[1])
        diagonal = np.abs(np.diag(self.factor))
        left[: diagonal.size] = diagonal
        return np.asarray(left > 1e-8 * np.sqrt(self.records))


@dataclass(frozen=True, eq=False)
class Regression:
    """Least squares of one attribute on others, with an intercept."""

    coefficients: FloatArray  # (predictors,): without the intercept
    half_width: FloatArray  # (predictors,): half the length of the 95 % confidence intervals

    def overlap(self, other: Regression) -> FloatArray:
        """How much the confidence intervals of two files have in common, shape (predictors,), from 0 to 1.

        ``((U - L) / (U1 - L1) + (U - L) / (U2 - L2)) / 2`` with L and U the ends of the common part (Karr et
        al., The American Statistician 60, 2006), 0 where there is none. NaN for intervals without length.
        """
        low = np.maximum(self.coefficients - self.half_width, other.coefficients - other.half_width)
        high = np.minimum(self.coefficients + self.half_width, other.coefficients + other.half_width)
        common = np.maximum(high - low, 0.0) / 2.0
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((common / self.half_width + common / other.half_width) / 2.0)


def regression(triangle: Triangle, response: int) -> Regression | None:
    """Regress one attribute on all others over the complete records; None where that has no one answer.

    A design is taken for linearly dependent by its singular values.
    """
    y, x = triangle.factor[:, response], np.delete(triangle.factor, response, axis=1)
    freedom = triangle.records - x.shape[1] - 1
    if freedom < 1 or x.shape[1] == 0:
        return None
    u, singular, v = np.linalg.svd(x, full_matrices=False)
    if singular[-1] < 1e-8 * max(1.0, singular[0]):
        return None
    coefficients = v.T @ ((u.T @ y) / singular)
    residual = y - x @ coefficients
    variance = (residual @ residual) / freedom * ((v.T / singular) ** 2).sum(axis=1)
    return Regression(coefficients, np.asarray(stats.t.ppf(_LEVEL, freedom) * np.sqrt(variance)))
