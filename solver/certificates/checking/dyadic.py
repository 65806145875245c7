"""Doubles as whole numbers: a double is a whole number times a power of two, so nothing is ever rounded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


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
