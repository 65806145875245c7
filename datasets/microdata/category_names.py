"""Names of categories: how a cell is spelled as one, and their natural order."""

from __future__ import annotations

import math
import re
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


def in_natural_order(names: Iterable[str]) -> tuple[str, ...]:
    """Names ascending as `in_order`, but numbers within text by their size: c1, c2, c10."""
    listed = list(names)
    return in_order(listed) if are_numbers(listed) else tuple(sorted(listed, key=_parts))


def _parts(name: str) -> tuple[list[str | tuple[int, str]], str]:
    """Text and numbers in turn, then the name itself, since 01 and 1 are the same number."""
    # Digits are compared by their number first: they may be more than an int is made of.
    found = [one.lstrip("0") if at % 2 else one for at, one in enumerate(re.split("([0-9]+)", name))]
    return [(len(one), one) if at % 2 else one for at, one in enumerate(found)], name


def are_numbers(names: Iterable[str]) -> bool:
    """Whether all names spell numbers, so that their order needs no list."""
    return not any(math.isnan(_number(name)) for name in names)


def _number(name: str) -> float:
    try:
        return float(name)
    except ValueError:
        return math.nan
