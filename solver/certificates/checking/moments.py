"""Means and deviations of the two files, correctly rounded: nothing about the data is taken on trust."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.solver.certificates.checking.dyadic import shift_of, whole_numbers
from linkrisk.solver.certificates.core.claims import demand


def standardised(
    original: FloatArray, masked: FloatArray, how: str
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Both files in units of standard deviations.

    Parameters
    ----------
    original : ndarray of float64, shape (n, attributes)
        NaN where a value is missing.
    masked : ndarray of float64, shape (m, attributes)
    how : str
        Whose moments: ``own``, ``original``, ``pooled`` or ``none``.

    Returns
    -------
    tuple of ndarray
        ``(x - mean) / deviation`` in double precision: the data that all claims are about. And for each
        attribute ``|mean| / deviation``, of both files added.

    Raises
    ------
    RejectedError
        If an attribute is constant, or its deviation is not among doubles.
    """
    if how == "none":
        return original, masked, np.zeros(original.shape[1])
    both = np.vstack([original, masked])
    sources = {"own": (original, masked), "original": (original, original), "pooled": (both, both)}[how]
    results, offset = [], np.zeros(original.shape[1])
    for name, values, source in zip(("original", "masked"), (original, masked), sources, strict=True):
        known = [column[~np.isnan(column)].tolist() for column in source.T]
        for k, column in enumerate(known):
            demand(len(column) > 1, f"{name} file, numeric attribute {k + 1} has fewer than two values")
        columns = [moments(column) for column in known]
        for k, (_, deviation) in enumerate(columns):
            demand(
                0.0 < deviation < math.inf, f"{name} file, numeric attribute {k + 1} cannot be standardised"
            )
        mean, width = np.array(columns, dtype=np.float64).reshape(-1, 2).T
        results.append((values - mean) / width)
        offset = offset + np.abs(mean) / width
    return results[0], results[1], offset


def moments(column: Sequence[float]) -> tuple[float, float]:
    """The doubles nearest to the mean and to the sample deviation of at least two numbers."""
    shift = shift_of(column)
    numbers = whole_numbers(column, shift)
    count, total = len(numbers), sum(numbers)
    # The sum of squared deviations is (count * sum of squares - square of the sum) / count.
    spread = count * sum(number * number for number in numbers) - total * total
    mean = total / (count << shift)
    return mean, nearest_root(Fraction(spread, (count * (count - 1)) << (2 * shift)))


def nearest_root(square: Fraction) -> float:
    """The double nearest to the root of `square`; inf where that is the largest one or beyond.

    A root in double precision is the nearest one or next to it. The root lies beyond the middle between two
    doubles when `square` is beyond the square of that middle.
    """
    if square == 0:
        return 0.0
    half = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    try:
        near = math.ldexp(math.sqrt(square / Fraction(4) ** half), half)
        below, above = math.nextafter(near, 0.0), math.nextafter(near, math.inf)
        low, high = (Fraction(near) + Fraction(below)) / 2, (Fraction(near) + Fraction(above)) / 2
    except OverflowError:
        return math.inf
    for middle in (low, high):
        if square == middle * middle:
            return float(middle)  # to the even one of the two
    if square < low * low:
        return below
    return above if square > high * high else near
