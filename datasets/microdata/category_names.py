"""Names of categories: how a cell is spelled as one, and their natural order."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real

import numpy as np

_LARGEST_WHOLE = 1e15
"""Doubles below this that are whole are spelled without a point."""


def spelled(value: object) -> str:
    """A cell as the name of a category: 7, 7.0 and "7" are the same one."""
    if isinstance(value, bool | np.bool_ | str):
        return str(value)
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        number = float(value)
        whole = number.is_integer() and abs(number) < _LARGEST_WHOLE
        return str(int(number)) if whole else repr(number)
    return str(value)


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Names ascending: as numbers where all of them spell numbers, else by their letters."""
    listed = list(names)
    numbers = [_number(name) for name in listed]
    if any(math.isnan(number) for number in numbers):
        return tuple(sorted(listed))
    return tuple(name for _, name in sorted(zip(numbers, listed, strict=True)))


def are_numbers(names: Iterable[str]) -> bool:
    """Whether all names spell numbers, so that their order needs no list."""
    return not any(math.isnan(_number(name)) for name in names)


def _number(name: str) -> float:
    try:
        return float(name)
    except ValueError:
        return math.nan
