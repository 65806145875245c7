"""Attributes of a release, original beside masked, and what masking has done to their moments.

Functions of moments take the two files as arrays of shape (records, attributes), NaN where a value is
missing; a constant original attribute gives NaN, as there is no standard deviation to measure by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError, NotANumberError
from linkrisk.datasets.microdata.categories import coded, occurring
from linkrisk.datasets.microdata.numeric import numeric_matrix
from linkrisk.datasets.microdata.roles import Scale
from linkrisk.datasets.microdata.scale_inference import date_columns, in_days
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.tables import Table
from linkrisk.datasets.microdata.values import in_order
from linkrisk.datasets.pairs.categorical import spelled_alike
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.solver.measures.task import RiskTask

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
    """Every value's distance to what it was, ``|x - x'| / (sqrt(2) s_j)``, (records, attributes).

    The mean is the information loss IL1s (Yancey, Winkler and Creecy, 2002; Mateo-Sanz, Sebe and
    Domingo-Ferrer, 2004); sdcMicro's ``dUtility(method = "IL1s")`` is the sum.
    """
    return np.asarray(np.abs(original - masked) / (np.sqrt(2.0) * deviation))


def eigenvalue_difference(original: FloatArray, masked: FloatArray) -> float | None:
    """``sum_j |l_j - l'_j| / l_j`` of the eigenvalues of the two correlation matrices; None where one is 0.

    sdcMicro's ``dUtility(method = "eigen")``, with pairwise complete records.
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
    """Triangular factor of the centred complete records: one decomposition serves all regressions."""

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
        """Overlap of the confidence intervals of two files, shape (predictors,), from 0 to 1.

        ``((U - L) / (U1 - L1) + (U - L) / (U2 - L2)) / 2`` with L and U the ends of the common part (Karr et
        al., The American Statistician 60, 2006), 0 where there is none. NaN for intervals without length.
        """
        low = np.maximum(self.coefficients - self.half_width, other.coefficients - other.half_width)
        high = np.minimum(self.coefficients + self.half_width, other.coefficients + other.half_width)
        common = np.maximum(high - low, 0.0) / 2.0
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((common / self.half_width + common / other.half_width) / 2.0)


def regression(triangle: Triangle, response: int) -> Regression | None:
    """Regress one attribute on all others over the complete records; None where that is singular."""
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


@dataclass(frozen=True, eq=False)
class ReleasedAttribute:
    """One attribute of both files."""

    name: str
    scale: Scale  # numeric, ordinal or nominal
    original: FloatArray  # (n,): of all original records: numbers, or positions in `categories`;
    masked: FloatArray  # (m,): of all masked records
    partner: NDArray[np.intp]  # (n,): the masked row of each original record; -1 where it has none
    categories: tuple[str, ...] = ()  # of an ordinal attribute in ascending order; none of a numeric one

    @property
    def numeric(self) -> bool:
        """Whether its values are numbers."""
        return self.scale is Scale.NUMERIC

    @property
    def ranked(self) -> bool:
        """Whether its values have an order."""
        return self.scale is not Scale.NOMINAL

    @cached_property
    def paired(self) -> tuple[FloatArray, FloatArray]:
        """Values of the records that have a partner, and of these partners."""
        known = self.partner >= 0
        return self.original[known], self.masked[self.partner[known]]

    @cached_property
    def is_masked(self) -> bool:
        """Whether the masked file says something else of any record that it has."""
        before, after = self.paired
        return not np.array_equal(before, after, equal_nan=True)

    @cached_property
    def differs(self) -> bool:
        """Whether its distribution may differ: it is masked, or the files have other records."""
        known = int((self.partner >= 0).sum())
        return self.is_masked or not known == len(self.original) == len(self.masked)


def released(task: RiskTask) -> tuple[ReleasedAttribute, ...]:
    """The attributes of measures of disclosure and loss: all compared, then released confidential ones."""
    files, compared = task.files, set(task.files.attributes)
    found = [_compared(files, at) for at in range(len(files.attributes))]
    others = [name for name in task.confidential if name not in compared and name in files.masked.columns]
    found += [_other(files, name, task.schema) for name in others]
    return tuple(each for each in found if not np.isnan(each.original).all())


def unreadable(task: RiskTask) -> str | None:
    """What is wrong with a confidential attribute, so that a measure is left out, not the run; or None."""
    try:
        released(task)
    except DataError as error:
        return str(error)
    return None


def released_attribute(task: RiskTask, name: str) -> ReleasedAttribute:
    """One attribute of both files, by its name."""
    if name in task.files.attributes:
        return _compared(task.files, task.files.attributes.index(name))
    return _other(task.files, name, task.schema)


def _compared(files: FilePair, at: int) -> ReleasedAttribute:
    """An attribute that is compared, as the comparison has read it."""
    name = files.attributes[at]
    before, after = files.original_values[:, at], files.masked_values[:, at]
    attribute = files.categorical.get(name)
    if attribute is None:
        return ReleasedAttribute(name, Scale.NUMERIC, before, after, files.partner)
    size = len(attribute.categories)
    before, after = (np.where(codes == size, np.nan, codes) for codes in (before, after))
    return ReleasedAttribute(name, attribute.scale, before, after, files.partner, attribute.categories)


def _other(files: FilePair, name: str, schema: Schema | None) -> ReleasedAttribute:
    """An attribute that is not compared, by the scale of the schema; without one by its values."""
    declared = None if schema is None else schema.get(name).scale
    dated = _days(files, name, schema)
    if dated is not None:
        return ReleasedAttribute(name, Scale.NUMERIC, *dated, files.partner)
    if declared in (None, Scale.NUMERIC):
        try:
            before, after = _numbers(files.original, name, "original"), _numbers(files.masked, name, "masked")
        except NotANumberError:
            if declared is Scale.NUMERIC:
                raise
        else:
            return ReleasedAttribute(name, Scale.NUMERIC, before, after, files.partner)
    scale = declared if declared is Scale.ORDINAL else Scale.NOMINAL
    listed = () if schema is None else schema.get(name).categories or ()
    tables = [Table(files.original, "original"), Table(files.masked, "masked")]
    columns = [table.frame[name] for table in spelled_alike(tables, {name: listed})]
    names = listed or in_order({each for column in columns for each in occurring(column).names})
    before, after = (
        _positions(column, names, table.source) for column, table in zip(columns, tables, strict=True)
    )
    return ReleasedAttribute(name, scale, before, after, files.partner, tuple(names))


def _days(files: FilePair, name: str, schema: Schema | None) -> tuple[FloatArray, FloatArray] | None:
    """Both columns as days; None where they are no dates, or it is not clear which."""
    tables = (Table(files.original, "original"), Table(files.masked, "masked"))
    dates = date_columns([name], tables, schema)
    if not dates:
        return None
    try:
        first, second = in_days(tables, dates)
    except DataError:
        if schema is not None and schema.get(name).scale is Scale.DATE:
            raise
        return None
    return _numbers(first.frame, name, "original"), _numbers(second.frame, name, "masked")


def _numbers(frame: pd.DataFrame, name: str, source: str) -> FloatArray:
    return numeric_matrix(frame, [name], source, allow_missing=True)[:, 0]


def _positions(column: pd.Series, names: Sequence[str], source: str) -> FloatArray:
    """Categories as positions; NaN where one is missing."""
    codes = coded(column, names, source).codes
    return np.where(codes < 0, np.nan, codes).astype(np.float64)
