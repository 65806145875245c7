"""What a Poisson log-linear model says of sample uniques, and whether it fits where that matters.

``F_k`` of the population is Poisson with mean ``lambda_k``, and each of its units is in the sample with
probability ``pi``, so that ``f_k`` is Poisson with mean ``mu_k = pi lambda_k`` and ``F_k - f_k``, independent
of it, Poisson with mean ``(1 - pi) lambda_k``.

Sources: E. A. H. Elamir and C. J. Skinner, Record level measures of disclosure risk for survey microdata,
Journal of Official Statistics 22 (2006), 525-539; C. J. Skinner and N. Shlomo, Assessing identification risk
in survey microdata using log-linear models, Journal of the American Statistical Association 103 (2008),
989-1001.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.solver.measures.population.loglinear import FittedCells

_SWEEPS = 50
_TERMS = 12
_SMALL = 0.2


def population_unique(unseen: FloatArray) -> FloatArray:
    """``P(F = 1 | f = 1) = exp(-(1 - pi) lambda)``; the argument is ``(1 - pi) lambda``."""
    return np.exp(-unseen)


def correct_match(unseen: FloatArray) -> FloatArray:
    """``E(1 / F | f = 1) = (1 - exp(-x)) / x`` with ``x = (1 - pi) lambda``; 1 for ``x = 0``."""
    return _ratio(unseen)[0]


def _ratio(x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """``g(x) = (1 - exp(-x)) / x`` and its first two derivatives; near 0 by their series."""
    value, first, second = (np.empty_like(x) for _ in range(3))
    near = x < _SMALL
    small = x[near]
    powers = [small**n for n in range(_TERMS)]
    sign = [(-1.0) ** n / math.factorial(n + 1) for n in range(_TERMS + 2)]
    value[near] = sum(sign[n] * powers[n] for n in range(_TERMS))
    first[near] = sum(sign[n + 1] * (n + 1) * powers[n] for n in range(_TERMS))
    second[near] = sum(sign[n + 2] * (n + 2) * (n + 1) * powers[n] for n in range(_TERMS))
    large = x[~near]
    gone = np.exp(-large)
    value[~near] = -np.expm1(-large) / large
    first[~near] = (gone * (1.0 + large) - 1.0) / large**2
    second[~near] = (2.0 - gone * (large**2 + 2.0 * large + 2.0)) / large**3
    return value, first, second


@dataclass(frozen=True)
class ModelRisk:
    """Risk by one model, with the diagnostics of the model."""

    # pairs of keys whose interaction the model has; none in the model of independence
    interactions: tuple[tuple[str, str], ...]
    cells: int | None  # cells with a positive mean; None where only those of the sample were looked at
    tau_1: float  # expected number of sample uniques that are population uniques, in records; higher is worse
    # expected number of right links, if each sample unique is linked to one of its ``F_k`` equals in the
    # population, in records; higher is worse
    tau_2: float
    # estimated bias of the two because the model does not fit, in records: above 0 where the model leaves out
    # interactions and says too much, below 0 where it has too many. None where cells are left out
    b_1: float | None
    b_2: float | None
    z_1: float | None  # the same in standard deviations; beyond 2 the model does not fit
    z_2: float | None
    gap: float  # how far a margin of the fit is from that of the sample at most, in records

    @property
    def words(self) -> str:
        """What to call it."""
        count = len(self.interactions)
        return "independence" if not count else f"{count} interaction{'s' if count > 1 else ''}"

    @property
    def misfit(self) -> float:
        """The larger of the two test statistics; infinite where there is none."""
        return max(math.inf if z is None else abs(z) for z in (self.z_1, self.z_2))


def model_risk(fitted: FittedCells, fraction: float) -> ModelRisk:
    """Risk and diagnostics of a fitted model.

    ``tau_1 = sum over f_k = 1 of exp(-(1 - pi) mu_k / pi)`` and
    ``tau_2 = sum over f_k = 1 of (1 - exp(-x_k)) / x_k`` with ``x_k = (1 - pi) mu_k / pi``.

    `fraction`: the sampling fraction ``pi``, above 0 and at most 1.
    """
    unseen = unseen_mean(fitted.mean, fraction)
    unique = fitted.count == 1.0
    b_1, z_1, b_2, z_2 = _diagnostics(fitted, fraction) if fitted.whole else (None,) * 4
    return ModelRisk(
        fitted.interactions,
        fitted.mean.size if fitted.whole else None,
        float(population_unique(unseen[unique]).sum()),
        float(correct_match(unseen[unique]).sum()),
        b_1,
        b_2,
        z_1,
        z_2,
        fitted.gap,
    )


def unseen_mean(mean: FloatArray, fraction: float) -> FloatArray:
    """``(1 - pi) mu / pi``: how many of the population have the same keys and are not in the sample."""
    return mean * ((1.0 - fraction) / fraction)


def _diagnostics(
    fitted: FittedCells, fraction: float
) -> tuple[float | None, float | None, float | None, float | None]:
    """Both tests."""
    rest = 1.0 - fraction
    unseen = unseen_mean(fitted.mean, fraction)
    unique = population_unique(unseen)
    _, first, second = _ratio(unseen)
    return (
        *bias(fitted, fraction, -rest * unique, rest**2 * unique),
        *bias(fitted, fraction, rest * first, rest**2 * second),
    )


def bias(
    fitted: FittedCells, fraction: float, slope: FloatArray, curvature: FloatArray
) -> tuple[float, float | None]:
    """The bias of ``sum over f_k = 1 of h(lambda_k)`` under a wrong model, and its test.

    ``B = sum over k of lambda exp(-mu) { -h'(lambda) (f - mu) + h''(lambda) ((f - mu)^2 - f) / (2 pi) }``,
    near 0 where the model fits (Skinner and Shlomo 2008). Its variance is that for Poisson counts, whose
    first part is ``sum mu c^2`` for coefficients ``c`` of ``f - mu``: less what the fitted margins take away
    from it, as ``sum x_k (f_k - mu_k) = 0`` for every term x of the model. ``f - mu`` and ``(f - mu)^2 - f``
    are not correlated; the latter has variance ``2 mu^2``.

    `slope` and `curvature` (cells,): ``h'`` and ``h''`` at the fitted means. ``B / sqrt(v)``; None where
    nothing can vary.
    """
    mean, count = fitted.mean, fitted.count
    often = mean / fraction * np.exp(-mean)
    linear, square = -often * slope, often * curvature / (2.0 * fraction)
    value = float((linear * (count - mean) + square * ((count - mean) ** 2 - count)).sum())
    left = _beyond_margins(linear, mean, fitted.groups)
    variance = float((mean * left**2 + 2.0 * (mean * square) ** 2).sum())
    return value, value / math.sqrt(variance) if variance > 0.0 else None


def _beyond_margins(coefficient: FloatArray, mean: FloatArray, groups: tuple[IndexArray, ...]) -> FloatArray:
    """What the terms of the model leave of a coefficient, in least squares weighted by the means.

    Margin after margin its weighted means are taken away; each step makes the sum of squares smaller, so
    that stopping early only makes the variance too large.
    """
    left = coefficient.copy()
    sums = [np.bincount(group, weights=mean) for group in groups]
    before = math.inf
    for _ in range(_SWEEPS):
        for group, total in zip(groups, sums, strict=True):
            part = np.bincount(group, weights=mean * left)
            left -= np.divide(part, total, out=np.zeros_like(part), where=total > 0.0)[group]
        now = float((mean * left**2).sum())
        if now >= 0.999 * before:
            break
        before = now
    return left
