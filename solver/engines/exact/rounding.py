"""Bound the rounding errors of sums in double precision, for proofs that must survive them.

A proof ends with a number that must not be above zero. It is a sum of products; computed in double precision
it is off by an amount that has a bound of its own (Higham 2002, Section 3.1): when no term goes through more
than n roundings, by at most ``n u / (1 - n u)`` times the sum of the absolute values of all terms, with
``u = 2**-53``, in whatever order they are added. The terms of a proof are

    ``multiplier * entry of a row * bound of the column``

so it is the bounds of the columns, 1 for weights but ``2**(k - 1)`` for the Moebius transform of a set of k
attributes, and the multipliers of the domain that say how much may be hidden. This bound is added to what was
computed: a sum that is not positive after that is not positive.
"""

from __future__ import annotations

from linkrisk.formulations.compiled import kernel

UNIT = 2.0**-53
"""Unit roundoff: the largest relative error of one operation."""

_OF_ENTRIES = 8
"""Roundings in every term before a proof begins: 4 in the row's entry, 4 in the last sums and comparisons.

An entry is a difference of two features, divided by the length of the row; the length is common to all
entries and does not matter. Where features cancel, the error is not a small share of the entry, but of the
features: that is what ties and their slack are for (`formulations.linkage.ties.ROW_SHARE`).
"""

_SLACK = 1.01
"""Covers ``1 - n u`` and the rounding of the sum of absolute values, as long as n is below 1e12."""

_UNDERFLOW = 1e-290
"""Bound on the sum of all products lost to underflow."""


@kernel
def rounding_error(roundings: int, size: float) -> float:
    """Bound the error of a computed sum.

    `roundings`: most roundings that any one of its terms goes through, those of the rows' entries not
    counted: products and additions. `size`: sum of the absolute values of all terms, as computed.
    """
    return _SLACK * (roundings + _OF_ENTRIES) * UNIT * size + _UNDERFLOW
