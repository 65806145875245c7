"""Means and deviations: the doubles of the certificate, checked against the exact moments of the files."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from solver.verification.dyadic import shift_of, whole_numbers
from solver.verification.fields import Fields, reals
from solver.verification.rejection import demand

FloatArray = NDArray[np.float64]

CLOSE = Fraction(1, 10**12)
"""Largest relative distance of a recorded moment from the exact one."""


def standardised(
    original: FloatArray, masked: FloatArray, how: str, moments: Fields
) -> tuple[FloatArray, FloatArray]:
    """Both files in units of standard deviations, by the moments of the certificate.

    Parameters
    ----------
    original : ndarray of float64, shape (n, attributes)
    masked : ndarray of float64, shape (m, attributes)
    how : str
        Whose moments: ``own``, ``original``, ``pooled`` or ``none``.
    moments : Fields
        ``original`` and ``masked``, each with a ``mean`` and a ``deviation`` per attribute; empty for none.

    Returns
    -------
    tuple of ndarray
        ``(x - mean) / deviation`` in double precision: the data that all claims are about.

    Raises
    ------
    RejectedError
        If a recorded moment is not that of the files, up to `CLOSE`.
    """
    if how == "none":
        return original, masked
    both = np.vstack([original, masked])
    sources = {"own": (original, masked), "original": (original, original), "pooled": (both, both)}[how]
    results = []
    for name, values, source in zip(("original", "masked"), (original, masked), sources, strict=True):
        recorded = moments.inner(name)
        mean = reals(recorded.value("mean"), f"{recorded.where}, mean", values.shape[1])
        deviation = reals(recorded.value("deviation"), f"{recorded.where}, deviation", values.shape[1])
        for k in range(values.shape[1]):
            _check(source[:, k].tolist(), mean[k], deviation[k], f"{recorded.where}, attribute {k + 1}")
        results.append((values - np.array(mean)) / np.array(deviation))
    return results[0], results[1]


def _check(column: Sequence[float], mean: float, deviation: float, where: str) -> None:
    """Compare recorded moments with the exact ones of a column of at least two numbers."""
    shift = shift_of(column)
    numbers = whole_numbers(column, shift)
    count, total = len(numbers), sum(numbers)
    # The sum of squared deviations is (count * sum of squares - square of the sum) / count.
    spread = count * sum(number * number for number in numbers) - total * total
    demand(spread > 0, f"{where}: the attribute is constant")
    variance = Fraction(spread, count * (count - 1) * 4**shift)
    exact = Fraction(total, count * 2**shift)
    width = Fraction(deviation)
    low, high = (1 - CLOSE) ** 2 * variance, (1 + CLOSE) ** 2 * variance
    demand(width > 0 and low <= width * width <= high, f"{where}: the deviation is not that of the file")
    demand(
        abs(Fraction(mean) - exact) <= CLOSE * (abs(exact) + width),
        f"{where}: the mean is not that of the file",
    )
