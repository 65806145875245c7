"""The unit in which a certificate counts weight."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm

from linkrisk.solver.certificates.checking.simplex_kernels import LARGEST_TOTAL


def weight_unit(weights: Sequence[Fraction], bound: Fraction) -> Fraction:
    """How many units make a weight of one.

    The unit is the largest of which all weights are whole multiples, so that nothing is rounded. Where these
    would be too many for a simplex tree, which takes all that is above the bound for just above it, the unit
    is a power of two for which they are a quarter to a half of what there is room for: rounding wants some.

    Parameters
    ----------
    weights : sequence of Fraction
        Of all blocks that are not lost.
    bound : Fraction
        That is to be proved.
    """
    fine = lcm(*(weight.denominator for weight in weights))
    counts = [weight.numerator * (fine // weight.denominator) for weight in weights]
    common = max(1, gcd(*counts))
    most = int(bound * fine)
    total = sum(min(count, most) for count in counts)
    if total <= LARGEST_TOTAL // 2 * common:
        return Fraction(fine, common)
    room = Fraction(LARGEST_TOTAL * fine, 2 * total)
    exponent = room.numerator.bit_length() - room.denominator.bit_length() - 1
    return Fraction(2) ** exponent
