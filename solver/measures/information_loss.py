"""Measure information loss: changes of values, moments, associations and frequencies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.special import expit

from linkrisk.arrays import FloatArray
from linkrisk.solver.measures.base import Finding, Measure, MeasureResult, Unit
from linkrisk.solver.measures.logistic import logistic
from linkrisk.solver.measures.released import (
    ReleasedAttribute,
    Triangle,
    correlations,
    covariances,
    eigenvalue_difference,
    il1s,
    regression,
    released,
    spread,
    unreadable,
)
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.number_format import percent

Row = tuple[str, str | None, str | None, float | None, float | None, float]


@dataclass(frozen=True)
class CategoryLoss:
    """An ordinal or nominal attribute; missing values are one more category."""

    attribute: str
    changed: float  # share of the records that have another category than before, from 0 to 1
    total_variation: float  # ``1/2 sum_c |f_c - f'_c|`` of the shares of categories, 0 to 1
    hellinger: float  # ``sqrt(1/2 sum_c (sqrt(f_c) - sqrt(f'_c))**2)``, from 0 to 1

    @property
    def rows(self) -> tuple[Row, ...]:
        """List the rows for the frame of all losses."""
        return (
            ("categories changed", self.attribute, None, None, None, self.changed),
            ("total variation", self.attribute, None, None, None, self.total_variation),
            ("Hellinger", self.attribute, None, None, None, self.hellinger),
        )


def category_loss(attribute: ReleasedAttribute) -> CategoryLoss:
    """Compare the frequencies of all records of both files, and the categories of partners."""
    before, after = attribute.paired
    same = (before == after) | (np.isnan(before) & np.isnan(after))
    first, second = (_shares(codes, attribute) for codes in (attribute.original, attribute.masked))
    return CategoryLoss(
        attribute.name,
        float(1.0 - same.mean()),
        float(np.abs(first - second).sum() / 2.0),
        float(np.sqrt(((np.sqrt(first) - np.sqrt(second)) ** 2).sum() / 2.0)),
    )


def _shares(codes: FloatArray, attribute: ReleasedAttribute) -> FloatArray:
    """Compute the share of each category, and last of missing values."""
    size = len(attribute.categories)
    counts = np.bincount(np.where(np.isnan(codes), size, codes).astype(np.intp), minlength=size + 1)
    return np.asarray(counts / len(codes), dtype=np.float64)


_ROUNDING = 1e-12
"""Standardised loss below which the difference is rounding error, as of means that masking preserves."""


@dataclass(frozen=True)
class NumericLoss:
    """Losses of numeric attributes: 0 where nothing was masked, None where it cannot be measured.

    In standard deviations ``s_j`` of the original attributes; one that is constant there is left out.
    """

    il1s: float | None  # mean of ``|x - x'| / (sqrt(2) s_j)`` over the values of masked attributes
    mean: float | None  # mean of ``|m'_j - m_j| / s_j`` over masked attributes, with means m
    variance: float | None  # mean of ``|v'_j / v_j - 1|`` over masked attributes, with variances v
    covariance: float | None  # mean of ``|c'_jk - c_jk| / (s_j s_k)`` over pairs with a masked attribute
    correlation: float | None  # mean of ``|r'_jk - r_jk|`` over these pairs; from 0 to 2
    eigenvalues: float | None  # ``sum_j |l_j - l'_j| / l_j`` of the correlation matrices
    # mean of ``|b' - b|`` over the standardised coefficients of the regressions of every attribute on all
    # others, but for those that are `dependent`
    regression: float | None
    overlap_lost: float | None  # 1 minus the mean overlap of their 95 % confidence intervals; from 0 to 1
    dependent: tuple[str, ...]  # linear combinations of attributes before them, left out
    rows: tuple[Row, ...]  # all that these are means of: statistic, attribute, with, original, masked, loss

    @property
    def means(self) -> tuple[tuple[str, str, float | None], ...]:
        """List key, description and value of each number."""
        return (
            ("il1s", "IL1s of numbers", self.il1s),
            ("mean_difference", "means, in standard deviations", self.mean),
            ("variance_difference", "variances, relative", self.variance),
            ("covariance_difference", "covariances, standardised", self.covariance),
            ("correlation_difference", "correlations", self.correlation),
            ("eigenvalue_difference", "eigenvalues of the correlations", self.eigenvalues),
            ("regression_difference", "regression coefficients, standardised", self.regression),
            ("overlap_lost", "their 95 % intervals, overlap lost", self.overlap_lost),
        )


def numeric_loss(attributes: Sequence[ReleasedAttribute]) -> NumericLoss:
    """Compare numeric attributes of two files: partners for IL1s, all records of both for the rest."""
    attributes = [each for each in attributes if not np.isnan(spread(each.original[:, None])).all()]
    if not attributes:
        return NumericLoss(None, None, None, None, None, None, None, None, (), ())
    # Where nothing differs, all attributes show that the loss is 0.
    differs = np.array([each.differs for each in attributes])
    changed = differs if differs.any() else ~differs
    original = np.column_stack([each.original for each in attributes])
    masked = np.column_stack([each.masked for each in attributes])
    names, scale = [each.name for each in attributes], spread(original)
    centre = np.nanmean(original, axis=0)
    first, second = (original - centre) / scale, (masked - centre) / scale
    whole = Triangle.of(first)
    free = whole.independent
    relations = whole if free.all() else Triangle.of(first[:, free]), Triangle.of(second[:, free])
    rows = (
        *_values(attributes, scale),
        *_moments(original, masked, names, changed),
        *_pairs(first, second, names, changed),
        *_regressions(*relations, [names[at] for at in np.flatnonzero(free).tolist()]),
    )
    return NumericLoss(
        _mean(rows, "IL1s"),
        _mean(rows, "mean"),
        _mean(rows, "variance"),
        _mean(rows, "covariance"),
        _mean(rows, "correlation"),
        eigenvalue_difference(first, second) if len(attributes) > 1 else None,
        _mean(rows, "regression coefficient"),
        _mean(rows, "overlap lost"),
        tuple(name for name, kept in zip(names, free, strict=True) if not kept),
        rows,
    )


def _mean(rows: Sequence[Row], statistic: str) -> float | None:
    """Average the losses of a statistic; None without any."""
    losses = [row[-1] for row in rows if row[0] == statistic and not np.isnan(row[-1])]
    if not losses:
        return None
    mean = float(np.mean(losses))
    return mean if mean > _ROUNDING else 0.0


def _values(attributes: Sequence[ReleasedAttribute], scale: FloatArray) -> list[Row]:
    """Compute IL1s of every masked attribute; of all where none is masked."""
    masked = [each.is_masked for each in attributes]
    rows: list[Row] = []
    for each, deviation, changed in zip(attributes, scale, masked, strict=True):
        losses = il1s(*each.paired, deviation)
        if (changed or not any(masked)) and not np.isnan(losses).all():
            rows.append(("IL1s", each.name, None, None, None, float(np.nanmean(losses))))
    return rows


def _moments(
    original: FloatArray, masked: FloatArray, names: Sequence[str], changed: NDArray[np.bool_]
) -> list[Row]:
    """Compare means and variances of each attribute, in its units."""
    rows: list[Row] = []
    for at in np.flatnonzero(changed).tolist():
        before, after = (values[~np.isnan(values[:, at]), at] for values in (original, masked))
        if after.size == 0:
            continue
        mean, variance = float(before.mean()), float(before.var(ddof=1))
        other = float(after.mean())
        rows.append(("mean", names[at], None, mean, other, abs(other - mean) / variance**0.5))
        if after.size > 1:
            other = float(after.var(ddof=1))
            rows.append(("variance", names[at], None, variance, other, abs(other / variance - 1.0)))
    return rows


def _pairs(
    first: FloatArray, second: FloatArray, names: Sequence[str], changed: NDArray[np.bool_]
) -> list[Row]:
    """Compare covariances (standardised) and correlations of every pair that can have changed."""
    rows: list[Row] = []
    for statistic, matrix in (("covariance", covariances), ("correlation", correlations)):
        before, after = matrix(first), matrix(second)
        for j, k in combinations(range(len(names)), 2):
            if changed[j] or changed[k]:
                loss = float(abs(after[j, k] - before[j, k]))
                rows.append((statistic, names[j], names[k], float(before[j, k]), float(after[j, k]), loss))
    return rows


def _regressions(first: Triangle, second: Triangle, names: Sequence[str]) -> list[Row]:
    """Compare standardised coefficients of each attribute's regression on all others, with intervals."""
    rows: list[Row] = []
    for at, name in enumerate(names):
        one, other = regression(first, at), regression(second, at)
        if one is None or other is None:
            continue
        overlap = one.overlap(other)
        for k, predictor in enumerate([*names[:at], *names[at + 1 :]]):
            before, after = float(one.coefficients[k]), float(other.coefficients[k])
            rows.append(("regression coefficient", name, predictor, before, after, abs(after - before)))
            rows.append(("overlap lost", name, predictor, None, None, float(1.0 - overlap[k])))
    return rows


Rows = tuple[slice, slice] | tuple[NDArray[np.intp], NDArray[np.intp]]
"""Row numbers of the original and of the masked file."""

MOST_RECORDS = 200_000
"""Most records of both files for the propensity model; beyond, a random sample."""

_RECORDS_EACH = 10
"""Records of the two files required for each parameter of the model."""


class Terms(StrEnum):
    """Terms of the model, from rich to simple."""

    SECOND_ORDER = "main effects, squares and products"
    SQUARES = "main effects and squares"
    MAIN = "main effects"


@dataclass(frozen=True)
class Propensity:
    """Separation of masked from original records by a logistic regression."""

    pmse: float  # ``1/N sum_i (p_i - c)**2``, from 0 (indistinguishable) to ``c (1 - c)``
    # its expectation if the masked records were drawn anew from the distribution that the original file
    # shows: ``(k - 1) (1 - c)**2 c / N``. Another sample of the population would have ``1 / (1 - c)`` times
    # as much, since the original file varies too
    expected: float
    parameters: int  # ``k``, with the intercept
    records: int  # ``N``, of both files
    share: float  # ``c``, of them masked
    terms: Terms
    converged: bool  # false where files are separated so well that the estimates have no limit

    @property
    def ratio(self) -> float:
        """``pmse / expected``: 0 for the same file, about 1 for one that is drawn from it."""
        return self.pmse / self.expected

    @property
    def standardised(self) -> float:
        """``(pmse - expected) / sd``, with the null's ``sd = sqrt(2 (k - 1)) (1 - c)**2 c / N``."""
        scale = math.sqrt(2.0 * (self.parameters - 1)) * (1.0 - self.share) ** 2 * self.share / self.records
        return (self.pmse - self.expected) / scale


def propensity(attributes: Sequence[ReleasedAttribute]) -> Propensity | None:
    """Compute the pMSE of two files (Snoke, Raab, Nowok, Dibben and Slavkovic, JRSS A 181, 2018).

    Numeric attributes enter with squares and pairwise products, others by one indicator for each category but
    one, missing values by an indicator and the mean. Terms without any attribute that differs are left out:
    both files have the same values there. Of the models that leave `_RECORDS_EACH` records for each parameter
    the richest is taken. None where no attribute differs, or no model leaves so many. Of more than
    `MOST_RECORDS` records of both files so many are drawn, from either its part.
    """
    if not any(attribute.differs for attribute in attributes):
        return None
    rows = _drawn((len(attributes[0].original), len(attributes[0].masked)))
    n, m = len(attributes[0].original[rows[0]]), len(attributes[0].masked[rows[1]])
    for terms in Terms:
        columns = design(attributes, terms, rows)
        if columns.shape[1] + 1 > (n + m) / _RECORDS_EACH:
            continue
        basis = _basis(columns)
        if basis.shape[1] == 0:
            return None
        return _fitted(basis, n, m, terms)
    return None


def _drawn(sizes: tuple[int, int]) -> Rows:
    part = MOST_RECORDS / sum(sizes)
    if part >= 1.0:
        return slice(None), slice(None)
    random = np.random.default_rng(0)
    first, second = (random.choice(size, int(part * size), replace=False) for size in sizes)
    return first, second


def design(
    attributes: Sequence[ReleasedAttribute], terms: Terms, rows: Rows = (slice(None), slice(None))
) -> FloatArray:
    """Build the model's columns for original, then masked records (these rows), without the intercept."""
    numbers: list[tuple[FloatArray, bool]] = []
    columns: list[tuple[FloatArray, bool]] = []
    for attribute in attributes:
        values = np.concatenate([attribute.original[rows[0]], attribute.masked[rows[1]]])
        missing = np.isnan(values)
        if attribute.numeric:
            scale = np.nanstd(values) or 1.0
            numbers.append(
                (np.where(missing, 0.0, (values - np.nanmean(values)) / scale), attribute.is_masked)
            )
        else:
            present = np.unique(values[~missing])
            columns += [((values == code).astype(np.float64), attribute.differs) for code in present[1:]]
        if missing.any():
            columns.append((missing.astype(np.float64), attribute.differs))
    columns += numbers
    if terms is not Terms.MAIN:
        columns += [(values**2, masked) for values, masked in numbers]
    if terms is Terms.SECOND_ORDER:
        for at, (first, one) in enumerate(numbers):
            columns += [(first * second, one or other) for second, other in numbers[at + 1 :]]
    used = [values for values, masked in columns if masked]
    return np.column_stack([np.empty((len(missing), 0)), *used])


def _basis(columns: FloatArray) -> FloatArray:
    """Orthonormalise the columns, with variance 1: the same fit without collinearity."""
    centred: FloatArray = columns - columns.mean(axis=0)
    scale = np.sqrt((centred**2).mean(axis=0))
    centred = centred[:, scale > 1e-9] / scale[scale > 1e-9]
    if centred.shape[1] == 0:
        return np.empty((len(columns), 0))
    q, r, _ = qr(centred, mode="economic", pivoting=True)
    size = np.abs(np.diag(r))
    return np.asarray(q[:, size > 1e-9 * size[0]] * math.sqrt(len(columns)))


def _fitted(basis: FloatArray, n: int, m: int, terms: Terms) -> Propensity:
    theta, converged = logistic(basis, np.repeat([False, True], [n, m]))
    score = expit(theta[0] + basis @ theta[1:])
    total, k = n + m, basis.shape[1] + 1
    c = m / total
    pmse, expected = float(((score - c) ** 2).mean()), (k - 1) * (1.0 - c) ** 2 * c / total
    return Propensity(pmse, expected, k, total, c, terms, converged=converged)


@dataclass(frozen=True, eq=False, repr=False)  # that of all measures
class InformationLoss(MeasureResult):
    """Information loss of a release. Every number is 0 where nothing was masked; more is a larger loss."""

    measure: ClassVar[str] = "information-loss"
    records: int  # records with a partner
    both: int  # records of both files
    masked: tuple[str, ...]  # attributes that the masked file has changed
    unchanged: tuple[str, ...]  # those that it has left as they are
    suppressed: float  # share of the known values of masked attributes that are missing now
    numeric: NumericLoss  # of values, moments, relations and regressions of numeric attributes
    categories: tuple[CategoryLoss, ...]  # of the categorical attributes that differ
    propensity: Propensity | None  # None where nothing was masked, or with too few records

    @property
    def findings(self) -> tuple[Finding, ...]:
        """List numbers of all attributes; those without suitable attributes are left out."""
        found = [_number(key, words, value) for key, words, value in self.numeric.means if value is not None]
        if self.categories:
            for key, words in (("total_variation", "total variation"), ("hellinger", "Hellinger distance")):
                mean = float(np.mean([getattr(each, key) for each in self.categories]))
                unit = Unit.SHARE if key == "total_variation" else Unit.NUMBER
                found.append(Finding(key, f"category frequencies, {words}", mean, unit))
        if self.suppressed > 0.0:
            found.append(Finding("suppressed", "values suppressed", self.suppressed))
        if self.propensity is not None:
            found.append(_number("pmse", "propensity scores, pMSE", self.propensity.pmse))
            found.append(
                _number("pmse_ratio", "pMSE ratio (1: drawn from the original)", self.propensity.ratio)
            )
        return tuple(found)

    @property
    def paragraph(self) -> str:
        """Report the changes of values and associations, and whether the files can be separated."""
        if not self.masked:
            return f"nothing was masked: all {len(self.unchanged)} attributes are as they were."
        sentences = [f"{len(self.masked)} of {len(self.masked) + len(self.unchanged)} attributes were masked"]
        if self.numeric.il1s is not None:
            sentences[0] += f"; a masked number is {self.numeric.il1s:.2g} * sqrt(2) standard deviations off"
        if self.numeric.correlation is not None:
            sentences.append(f"Correlations are off by {self.numeric.correlation:.2g} on average")
        if self.categories:
            worst = max(self.categories, key=lambda each: each.total_variation)
            share = percent(worst.total_variation)
            sentences.append(f"Of the frequencies {share} would have to move back in {worst.attribute}")
        if self.propensity is not None:
            ratio = self.propensity.ratio
            than = "less" if ratio <= 1.0 else "more"
            sentences.append(
                f"Propensity scores tell the files apart {than} than a file drawn from the original "
                f"(pMSE ratio {ratio:.2g})"
            )
        return ". ".join(sentences) + "."

    @property
    def notes(self) -> tuple[str, ...]:
        """Note the limits of the numbers."""
        notes = []
        if self.masked and self.unchanged:
            names = ", ".join(self.unchanged)
            notes.append(f"information loss is that of masked attributes; left as they are: {names}")
        if self.numeric.dependent:
            names = ", ".join(self.numeric.dependent)
            notes.append(f"regressions leave out linear combinations of other attributes: {names}")
        if self.propensity is not None and self.propensity.records < self.both:
            notes.append(
                f"the propensity model is that of {self.propensity.records:,} records of both files, by lot"
            )
        if self.propensity is not None and not self.propensity.converged:
            notes.append("the propensity model separates some records of the two files: its pMSE is a limit")
        return tuple(notes)

    def to_frame(self) -> pd.DataFrame:
        """Every number: statistic, attribute, with (the other one of a pair), original, masked, loss."""
        rows = [*self.numeric.rows, *(row for each in self.categories for row in each.rows)]
        if self.propensity is not None:
            model = self.propensity
            rows.append(("pmse", None, None, None, None, model.pmse))
            rows.append(("pmse ratio", None, None, None, None, model.ratio))
            rows.append(("pmse standardised", None, None, None, None, model.standardised))
        columns = ["statistic", "attribute", "with", "original", "masked", "loss"]
        return pd.DataFrame(rows, columns=columns)


class InformationLossMeasure(Measure):
    """Computes IL1s, moments, correlations, eigenvalues, regressions, frequencies, pMSE."""

    name: ClassVar[str] = "information-loss"
    title: ClassVar[str] = "Information loss"
    cost: ClassVar[float] = 0.5
    growth: ClassVar[float] = 3.0

    def lacking(self, task: RiskTask) -> str | None:
        """Require attributes that can be read."""
        return unreadable(task)

    def take(self, task: RiskTask, clock: Clock) -> InformationLoss:
        """Compare the two files."""
        del clock
        return information_loss(released(task))


def information_loss(attributes: Sequence[ReleasedAttribute]) -> InformationLoss:
    """Compute the information loss of some attributes of two files."""
    return InformationLoss(
        int((attributes[0].partner >= 0).sum()),
        len(attributes[0].original) + len(attributes[0].masked),
        tuple(each.name for each in attributes if each.is_masked),
        tuple(each.name for each in attributes if not each.is_masked),
        _suppressed(attributes),
        numeric_loss([each for each in attributes if each.numeric]),
        tuple(_categories(attributes)),
        propensity(attributes),
    )


def _categories(attributes: Sequence[ReleasedAttribute]) -> Iterator[CategoryLoss]:
    """Compare all categorical attributes that differ; all where none does, to show losses of 0."""
    categorical = [each for each in attributes if not each.numeric]
    differing = [each for each in categorical if each.differs]
    return (category_loss(each) for each in differing or categorical)


def _suppressed(attributes: Sequence[ReleasedAttribute]) -> float:
    """Compute the share of known values of masked attributes that were suppressed."""
    known = lacking = 0
    for before, after in (each.paired for each in attributes if each.is_masked):
        known += int((~np.isnan(before)).sum())
        lacking += int((~np.isnan(before) & np.isnan(after)).sum())
    return lacking / known if known else 0.0


def _number(key: str, words: str, value: float) -> Finding:
    return Finding(key, words, value, Unit.NUMBER)
