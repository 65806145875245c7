"""The nine parameters p = 1, ..., 9 of each method for categories in Domingo-Ferrer and Torra 2002.

The paper says that a larger p distorts more, and no more than that. What p means here is decided by what its
tables show: at p = 8 the attributes with 6 to 9 categories hold next to nothing, and those with 12 to 25
still much. So p counts categories that vanish, whatever the size of the range; see docs/masking.md.
"""

from __future__ import annotations

from linkrisk.datasets.errors import DataError

MOST = 9


def collapsed_categories(p: int) -> int:
    """How many categories become one: p of them vanish."""
    _check(p)
    return p + 1


def chance(p: int) -> float:
    """The share of the largest change that there can be: p tenths."""
    _check(p)
    return p / 10


def _check(p: int) -> None:
    if not 1 <= p <= MOST:
        raise DataError(f"p is {p}; it must be a whole number from 1 to {MOST}")
