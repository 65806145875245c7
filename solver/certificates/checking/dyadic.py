"""Doubles as whole numbers: a double is a whole number times a power of two, so nothing is ever rounded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from linkrisk.arrays import FloatArray

_DIGITS = 53


def shift_of(values: Iterable[float]) -> int:
    """The smallest s >= 0 such that every value times ``2**s`` is whole."""
    return max((value.as_integer_ratio()[1].bit_length() - 1 for value in values), default=0)


def whole_numbers(values: Sequence[float], shift: int) -> tuple[int, ...]:
    """Each value times ``2**shift``, which must be whole."""
    numbers = []
    for value in values:
        numerator, denominator = value.as_integer_ratio()
        numbers.append((numerator << shift) // denominator)
    return tuple(numbers)


def shift_of_array(values: FloatArray) -> int:
    """`shift_of` of an array of finite doubles.

    A double is ``m * 2**(e - 53)`` with a whole m below ``2**53``; its digits end
    where the lowest one is.
    """
    fraction, exponent = np.frexp(values[values != 0.0])
    if fraction.size == 0:
        return 0
    whole = np.ldexp(fraction, _DIGITS).astype(np.int64)
    _, lowest = np.frexp((whole & -whole).astype(np.float64))
    return max(0, int((_DIGITS - exponent - (lowest - 1)).max()))
