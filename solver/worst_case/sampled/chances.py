r"""Chances of a sample in floating point, with bounds of its error: most limits need no more.

Whole numbers of a hundred thousand records have a million digits. Logarithms of the same binomial
coefficients are known to within some rounding, so that a chance is surely below a level, or surely not,
except where it is level to within that rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.special import gammaln

from linkrisk.arrays import FloatArray

_ROUNDED = 1e-13
"""Error of a sum of ten logarithms of factorials beside the largest of them: hundreds of roundings."""

_ADDED = 1e-7
"""And of the logarithm of a sum of some million terms."""


@dataclass(frozen=True, eq=False)
class Chances:
    """How likely each number in the sample is.

    Attributes
    ----------
    first : int
        The smallest number that there can be.
    log : ndarray of float64, shape (numbers,)
        Logarithm of the probability of `first`, the next number, and so on, up to the largest.
    error : float
        No sum of these probabilities has a logarithm that is farther from the truth.
    """

    first: int
    log: FloatArray
    error: float

    def few(self, found: int, alpha: Fraction) -> bool | None:
        """Whether at most `found` is less likely than `alpha`; None where that cannot be told."""
        if found < self.first:
            return True
        known = float(np.logaddexp.reduce(self.log[: found - self.first + 1]))
        return _below(known - _log(alpha), self.error)

    def small(self, found: Fraction, alpha: Fraction) -> bool | None:
        r"""Whether :math:`E (t - X)_+ < \alpha (t - u)` for some whole t above u; None where unknown."""
        expected = np.logaddexp.accumulate(np.logaddexp.accumulate(self.log))
        t = self.first + 1.0 + np.arange(self.log.size)
        above = t > float(found) * (1.0 + 1e-12)
        if not above.any():
            return None
        gap = expected[above] - np.log(t[above] - float(found)) - _log(alpha)
        return _below(float(gap.min()), 2.0 * self.error)


def hypergeometric(records: int, sample: int, having: int) -> Chances:
    """How many of the sample are among the `having` of the file, every sample being equally likely."""
    first, last = max(0, sample - (records - having)), min(having, sample)
    k = np.arange(first, last + 1, dtype=np.float64)
    log = (
        _choose(having, k) + _choose(records - having, sample - k) - _choose(records, np.array(float(sample)))
    )
    return Chances(first, np.asarray(log), _ADDED + _ROUNDED * float(gammaln(records + 2.0)))


def binomial(trials: int, chance: Fraction) -> Chances:
    """How many of so many trials succeed."""
    if chance in (0, 1):
        return Chances(trials if chance else 0, np.zeros(1), 0.0)
    k = np.arange(trials + 1, dtype=np.float64)
    logs = _log(chance), _log(1 - chance)
    log = _choose(trials, k) + k * logs[0] + (trials - k) * logs[1]
    largest = float(gammaln(trials + 2.0)) + trials * max(1.0, -min(logs))
    return Chances(0, np.asarray(log), _ADDED + _ROUNDED * largest)


def _choose(among: int, k: FloatArray) -> FloatArray:
    """Logarithms of binomial coefficients."""
    return np.asarray(gammaln(among + 1.0) - gammaln(k + 1.0) - gammaln(among - k + 1.0))


def _log(alpha: Fraction) -> float:
    return math.log(alpha.numerator) - math.log(alpha.denominator)  # whole numbers of any length


def _below(difference: float, error: float) -> bool | None:
    """Whether a difference that is known up to an error is below zero."""
    return None if abs(difference) <= error else difference < 0.0
