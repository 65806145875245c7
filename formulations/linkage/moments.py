"""Correctly rounded means and standard deviations: the doubles nearest to the exact ones of a column.

Standardised values are what every claim about two files speaks of, so nothing about them may depend on the
order of a summation, or on which program computes them.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, LongArray

_DIGITS = 53
_LIMB = 18
"""Bits of a limb. A double is three of them, and sums of 2**25 products of two of them fit 64 bits."""

_MOST_AT_ONCE = 1 << 25


def moments(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and sample standard deviation of each column, correctly rounded.

    Parameters
    ----------
    values : ndarray of float64, shape (n, attributes)
        Finite, n at least 2.

    Returns
    -------
    mean, deviation : ndarray of float64, shape (attributes,)
        With denominator n - 1, as R and the authors' script have it. A deviation may round to zero, or be
        inf, where that of the column is beyond doubles.
    """
    pairs = [_moments(np.ascontiguousarray(values[:, k])) for k in range(values.shape[1])]
    mean, deviation = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    return mean, deviation


def _moments(column: FloatArray) -> tuple[float, float]:
    count = column.size
    total, squares = Fraction(0), Fraction(0)
    for first in range(0, count, _MOST_AT_ONCE):
        part = _exact_sums(column[first : first + _MOST_AT_ONCE])
        total, squares = total + part[0], squares + part[1]
    variance = (squares - total * total / count) / (count - 1)
    return float(total / count), rounded_root(variance)


def _exact_sums(column: FloatArray) -> tuple[Fraction, Fraction]:
    """Exact sums of at most `_MOST_AT_ONCE` values and of their squares.

    A value is a whole number of 53 bits times a power of two. Values of one power are added together, limb by
    limb, in 64 bits.
    """
    share, power = np.frexp(column)
    order = np.argsort(power, kind="stable")
    whole = np.ldexp(share, _DIGITS).astype(np.int64)[order]
    power = power[order].astype(np.int64)
    starts = np.flatnonzero(np.concatenate([[True], power[1:] != power[:-1]]))
    size = np.abs(whole)
    limbs = [(size >> (_LIMB * at)) & ((1 << _LIMB) - 1) for at in range(3)]
    sign = np.sign(whole)
    total, squares = Fraction(0), Fraction(0)
    sums = [_by_power(sign * limb, starts) for limb in limbs]
    products = {
        (a, b): _by_power(limbs[a] * limbs[b] * (1 if a == b else 2), starts)
        for a in range(3)
        for b in range(a, 3)
    }
    for at, start in enumerate(starts.tolist()):
        unit = int(power[start]) - _DIGITS
        total += _scaled(sum(part[at] << (_LIMB * limb) for limb, part in enumerate(sums)), unit)
        square = sum(part[at] << (_LIMB * (a + b)) for (a, b), part in products.items())
        squares += _scaled(square, 2 * unit)
    return total, squares


def _by_power(values: LongArray, starts: NDArray[np.intp]) -> list[int]:
    sums: list[int] = np.add.reduceat(values, starts).tolist()
    return sums


def _scaled(number: int, power: int) -> Fraction:
    """``number * 2**power``."""
    return Fraction(number << power) if power >= 0 else Fraction(number, 1 << -power)


def rounded_root(value: Fraction) -> float:
    """The double nearest to the square root of a number that is not negative; inf beyond all doubles.

    The root is found in whole numbers to 60 bits or more. One bit behind them says whether anything is left,
    so that rounding to a double, once, rounds the root itself.
    """
    size = value.numerator.bit_length() - value.denominator.bit_length()
    shift = max(0, 61 - size // 2)
    numerator = value.numerator << 2 * shift
    root = math.isqrt(numerator // value.denominator)
    rest = root * root * value.denominator != numerator
    try:
        return (2 * root + rest) / (2 << shift)
    except OverflowError:
        return math.inf
