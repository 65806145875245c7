"""Individual risk after Benedetti and Franconi: the mean of 1/F given f, and its sum in a household.

References
----------
Benedetti, R., Franconi, L. (1998) Statistical and technological solutions for controlled data dissemination.
Franconi, L., Polettini, S. (2004) Individual risk estimation in mu-Argus: a review. PSD 2004, 262-272.
Hundepool, A. et al. (2012) Statistical Disclosure Control, Chapter 3; mu-ARGUS 5.1 user's manual.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.formulations.errors import FormulationError

Groups = NDArray[np.intp]

_FEW, _SMALL = 32.0, 0.25
"""Limits of f and p within which the recurrence in f applies, whose errors shrink by p / q at each step;
elsewhere the series converges in at most some hundred terms."""


def posterior_risk(frequency: FloatArray, population: FloatArray) -> FloatArray:
    r"""Posterior mean of 1/F for each record.

    F, how many in the population have the key of the record, is taken to have the negative binomial
    distribution ``P(F = h | f) = C(h-1, f-1) p^f (1-p)^(h-f)`` for ``h >= f``, with
    ``p = f / sum of weights`` of the f records. Then, with ``q = 1 - p``,

        ``r = E(1/F | f) = (p^f / f) 2F1(f, f; f+1; q) = (p / f) 2F1(1, 1; f+1; q)``

    (the second by Euler's transformation: no power underflows), and in closed form

    - f = 1: ``r = (p / q) log(1/p)``
    - f = 2: ``r = (p / q^2) (p log p + q)``
    - f = 3: ``r = (p / (2 q^3)) (q (3q - 2) - 2 p^2 log p)``

    For larger f mu-ARGUS takes the first terms of the series, and sdcMicro ``p / (f - q)``; here the function
    itself is taken (Franconi and Polettini 2004), by its own recurrence or series: that of
    SciPy is wrong for some f from about 100 on.

    Parameters
    ----------
    frequency : float64 array (n,)
        f, at least 1.
    population : float64 array (n,)
        Sum of the sampling weights of the f records. Where it is below f, p is 1: all are in the sample.

    Returns
    -------
    float64 array (n,)
        Between 0 and 1/f; 1/f where p = 1.
    """
    pairs, back = np.unique(np.column_stack([frequency, population]), axis=0, return_inverse=True)
    f, total = pairs[:, 0], pairs[:, 1]
    p = np.minimum(1.0, f / total)
    few = (f <= _FEW) & (p < _SMALL)
    risk = np.empty_like(p)
    risk[few] = _by_recurrence(f[few], p[few])
    risk[~few] = _by_series(f[~few], p[~few])
    found: FloatArray = np.minimum(risk, 1.0 / f)[back.reshape(-1)]  # beyond 1/f by rounding only
    return found


def _by_recurrence(f: FloatArray, p: FloatArray) -> FloatArray:
    """``r = p I_f`` with ``I_1 = log(1/p) / q`` and ``I_(f+1) = (1/f - p I_f) / q``.

    ``I_f`` is Euler's integral of ``(1-t)^(f-1) / (1-qt)``, where ``q (1-t) = (1-qt) - p``. The closed forms
    are its first steps.
    """
    q = 1.0 - p
    integral = -np.log(p) / q
    for below in range(1, int(f.max(initial=1.0))):
        integral = np.where(f > below, (1.0 / below - p * integral) / q, integral)
    return np.asarray(p * integral, dtype=np.float64)


def _by_series(f: FloatArray, p: FloatArray) -> FloatArray:
    """``p / f (1 + q/(f+1) + 2 q^2/((f+1)(f+2)) + ...)``: all terms are positive, nothing cancels."""
    q = 1.0 - p
    total, term, n = np.ones_like(p), np.ones_like(p), 0
    while (term > 1e-17).any():
        n += 1
        term = term * (q * n / (f + n))
        total += term
    return p / f * total


def household_risk(risk: FloatArray, household: Groups) -> FloatArray:
    """Hierarchical risk: the probability that at least one member of the household is re-identified.

    ``1 - prod(1 - r_i)`` over its members, taken as independent, and the same for all of them: one
    recognised member leads to the others (Hundepool et al. 2012, Chapter 3).

    Parameters
    ----------
    risk : float64 array (n,)
    household : intp array (n,)
        From 0.
    """
    with np.errstate(divide="ignore"):  # who is certain makes the household certain
        kept = np.bincount(household, np.log1p(-risk))
    found: FloatArray = -np.expm1(kept)[household]
    return found


class RiskThreshold(float):
    """Threshold of individual risk, between 0 and 1: combinations above it are unsafe.

    mu-ARGUS suppresses values of records above it (user's manual, section 2.6), sdcMicro does so in
    `localSupp`.
    """

    def __new__(cls, value: float) -> RiskThreshold:
        """Check it."""
        if not 0.0 < value < 1.0:
            raise FormulationError(f"a risk of {value:g} is no threshold; give one between 0 and 1")
        return super().__new__(cls, value)

    def unsafe(self, frequency: FloatArray, population: FloatArray) -> BoolArray:
        """Combinations that are riskier (`posterior_risk`), all arrays (n,)."""
        return np.asarray(posterior_risk(frequency, population) > float(self), dtype=np.bool_)
