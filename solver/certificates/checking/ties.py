"""Up to where a rival ties with the partner, attribute by attribute: exactly, in whole numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import FloatArray

TIE_SHIFT = 36
"""A rival ties up to ``1 + 2**-36`` times the partner's widened attribute distances."""

ROUNDING_SHIFT = 49
"""They are widened by the power of two above ``2**-49`` times the values that go into a difference."""

GRAIN_SHIFT = 18
"""They are longer besides by the square of a grain, or by ``2**-18`` grains where they are not squares."""

_RESOLUTION_SHIFT = 4
_SAME_SHIFT = 48

CANCELLATION_SHIFT = 50
"""A quadratic form of n attributes is taken to be off by ``n (n + 2) * 2**-50`` times the rival's squares."""

TOLERANCES = {
    "tie": 2.0**-TIE_SHIFT,
    "rounding": 2.0**-ROUNDING_SHIFT,
    "grain": 2.0**-GRAIN_SHIFT,
    "cancellation": 2.0**-CANCELLATION_SHIFT,
}
"""As certificates name them."""


@dataclass(frozen=True)
class Partner:
    """A block's partner in whole numbers.

    Attributes
    ----------
    distances : sequence of int
        Its attribute distances.
    tied : sequence of int
        Those up to which a rival ties with it (or their squares), in units ``2**TIE_SHIFT`` times as small.
    """

    distances: Sequence[int]
    tied: Sequence[int]


def tied(widened: int) -> int:
    """A longer attribute distance of the partner times ``1 + 2**-TIE_SHIFT``, in small units."""
    return (widened << TIE_SHIFT) + widened


def widths(queries: FloatArray, partners: FloatArray, offset: FloatArray) -> FloatArray:
    """By how much differences of standardised values are widened, shape (blocks, attributes).

    Parameters
    ----------
    queries, partners : ndarray of float64, shape (blocks, attributes)
    offset : ndarray of float64, shape (attributes,)
        ``|mean| / deviation`` of both files, added.

    Returns
    -------
    ndarray of float64
        The power of two above ``2**-ROUNDING_SHIFT`` of the sum of the sizes; zero where that is zero.
    """
    size = np.abs(queries) + np.abs(partners) + offset
    _, exponent = np.frexp(2.0**-ROUNDING_SHIFT * size)
    return np.where(size > 0.0, np.ldexp(1.0, exponent), 0.0)


def grain(original: FloatArray, masked: FloatArray, offset: float) -> float:
    """A length that is far below any difference that the values of an attribute show.

    Parameters
    ----------
    original, masked : ndarray of float64, shape (rows,)
        Standardised values, NaN where missing.
    offset : float

    Returns
    -------
    float
        The largest power of two up to ``2**-GRAIN_SHIFT`` times the root of the mean squared distance from
        the median of all values, and up to a sixteenth of the smallest difference of two values of one file,
        those within ``2**-48`` of their size not counted; zero where all values are the same.
    """
    original, masked = (values[~np.isnan(values)] for values in (original, masked))
    both = np.concatenate([original, masked])
    away = np.abs(both - float(np.median(both)))
    most = float(away.max()) or 1.0
    total = math.fsum(share * share for share in (away / most).tolist())
    spread = most * math.sqrt(total / both.size)
    return _grain(spread, min(_smallest_gap(original, offset), _smallest_gap(masked, offset)))


def grain_of_table(table: FloatArray) -> float:
    """The same of distances of categories, which are their own spread and differences."""
    distances = [value for value in table.ravel().tolist() if 0.0 < value < math.inf]
    return _grain(max(distances), min(distances)) if distances else 0.0


def _smallest_gap(values: FloatArray, offset: float) -> float:
    ascending = np.sort(values)
    below, above = ascending[:-1], ascending[1:]
    apart = above - below > 2.0**-_SAME_SHIFT * (np.abs(above) + np.abs(below) + offset)
    return float((above - below)[apart].min(initial=math.inf))


def _grain(spread: float, gap: float) -> float:
    most = min(2.0**-GRAIN_SHIFT * spread, 2.0**-_RESOLUTION_SHIFT * gap)
    return math.ldexp(1.0, math.frexp(most)[1] - 1) if most > 0.0 else 0.0
