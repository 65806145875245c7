r"""Compute exact upper confidence limits of a file from a random sample of it.

Of the n records of a file some W have a property: here, the parameters that link most records of the file
link them. These parameters do not depend on which m records are drawn, and in the sample at most u records
are linked by any parameters, so at most u by these. The limit is the largest W that this does not contradict
at a level :math:`\alpha`. Whatever W is, the limit is below it with probability :math:`\alpha` at most: it
is only where the sample has at most as many of the W as contradict W, and it is monotone in u.

**Every sample equally likely.** The number X in the sample is hypergeometric (W. G. Cochran, Sampling
Techniques, 3rd ed. 1977, section 3.6), and W is contradicted where

.. math:: P_W(X \le u) = \sum_{k \le u} \binom{W}{k} \binom{n-W}{m-k} / \binom{n}{m} < \alpha.

**Drawn by stratum**, from each at least a share f of its records. X is a sum of independent hypergeometric
numbers, each of which is a sum of independent trials (V. A. Vatutin and V. G. Mikhailov, Theory Probab. Appl.
27, 1982), m in all, and its mean is at least fW, however the W are spread over the strata. So
:math:`P(X \le u)` is at most that of a binomial number of m trials with mean fW, if :math:`u \le fW - 1`
(W. Hoeffding, Ann. Math. Statist. 27, 1956, theorem 5); if not, what follows is used.

**Values between 0 and 1** instead of 0 or 1, of which W is the sum and u that of the sample. For every t
above u, :math:`P(X \le u) \le E (t - X)_+ / (t - u)`. Among all files of values with a sum of at least W, the
expectation is largest where the values are 0 or 1, as it is convex in them: then X is as above. Drawn by
stratum it is at most that of the binomial number (Hoeffding, theorem 3, and Ann. Math. Statist. 34, 1963,
theorem 4). W is contradicted where this is below :math:`\alpha` for some t.

Comparisons are of logarithms of binomial coefficients, which are known up to a bound of their rounding
(`Chances`), where these decide; else of integers. Of a hundred thousand records these have a million digits:
what logarithms cannot decide is not contradicted, then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, comb, floor
from typing import Any

import numpy as np

from linkrisk.arrays import FloatArray

_MOST_EXACT = 20_000
"""Records of a sample whose chances in integers take a moment."""


@dataclass(frozen=True)
class Design:
    """How the records of a sample were drawn."""

    records: int  # records of the file, n >= 1
    sample: int  # records drawn, m, from 0 to n
    # drawn by stratum: at least this share f of each, above 0 and at most m / n. None where every sample of
    # this size was equally likely
    share: Fraction | None = None

    def chances(self, having: int) -> Chances:
        """Compute the probabilities in floating point, with a bound of the error."""
        if self.share is None:
            return hypergeometric(self.records, self.sample, having)
        return binomial(self.sample, self._mean(having))

    def _mean(self, having: int) -> Fraction:
        """Mean of the share of the sample with the property, at least."""
        assert self.share is not None
        return self.share * having / self.sample if self.sample else Fraction(0)

    def terms(self, having: int) -> tuple[Iterator[tuple[int, int]], int]:
        """How likely each number in the sample is, from the smallest up, and the sum of all."""
        if self.share is None:
            return _hypergeometric(self.records, self.sample, having), comb(self.records, self.sample)
        mean = self._mean(having)
        return _binomial(self.sample, mean), mean.denominator**self.sample


def upper_limit(design: Design, found: int, alpha: Fraction) -> int:
    """The largest number of records with a property that a sample does not contradict.

    At most `found` (u) of the sample have it; `alpha` is one minus the confidence.
    """
    return _first(design, found, lambda having: _count_contradicts(design, found, having, alpha)) - 1


def upper_limit_of_sum(design: Design, found: Fraction, alpha: Fraction) -> int:
    """Upper limit of a sum of values between 0 and 1 over the file, from its sum u over the sample.

    Not one less, as with `upper_limit`: a sum need not be an integer.
    """
    above = _first(design, found, lambda having: _sum_contradicts(design, found, having, alpha))
    return min(above, design.records)


def _first(design: Design, found: Fraction | int, contradicts: Callable[[int], bool]) -> int:
    """The smallest number that is contradicted: by chance, or by what the sample lacks."""
    low, high = ceil(found), floor(design.records - design.sample + found) + 1
    while low < high:
        middle = (low + high) // 2
        if contradicts(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _count_contradicts(design: Design, found: int, having: int, alpha: Fraction) -> bool:
    """Whether at most `found` in the sample is surely too unlikely where `having` have the property."""
    if design.share is not None and found > design.share * having - 1:
        return _sum_contradicts(design, Fraction(found), having, alpha)
    decided = design.chances(having).few(found, alpha)
    if decided is not None or design.sample > _MOST_EXACT:
        return bool(decided)
    terms, total = design.terms(having)
    allowed, below = alpha * total, 0
    for number, ways in terms:
        if number > found:
            break
        below += ways
        if below >= allowed:
            return False
    return True


def _sum_contradicts(design: Design, found: Fraction, having: int, alpha: Fraction) -> bool:
    """Whether a sum of at most `found` in the sample is surely too unlikely where the file has `having`."""
    decided = design.chances(having).small(found, alpha)
    if decided is not None or design.sample > _MOST_EXACT:
        return bool(decided)
    terms, total = design.terms(having)
    allowed = alpha * total
    # E (t - X)_+ is the sum of P(X <= j) over j < t.
    below, expected = 0, 0
    at = 0
    for number, ways in terms:
        for t in range(at + 1, number + 1):  # up to the next number that occurs
            expected += below
            if t > found and expected < allowed * (t - found):
                return True
        at = number
        below += ways
    expected += below
    return at + 1 > found and expected < allowed * (at + 1 - found)


def _hypergeometric(records: int, sample: int, having: int) -> Iterator[tuple[int, int]]:
    """Samples with k of the records that have the property, for every k from the smallest on."""
    first, last = max(0, sample - (records - having)), min(having, sample)
    ways = comb(having, first) * comb(records - having, sample - first)
    for k in range(first, last + 1):
        yield k, ways
        # C(W, k+1) C(n-W, m-k-1) from C(W, k) C(n-W, m-k)
        ways = ways * (having - k) * (sample - k) // ((k + 1) * (records - having - sample + k + 1))


def _binomial(trials: int, chance: Fraction) -> Iterator[tuple[int, int]]:
    """Weights of k successes, for every k from the smallest on."""
    p, q = chance.numerator, chance.denominator - chance.numerator
    if q == 0:
        yield trials, p**trials
        return
    ways = q**trials
    for k in range(trials + 1):
        yield k, ways
        ways = ways * (trials - k) * p // ((k + 1) * q)


_ROUNDED = 1e-13
"""Error of a sum of ten logarithms of factorials beside the largest of them: hundreds of roundings."""

_ADDED = 1e-7
"""And of the logarithm of a sum of some million terms."""


@dataclass(frozen=True, eq=False)
class Chances:
    """Log-probabilities of the numbers of records in the sample, with a bound of their error."""

    first: int  # the smallest number that there can be
    # (numbers,): logarithm of the probability of `first`, the next number, and so on, up to the largest
    log: FloatArray
    error: float  # no sum of these probabilities has a logarithm that is farther from the truth

    def few(self, found: int, alpha: Fraction) -> bool | None:
        """Whether at most `found` is less likely than `alpha`; None where rounding hides that."""
        if found < self.first:
            return True
        known = float(np.logaddexp.reduce(self.log[: found - self.first + 1]))
        return _below(known - _log(alpha), self.error)

    def small(self, found: Fraction, alpha: Fraction) -> bool | None:
        r"""Whether :math:`E (t - X)_+ < \alpha (t - u)` for some t above u; None where rounding hides it."""
        expected = np.logaddexp.accumulate(np.logaddexp.accumulate(self.log))
        t = self.first + 1.0 + np.arange(self.log.size)
        above = t > float(found) * (1.0 + 1e-12)
        if not above.any():
            return None
        gap = expected[above] - np.log(t[above] - float(found)) - _log(alpha)
        return _below(float(gap.min()), 2.0 * self.error)


def hypergeometric(records: int, sample: int, having: int) -> Chances:
    """Number in the sample of the `having` records of the file, every sample being equally likely."""
    first, last = max(0, sample - (records - having)), min(having, sample)
    k = np.arange(first, last + 1, dtype=np.float64)
    log = (
        _choose(having, k) + _choose(records - having, sample - k) - _choose(records, np.array(float(sample)))
    )
    return Chances(first, np.asarray(log), _ADDED + _ROUNDED * float(_log_gamma(records + 2.0)))


def binomial(trials: int, chance: Fraction) -> Chances:
    """Number of successes of so many trials."""
    if chance in (0, 1):
        return Chances(trials if chance else 0, np.zeros(1), 0.0)
    k = np.arange(trials + 1, dtype=np.float64)
    logs = _log(chance), _log(1 - chance)
    log = _choose(trials, k) + k * logs[0] + (trials - k) * logs[1]
    largest = float(_log_gamma(trials + 2.0)) + trials * max(1.0, -min(logs))
    return Chances(0, np.asarray(log), _ADDED + _ROUNDED * largest)


def _log_gamma(values: Any) -> Any:
    """Logarithm of the gamma function; only samples need what computes it."""
    from scipy.special import gammaln

    return gammaln(values)


def _choose(among: int, k: FloatArray) -> FloatArray:
    """Logarithms of binomial coefficients."""
    return np.asarray(_log_gamma(among + 1.0) - _log_gamma(k + 1.0) - _log_gamma(among - k + 1.0))


def _log(alpha: Fraction) -> float:
    return math.log(alpha.numerator) - math.log(alpha.denominator)  # integers of any length


def _below(difference: float, error: float) -> bool | None:
    """Whether a difference that is known up to an error is below zero."""
    return None if abs(difference) <= error else difference < 0.0
