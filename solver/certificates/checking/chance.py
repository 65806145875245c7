"""What a sample rules out: whether so few in it are too unlikely if so many are linked in the whole file.

docs/samples.md has the proofs. All in whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import comb


def ruled_out(
    records: int,
    sample: int,
    share: Fraction | None,
    found: Fraction,
    having: int,
    alpha: Fraction,
    *,
    counts: bool,
) -> bool:
    """Whether `having` of the file, or more, are ruled out by a bound of `found` on the sample.

    Parameters
    ----------
    records, sample : int
        How many there are, and how many were drawn.
    share : Fraction or None
        Drawn by stratum: at least this share of each.
    found : Fraction
        No parameters link more of the sample: a whole number of records, or a sum of values between 0 and 1.
    having : int
        Linked in the file, or the sum of such values.
    alpha : Fraction
        Less likely is too unlikely.
    counts : bool
        Whether records are counted, each as 0 or 1.
    """
    if having > records - sample + found:  # what the sample lacks is missing in the file
        return True
    number = _Number(records, sample, share, having)
    allowed = alpha * number.total
    by_number = counts and (share is None or found <= share * having - 1)
    # E (t - X)_+ is the sum of P(X <= k) over k < t; every whole t above the bound will do.
    below = expected = 0
    for k, ways in enumerate(number.ways()):
        below += ways
        expected += below
        if by_number and k == found and below < allowed:
            return True
        if not (counts and share is None) and k + 1 > found and expected < allowed * (k + 1 - found):
            return True
        if k > found and below >= allowed:
            break  # from here on both only grow
    return False


class _Number:
    """The number in the sample, up to a common factor of its probabilities."""

    def __init__(self, records: int, sample: int, share: Fraction | None, having: int) -> None:
        self._n, self._m, self._w = records, sample, having
        self._mean = None if share is None else share * having / sample
        self.total = comb(records, sample) if self._mean is None else self._mean.denominator**sample

    def ways(self) -> Iterator[int]:
        """How likely each number from 0 to the size of the sample is."""
        if self._mean is not None:
            yield from self._binomial(self._mean)
            return
        n, m, w = self._n, self._m, self._w
        first, last = max(0, m - (n - w)), min(w, m)
        ways = comb(w, first) * comb(n - w, m - first)
        for k in range(m + 1):
            if k > first:
                ways = ways * (w - k + 1) * (m - k + 1) // (k * (n - w - m + k)) if k <= last else 0
            yield ways if k >= first else 0

    def _binomial(self, mean: Fraction) -> Iterator[int]:
        m, p, q = self._m, mean.numerator, mean.denominator - mean.numerator
        ways = q**m
        for k in range(m + 1):
            if k:
                ways = (ways * (m - k + 1) * p // (k * q)) if q else int(k == m)
            yield ways
