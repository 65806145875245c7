"""Compare released attributes with the original ones: moments, and changes by masking.

Functions of moments take the two files as arrays of shape (records, attributes), NaN where a value is
missing; a constant original attribute gives NaN, as there is no standard deviation to measure by.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError, NotANumberError
from linkrisk.datasets.microdata.categories import coded, occurring
from linkrisk.datasets.microdata.numeric import numeric_matrix
from linkrisk.datasets.microdata.roles import NAMES_RECORDS, Scale
from linkrisk.datasets.microdata.scale_inference import date_columns, in_days
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.tables import Table
from linkrisk.datasets.microdata.values import in_order
from linkrisk.datasets.pairs.categorical import spelled_alike
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.solver.measures.base import Finding, Measure, MeasureResult, Unit, Worse
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.number_format import percent

_LEVEL = 0.975
"""Confidence level of 95 % intervals, by the t distribution."""

_SINGULAR = 1e-10
"""Share of the largest eigenvalue below which a correlation matrix is singular."""


def spread(values: FloatArray) -> FloatArray:
    """Compute the standard deviation of each attribute with n - 1, shape (attributes,); NaN where zero."""
    deviations = pd.DataFrame(values).std().to_numpy(dtype=np.float64)
    # Rounding gives equal values a standard deviation of some last digits.
    smallest = 1e-12 * np.nan_to_num(np.abs(pd.DataFrame(values)).max().to_numpy(dtype=np.float64))
    return np.where(deviations > smallest, deviations, np.nan)


def il1s(original: FloatArray, masked: FloatArray, deviation: FloatArray) -> FloatArray:
    """Compute IL1s, ``|x - x'| / (sqrt(2) s_j)`` of every value, (records, attributes).

    The mean is the information loss IL1s (Yancey, Winkler and Creecy, 2002; Mateo-Sanz, Sebe and
    Domingo-Ferrer, 2004); sdcMicro's ``dUtility(method = "IL1s")`` is the sum.
    """
    return np.asarray(np.abs(original - masked) / (np.sqrt(2.0) * deviation))


def eigenvalue_difference(original: FloatArray, masked: FloatArray) -> float | None:
    """Compute ``sum_j |l_j - l'_j| / l_j`` of the correlation matrices' eigenvalues; None if singular.

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
    """Compute the covariance matrix with n - 1, each pair on the records with both values."""
    if len(values) < 2:  # pandas would warn
        return np.full((values.shape[1], values.shape[1]), np.nan)
    return pd.DataFrame(values).cov().to_numpy(dtype=np.float64)


def correlations(values: FloatArray) -> FloatArray:
    """Compute the correlation matrix, on the records with both values; NaN where one is constant."""
    matrix = pd.DataFrame(values).corr().to_numpy(dtype=np.float64).copy()
    constant = np.isnan(spread(values))
    matrix[constant] = np.nan
    matrix[:, constant] = np.nan
    return matrix


@dataclass(frozen=True, eq=False)
class Triangle:
    """Triangular factor (QR) of the centred complete records, shared by all regressions."""

    records: int  # complete ones
    factor: FloatArray  # (records, attributes): the triangular factor R

    @classmethod
    def of(cls, values: FloatArray) -> Triangle:
        """Factorise values, shape (records, attributes), about 1 in size."""
        complete = values[~np.isnan(values).any(axis=1)]
        centred = complete - complete.mean(axis=0) if len(complete) else complete
        return cls(len(complete), np.asarray(np.linalg.qr(centred, mode="r")))

    @property
    def independent(self) -> NDArray[np.bool_]:
        """Mark attributes that are no linear combination of earlier ones, shape (attributes,)."""
        if self.records == 0:
            return np.ones(self.factor.shape[1], dtype=np.bool_)
        # The diagonal of R has the residual of each column after those before it.
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
        """Compute the overlap of both files' confidence intervals, shape (predictors,), from 0 to 1.

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
        """Pair the values of the records with those of their partners."""
        known = self.partner >= 0
        return self.original[known], self.masked[self.partner[known]]

    @cached_property
    def is_masked(self) -> bool:
        """Whether the masked file changes the value of any record."""
        before, after = self.paired
        return not np.array_equal(before, after, equal_nan=True)

    @cached_property
    def differs(self) -> bool:
        """Whether its distribution may differ: it is masked, or the files have different records."""
        known = int((self.partner >= 0).sum())
        return self.is_masked or not known == len(self.original) == len(self.masked)


def released(task: RiskTask) -> tuple[ReleasedAttribute, ...]:
    """List the attributes of disclosure and loss measures: all compared, then released confidential ones."""
    files, compared = task.files, set(task.files.attributes)
    found = [_compared(files, at) for at in range(len(files.attributes))]
    others = [name for name in task.confidential if name not in compared and name in files.masked.columns]
    found += [_other(files, name, task.schema) for name in others]
    return tuple(each for each in found if not np.isnan(each.original).all())


def unreadable(task: RiskTask) -> str | None:
    """Check that a confidential attribute can be read: the reason if not, so that only its measure fails."""
    try:
        released(task)
    except DataError as error:
        return str(error)
    return None


def released_attribute(task: RiskTask, name: str) -> ReleasedAttribute:
    """Read one attribute of both files, by its name."""
    if name in task.files.attributes:
        return _compared(task.files, task.files.attributes.index(name))
    return _other(task.files, name, task.schema)


def _compared(files: FilePair, at: int) -> ReleasedAttribute:
    """Read a compared attribute as the comparison does."""
    name = files.attributes[at]
    before, after = files.original_values[:, at], files.masked_values[:, at]
    attribute = files.categorical.get(name)
    if attribute is None:
        return ReleasedAttribute(name, Scale.NUMERIC, before, after, files.partner)
    size = len(attribute.categories)
    before, after = (np.where(codes == size, np.nan, codes) for codes in (before, after))
    return ReleasedAttribute(name, attribute.scale, before, after, files.partner, attribute.categories)


def _other(files: FilePair, name: str, schema: Schema | None) -> ReleasedAttribute:
    """Read an attribute that is not compared, by the scale of the schema, or else by its values."""
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
    """Convert both columns to days; None where they are no dates, or ambiguous."""
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
    """Convert categories to positions; NaN where missing."""
    codes = coded(column, names, source).codes
    return np.where(codes < 0, np.nan, codes).astype(np.float64)


_ROUNDING = 1e-12
"""Standardised mean change below which it is rounding error."""


@dataclass(frozen=True)
class Change:
    """One column. All shares are of the records that have a partner."""

    column: str
    role: str | None  # as a schema says it
    compared: bool  # whether records are linked by it
    changed: float | None = None  # share of values that differ, or are missing in one file only
    missing: float | None = None  # share of values that the original has and the masked file has not
    shift: float | None = None  # mean change of numbers, in standard deviations of the original
    most_frequent: str | None = None  # of categories, the most frequent change, as ``a to b (12 records)``
    note: str | None = None  # why there is nothing to compare


@dataclass(frozen=True, eq=False, repr=False)
class Changes(MeasureResult):
    """Differences of the masked file from the original one, column by column."""

    measure: ClassVar[str] = "changes"
    records: int  # records with a partner
    columns: tuple[Change, ...]  # of both files, in the order of the original

    @property
    def unchanged(self) -> tuple[str, ...]:
        """List compared columns that are unchanged."""
        return tuple(one.column for one in self.columns if one.compared and one.changed == 0.0)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Over compared columns: the share of values changed, and of columns left alone."""
        compared = [one.changed for one in self.columns if one.compared and one.changed is not None]
        if not compared:
            return ()
        mean = float(np.mean(compared))
        alone = Finding(
            "left_alone", "compared columns left exactly as they are", float(len(self.unchanged)), Unit.NUMBER
        )
        return (Finding("values_changed", "values changed", mean, worse=Worse.NEITHER), alone)

    @property
    def paragraph(self) -> str:
        """How many columns were changed, and which were not."""
        known = [one for one in self.columns if one.changed is not None]
        if not known:
            return "no column of the two files can be compared."
        changed = [one for one in known if one.changed]
        if not changed:
            return f"nothing was changed in any of {len(known)} columns."
        most = max(changed, key=lambda one: one.changed or 0.0)
        text = (
            f"{len(changed)} of {len(known)} columns were changed, most of all {most.column} "
            f"({percent(most.changed or 0.0)} of the values)."
        )
        if self.unchanged:
            text += f" Compared, and left exactly as they are: {', '.join(self.unchanged)}."
        return text

    def to_frame(self) -> pd.DataFrame:
        """One row per column, as `Change` describes them."""
        return pd.DataFrame([vars(one) for one in self.columns], columns=list(Change.__annotations__))


class ChangesOfColumns(Measure):
    """Counts values changed, suppressed and shifted."""

    name: ClassVar[str] = "changes"
    title: ClassVar[str] = "What was changed"
    cost: ClassVar[float] = 0.2
    growth: ClassVar[float] = 1.5

    def take(self, task: RiskTask, clock: Clock) -> Changes:
        """Compare column by column."""
        del clock
        known = int((task.files.partner >= 0).sum())
        return Changes(known, tuple(_columns(task)))


def _columns(task: RiskTask) -> Iterator[Change]:
    files = task.files
    theirs = [str(name) for name in files.masked.columns]
    ours = [str(name) for name in files.original.columns]
    for name in dict.fromkeys([*ours, *theirs]):
        role = None if task.schema is None else task.schema.get(name).role
        change = Change(name, None if role is None else role.value, name in files.attributes)
        if name not in ours or name not in theirs:
            where = "masked" if name in theirs else "original"
            yield replace(change, note=f"in the {where} file only")
        elif role in NAMES_RECORDS or name == task.first.options.id:
            yield replace(change, note="names records")
        else:
            yield _changed(task, change)


def _changed(task: RiskTask, change: Change) -> Change:
    try:
        attribute = released_attribute(task, change.column)
    except DataError as error:
        return replace(change, note=str(error))
    before, after = attribute.paired
    if not before.size:
        return replace(change, note="no record has a partner")
    gone, both = ~np.isnan(before) & np.isnan(after), ~np.isnan(before) & ~np.isnan(after)
    same = (before == after) | (np.isnan(before) & np.isnan(after))
    return replace(
        change,
        changed=float(np.mean(~same)),
        missing=float(np.mean(gone)),
        shift=_shift(before[both], after[both]) if attribute.numeric else None,
        most_frequent=None if attribute.numeric else _most_frequent(attribute, before[both], after[both]),
    )


def _shift(before: FloatArray, after: FloatArray) -> float | None:
    """Compute the mean change in standard deviations (with n - 1); None without two different values."""
    deviation = float(np.nan_to_num(spread(before[:, None]))[0])
    if deviation == 0.0:
        return None
    shift = float((after - before).mean()) / deviation
    return shift if abs(shift) > _ROUNDING else 0.0


def _most_frequent(attribute: ReleasedAttribute, before: FloatArray, after: FloatArray) -> str | None:
    """Find the most frequent change; of equally frequent ones the first by its categories."""
    differs = before != after
    if not differs.any():
        return None
    pairs, counts = np.unique(np.stack([before, after])[:, differs], axis=1, return_counts=True)
    at = int(counts.argmax())
    first, second = (attribute.categories[int(position)] for position in pairs[:, at])
    many = int(counts[at])
    return f"{first} to {second} ({many:,} {'record' if many == 1 else 'records'})"
