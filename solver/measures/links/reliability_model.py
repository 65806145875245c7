"""The reliability of a link as a function of its weight, and how to check that it fits.

Source: J. Bernier, Quantitative evaluation of the linkage operations of the 1996 Census Reverse Record Check,
Record Linkage Techniques 1997 (paper 002), whose symbols are used: the weight W, ``logit(p) = a + b W``, LOW
and UPP.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit, logit
from scipy.stats import beta, chi2, norm

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.solver.measures.links.logistic import LogisticFit, fit_logistic

CONFIDENCE = 0.95

_GROUPS = 10
_LINKS = 10
"""Links in a group at least."""

_EXPECTED = 2.0
"""Right and wrong links that a group should have for the chi-square distribution to hold."""


@dataclass(frozen=True)
class Estimate:
    """A number with the ends of its 95 % confidence interval."""

    value: float
    low: float | None = None  # none where the interval has no such end
    high: float | None = None


@dataclass(frozen=True)
class ReliabilityLine:
    """``logit(p) = a + b W``: the reliability p of a link of weight W."""

    intercept: float  # ``a`` and ``b``
    slope: float

    def at(self, weight: float) -> float:
        """The reliability of a link of this weight, from 0 to 1."""
        return float(expit(self.intercept + self.slope * weight))

    def weight_at(self, reliability: float) -> float:
        """The weight at which links have this reliability: ``(logit(p) - a) / b``."""
        return float((logit(reliability) - self.intercept) / self.slope)


def reliability_at(fit: LogisticFit, weight: float) -> Estimate:
    """The reliability at a weight; the interval is that of ``a + b W``, by the covariance of a and b."""
    middle = fit.intercept + fit.slope * weight
    direction = np.array([1.0, weight])
    half = _normal() * math.sqrt(float(direction @ fit.covariance @ direction))
    return Estimate(float(expit(middle)), float(expit(middle - half)), float(expit(middle + half)))


def weight_at(fit: LogisticFit, reliability: float) -> Estimate:
    """The weight at which links have a reliability; its interval by the delta method."""
    value = ReliabilityLine(fit.intercept, fit.slope).weight_at(reliability)
    direction = np.array([-1.0, -value]) / fit.slope
    half = _normal() * math.sqrt(float(direction @ fit.covariance @ direction))
    return Estimate(value, value - half, value + half)


def _normal() -> float:
    return float(norm.ppf((1.0 + CONFIDENCE) / 2.0))


def proportion(right: int, links: int) -> Estimate:
    """The share of right links, and its one-sided 95 % bound from below (Clopper and Pearson)."""
    low = 0.0 if right == 0 else float(beta.ppf(1.0 - CONFIDENCE, right, links - right + 1))
    return Estimate(right / links, low, None)


@dataclass(frozen=True, eq=False)
class GroupedFit:
    """The model beside links grouped by weight."""

    # one row per interval of weights: low, high, midpoint, links, right, share, fitted (mean of the model)
    groups: pd.DataFrame
    # the same regression when each link has the midpoint of its group as weight; near the model where the
    # logit is linear in W. None where it has no finite solution
    line: ReliabilityLine | None
    # ``sum (O - E)^2 / (E (1 - E / n))`` over groups that are joined until some right and some wrong links
    # are expected in each (Hosmer and Lemeshow)
    statistic: float | None
    # of the model: chi-square, two degrees of freedom fewer than groups; None with fewer than 3 groups
    p_value: float | None


def grouped_fit(fit: LogisticFit | None, weight: FloatArray, right: BoolArray) -> GroupedFit:
    """Group links into at most ten intervals of weights with about as many links, and compare.

    `fit`: the model; None where there is none. `weight` (links,). `right` (links,).
    """
    edges = _edges(weight)
    size = edges.size - 1
    group: IndexArray = np.clip(np.searchsorted(edges, weight, side="right") - 1, 0, size - 1)
    links = np.bincount(group, minlength=size)
    observed = np.asarray(np.bincount(group, weights=right, minlength=size), dtype=np.float64)
    fitted = np.full(weight.size, np.nan) if fit is None else expit(fit.intercept + fit.slope * weight)
    expected = np.asarray(np.bincount(group, weights=fitted, minlength=size), dtype=np.float64)
    midpoint = (edges[1:] + edges[:-1]) / 2.0
    table = pd.DataFrame(
        {
            "low": edges[:-1],
            "high": edges[1:],
            "midpoint": midpoint,
            "links": links,
            "right": observed.astype(np.intp),
            "share": observed / links,
            "fitted": expected / links,
        }
    )
    by_midpoint = fit_logistic(midpoint[group], right)
    line = None if by_midpoint is None else ReliabilityLine(by_midpoint.intercept, by_midpoint.slope)
    statistic = p_value = None
    if fit is not None:
        statistic, p_value = _chi_square(links, observed, expected)
    return GroupedFit(table, line, statistic, p_value)


def _edges(weight: FloatArray) -> FloatArray:
    """Ends of intervals, at quantiles; every interval has some link."""
    many = max(1, min(_GROUPS, weight.size // _LINKS))
    edges = np.unique(np.quantile(weight, np.linspace(0.0, 1.0, many + 1), method="higher"))
    return edges if edges.size > 1 else np.repeat(edges, 2)


def _chi_square(
    links: IndexArray, observed: FloatArray, expected: FloatArray
) -> tuple[float | None, float | None]:
    """The test, on groups joined from the lowest weight on."""
    joined: list[list[float]] = [[0.0, 0.0, 0.0]]
    for row in zip(links.tolist(), observed.tolist(), expected.tolist(), strict=True):
        joined[-1] = [a + b for a, b in zip(joined[-1], row, strict=True)]
        if _enough(joined[-1]):
            joined.append([0.0, 0.0, 0.0])
    rest = joined.pop()
    if joined:
        joined[-1] = [a + b for a, b in zip(joined[-1], rest, strict=True)]
    if len(joined) < 3:
        return None, None
    n, o, e = np.array(joined).T
    statistic = float(((o - e) ** 2 / (e * (1.0 - e / n))).sum())
    return statistic, float(chi2.sf(statistic, len(joined) - 2))


def _enough(group: list[float]) -> bool:
    links, _, expected = group
    return expected >= _EXPECTED and links - expected >= _EXPECTED
