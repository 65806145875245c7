"""Logistic regression on one variable, by maximum likelihood without any penalty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, xlog1py, xlogy
from scipy.stats import chi2

from linkrisk.arrays import BoolArray, FloatArray

_STEPS = 100
_HALVINGS = 60


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """``logit(p) = a + b W``."""

    intercept: float  # ``a`` and ``b``
    slope: float
    covariance: FloatArray  # (2, 2): of ``a`` and ``b``: the inverse of the information
    log_likelihood: float  # of the fit, and of the best one with ``b = 0``
    constant_log_likelihood: float

    @property
    def p_value(self) -> float:
        """Of ``b = 0``, by the likelihood ratio."""
        ratio = max(0.0, 2.0 * (self.log_likelihood - self.constant_log_likelihood))
        return float(chi2.sf(ratio, 1))


def separated(weight: FloatArray, right: BoolArray) -> bool:
    """Whether a threshold tells all right from all wrong ones, or there is only one kind: no finite fit."""
    if right.all() or not right.any():
        return True
    yes, no = weight[right], weight[~right]
    return bool(yes.min() >= no.max() or yes.max() <= no.min())


def fit_logistic(weight: FloatArray, right: BoolArray) -> LogisticFit | None:
    """Fit by Newton's method with halved steps.

    `weight` (n,): finite. `right` (n,). None where maximum likelihood has no finite solution (`separated`).
    """
    if separated(weight, right):
        return None
    centre, spread = float(weight.mean()), float(weight.std())
    x, y = (weight - centre) / spread, right.astype(np.float64)
    share = float(y.mean())
    beta = np.array([np.log(share / (1.0 - share)), 0.0])
    constant = now = _log_likelihood(beta, x, y)
    for _ in range(_STEPS):
        p = expit(beta[0] + beta[1] * x)
        gradient = np.array([(y - p).sum(), ((y - p) * x).sum()])
        step = np.linalg.solve(_information(p, x), gradient)
        beta, now = _climb(beta, step, now, x, y)
        if float(np.abs(step).max()) <= 1e-12 * (1.0 + float(np.abs(beta).max())):
            break
    back = np.array([[1.0, -centre / spread], [0.0, 1.0 / spread]])  # to the units of W
    covariance = back @ np.linalg.inv(_information(expit(beta[0] + beta[1] * x), x)) @ back.T
    intercept, slope = (float(each) for each in back @ beta)
    return LogisticFit(intercept, slope, covariance, now, constant)


def _climb(
    beta: FloatArray, step: FloatArray, now: float, x: FloatArray, y: FloatArray
) -> tuple[FloatArray, float]:
    """As much of a Newton step as does not lose likelihood."""
    for _ in range(_HALVINGS):
        value = _log_likelihood(beta + step, x, y)
        if value >= now:
            return beta + step, value
        step = step / 2.0
    return beta, now


def _log_likelihood(beta: FloatArray, x: FloatArray, y: FloatArray) -> float:
    p = expit(beta[0] + beta[1] * x)
    return float((xlogy(y, p) + xlog1py(1.0 - y, -p)).sum())


def _information(p: FloatArray, x: FloatArray) -> FloatArray:
    w = p * (1.0 - p)
    return np.array([[w.sum(), (w * x).sum()], [(w * x).sum(), (w * x * x).sum()]])
