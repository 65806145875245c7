"""Information loss of numeric attributes: values, moments, relations between attributes, regressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray
from linkrisk.solver.measures.values.category_frequencies import Row
from linkrisk.solver.measures.values.moments import (
    Triangle,
    correlations,
    covariances,
    eigenvalue_difference,
    il1s,
    regression,
    spread,
)
from linkrisk.solver.measures.values.released import ReleasedAttribute

_ROUNDING = 1e-12
"""A standardised loss below this is what rounding makes of none, as of means that masking preserves."""


@dataclass(frozen=True)
class NumericLoss:
    """What numeric attributes have lost: 0 where nothing was masked, None where it cannot be measured.

    All is measured in standard deviations ``s_j`` of the original attributes, so that no unit matters; an
    attribute that is constant in the original file is left out.
    """

    # mean of ``|x - x'| / (sqrt(2) s_j)`` over the values of masked attributes; from 0, without an end
    il1s: float | None
    mean: float | None  # mean of ``|m'_j - m_j| / s_j`` over masked attributes, with means m
    variance: float | None  # mean of ``|v'_j / v_j - 1|`` over masked attributes, with variances v
    covariance: float | None  # mean of ``|c'_jk - c_jk| / (s_j s_k)`` over pairs with a masked attribute
    correlation: float | None  # mean of ``|r'_jk - r_jk|`` over these pairs; from 0 to 2
    # ``sum_j |l_j - l'_j| / l_j`` of the correlation matrices of all numeric attributes
    eigenvalues: float | None
    # mean of ``|b' - b|`` over the standardised coefficients of the regressions of every attribute on all
    # others, but for those that are `dependent`
    regression: float | None
    overlap_lost: float | None  # 1 minus the mean overlap of their 95 % confidence intervals; from 0 to 1
    # attributes that are linear combinations of those before them in the original file: coefficients would be
    # arbitrary
    dependent: tuple[str, ...]
    rows: tuple[Row, ...]  # all that these are means of: statistic, attribute, with, original, masked, loss

    @property
    def means(self) -> tuple[tuple[str, str, float | None], ...]:
        """Key, words and value of each number."""
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
    looked_at = differs if differs.any() else ~differs
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
        *_moments(original, masked, names, looked_at),
        *_pairs(first, second, names, looked_at),
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
    """Mean loss of a statistic; None where there is none."""
    losses = [row[-1] for row in rows if row[0] == statistic and not np.isnan(row[-1])]
    if not losses:
        return None
    mean = float(np.mean(losses))
    return mean if mean > _ROUNDING else 0.0


def _values(attributes: Sequence[ReleasedAttribute], scale: FloatArray) -> list[Row]:
    """IL1s of every masked attribute; of all where none is masked."""
    masked = [each.is_masked for each in attributes]
    rows: list[Row] = []
    for each, deviation, changed in zip(attributes, scale, masked, strict=True):
        losses = il1s(*each.paired, deviation)
        if (changed or not any(masked)) and not np.isnan(losses).all():
            rows.append(("IL1s", each.name, None, None, None, float(np.nanmean(losses))))
    return rows


def _moments(
    original: FloatArray, masked: FloatArray, names: Sequence[str], looked_at: NDArray[np.bool_]
) -> list[Row]:
    """Means and variances of each attribute, in its units."""
    rows: list[Row] = []
    for at in np.flatnonzero(looked_at).tolist():
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
    first: FloatArray, second: FloatArray, names: Sequence[str], looked_at: NDArray[np.bool_]
) -> list[Row]:
    """Covariances (of standardised attributes) and correlations of every pair that can have changed."""
    rows: list[Row] = []
    for statistic, matrix in (("covariance", covariances), ("correlation", correlations)):
        before, after = matrix(first), matrix(second)
        for j, k in combinations(range(len(names)), 2):
            if looked_at[j] or looked_at[k]:
                loss = float(abs(after[j, k] - before[j, k]))
                rows.append((statistic, names[j], names[k], float(before[j, k]), float(after[j, k]), loss))
    return rows


def _regressions(first: Triangle, second: Triangle, names: Sequence[str]) -> list[Row]:
    """Standardised coefficients of every attribute's regression on all others, and their intervals."""
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
