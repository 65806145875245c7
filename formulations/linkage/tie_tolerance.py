"""Ties: how much farther than the partner a rival must be, attribute by attribute.

Rounding puts distances that are equal on paper a little apart. So the partner is taken to be a little farther
than it is: with d_k the difference of two standardised values of attribute k,

    c+_k = ((|d_k| + delta_k)**2 + g_k**2) * (1 + TIE_TOLERANCE)

(``(|d_k| + delta_k + GRAIN_SHARE g_k) * (1 + TIE_TOLERANCE)`` of absolute differences), where delta_k is what
rounding can have done to the standardised values and the grain g_k is far below any difference that the
attribute shows. A rival ties with the partner unless its distance is above that of c+. Each attribute has an
allowance of its own: what is far out in one without weight says nothing about the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.linkage.distances import Differences

TIE_TOLERANCE = 2.0**-36
"""Share of each attribute distance of the partner that a rival must be farther by: about 1.5e-11.

It also keeps records that exclude each other a little apart, where their distances would otherwise meet: it
is what makes a proof of that survive floating point. The grain does so where partners do not differ.
"""

GRAIN_SHARE = 2.0**-18
"""Share of an attribute's spread that a grain is at most; its square is `TIE_TOLERANCE`."""

_RESOLUTION_SHARE = 2.0**-4
"""Share of the smallest difference of an attribute's values that a grain is at most."""

_SAME = 2.0**-48
"""Share of two values of one file within which they are the same up to rounding."""

VALUE_ROUNDING = 2.0**-49
"""Share of the values that go into a difference which rounding may have moved it by: 16 units of 2**-53.

A standardised value ``z = (x - mean) / deviation`` is off by at most ``2**-53 * (|mean| / deviation +
3 |z|)``, one more where x itself was rounded, and two of them by the sum of both. Of a rival that lies more
than twice as far from zero as the query, the error is relative to its own difference.
"""

CANCELLATION = 2.0**-50
"""Times n (n + 2) and ``sum_k M_kk d_k**2`` of n attributes: more than rounding moves ``d' M d`` by.

The terms of a rival's quadratic form may cancel, and the error is relative to them, not to what is left: at
most ``(n + 2) * 2**-53 * |d|' |M| |d|``, and ``|d|' |M| |d| <= n * sum_k M_kk d_k**2`` for a positive
semidefinite M. This is eight times that; it is a part of every tie of two quadratic forms.
"""

ROW_SHARE = 0.9
ROW_CANCELLATION_SHARE = 0.5
"""What the rows of models and engines take of a tie: a little less than the evaluator does.

So whatever the evaluator links is linked by the rows as well, for all that rounding may do to either, and a
bound on the rows is a bound on its count. A tenth of `TIE_TOLERANCE` is far above the rounding of a partner's
distance, and half of the cancellation is four times that of a rival's.
"""


def cancellation(attributes: int) -> float:
    """What `CANCELLATION` comes to for n attributes."""
    return CANCELLATION * attributes * (attributes + 2)


def value_rounding(first: FloatArray, second: FloatArray, offset: FloatArray) -> FloatArray:
    """Bound the rounding of differences of standardised values: delta (rows, attributes), a power of two.

    It is the power of two above `VALUE_ROUNDING` times ``|first| + |second| + offset``, with `offset`
    (attributes,) the ``|mean| / deviation`` of both files; zero where all of them are zero.
    """
    size = np.abs(first) + np.abs(second) + offset
    exponent = np.frexp(VALUE_ROUNDING * size)[1]
    return np.where(size > 0.0, np.ldexp(1.0, exponent), 0.0)


def grain(first: FloatArray, second: FloatArray, offset: FloatArray) -> FloatArray:
    """Length g (attributes,) far below any difference that the values of each attribute show.

    The power of two below `GRAIN_SHARE` of the root mean square distance from the median of all values, and
    below a sixteenth of the smallest difference of two values of one file; zero for a constant, and where no
    value is known.
    """
    grains = []
    for k in range(first.shape[1]):
        known = [values[~np.isnan(values)] for values in (first[:, k], second[:, k])]
        gaps = [_gaps(np.unique(values), float(offset[k])) for values in known]
        both = np.concatenate(known)
        if both.size == 0:
            grains.append(0.0)
            continue
        away = np.abs(both - np.median(both))
        largest = float(away.max(initial=0.0)) or 1.0  # squares may leave the range of doubles
        spread = largest * math.sqrt(math.fsum(np.square(away / largest).tolist()) / both.size)
        least = np.concatenate(gaps).min(initial=np.inf)
        grains.append(power_below(min(GRAIN_SHARE * spread, _RESOLUTION_SHARE * float(least))))
    return np.array(grains)


def _gaps(values: FloatArray, offset: float) -> FloatArray:
    """Differences of neighbours among ascending values that are not the same up to rounding."""
    gaps = np.diff(values)
    sizes = np.abs(values)
    return np.asarray(gaps[gaps > _SAME * (sizes[1:] + sizes[:-1] + offset)])


def table_grain(table: FloatArray) -> float:
    """Grain of an attribute with tabulated distances, which are their own spread and differences."""
    positive = table[(table > 0.0) & np.isfinite(table)]
    if positive.size == 0:
        return 0.0
    return power_below(min(GRAIN_SHARE * float(positive.max()), _RESOLUTION_SHARE * float(positive.min())))


def power_below(value: float) -> float:
    """The largest power of two that is no larger than a number; zero for zero."""
    return math.ldexp(0.5, math.frexp(value)[1]) if value > 0.0 else 0.0


def tied_distances(
    distances: FloatArray,
    rounding: FloatArray,
    grains: FloatArray,
    kind: Differences,
    share: float = 1.0,
) -> FloatArray:
    """Attribute distances ``c+`` (rows, attributes) up to which a rival ties, or `share` of the way.

    `distances` are the absolute differences ``|d|`` of partners, `rounding` their `value_rounding`; `share`
    is 1 for the evaluator, `ROW_SHARE` for rows.
    """
    wide = distances + share * rounding
    if kind is Differences.SQUARED:
        wide = wide * wide + share * np.square(grains)
    else:
        wide = wide + share * GRAIN_SHARE * grains
    return np.asarray(wide * (1.0 + share * TIE_TOLERANCE))


@dataclass(frozen=True)
class Partners:
    """Some partners as rows need them."""

    distances: FloatArray  # (rows, attributes): their attribute distances
    # (rows, attributes): those up to which a rival ties with them; of a quadratic form the squares
    tied: FloatArray

    def __getitem__(self, rows: IndexArray | list[int] | slice) -> Partners:
        """Some of them."""
        return Partners(self.distances[rows], self.tied[rows])
