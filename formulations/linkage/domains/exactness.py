"""Points as they are written down: doubles that are in the domain exactly, as rational numbers.

A solver's answer is in its domain up to rounding. A proof is about the domain itself, so what misses it by a
rounding is moved inside, by no more than that: only a common factor may be off, which no comparison sees.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from linkrisk.arrays import FloatArray


def monotone(table: FloatArray) -> FloatArray:
    """The smallest monotone set function above `table`, cut at the value of the whole set; by bit mask."""
    out = np.minimum(np.clip(table, 0.0, None), table[-1])
    for k in range(int(out.size).bit_length() - 1):
        halves = out.reshape(-1, 2, 1 << k)
        np.maximum(halves[:, 1], halves[:, 0], out=halves[:, 1])
    return np.asarray(out)


def raised(coefficients: FloatArray, masks: Sequence[int], attributes: int) -> FloatArray:
    """Moebius coefficients of a monotone measure: those of single attributes are raised where needed.

    What attribute k adds to a set is a sum in which its own coefficient always stands, and no other single
    attribute's. So it is raised by what the least of these sums is short of.

    Parameters
    ----------
    coefficients : ndarray of float64, shape (subsets,)
    masks : sequence of int
        The subsets, those of one attribute first.
    attributes : int
    """
    exact = [Fraction(value) for value in coefficients.tolist()]
    unit = max(value.denominator for value in exact)  # denominators of doubles are powers of two
    table = [0] * (1 << attributes)
    for mask, value in zip(masks, exact, strict=True):
        table[mask] = int(value * unit)
    for k in range(attributes):
        for mask in range(len(table)):
            if mask >> k & 1:
                table[mask] += table[mask ^ 1 << k]
    out = coefficients.copy()
    for k in range(attributes):
        least = min(table[mask] - table[mask ^ 1 << k] for mask in range(len(table)) if mask >> k & 1)
        if least < 0:
            out[k] = _rounded_up(exact[k] - Fraction(least, unit))
    return out


def semidefinite(matrix: FloatArray) -> FloatArray:
    """A symmetric matrix with its diagonal raised by as little as makes it positive semidefinite exactly."""
    step = math.ldexp(float(np.trace(matrix)), -52)
    shift = 0.0
    while True:
        lifted = matrix + shift * np.eye(len(matrix))
        if is_semidefinite(lifted):
            return np.asarray(lifted)
        shift = max(step, 2.0 * shift)


def is_semidefinite(matrix: FloatArray) -> bool:
    """Whether ``x' M x >= 0`` for all x, in whole numbers: elimination without fractions (Bareiss 1968)."""
    exact = [[Fraction(value) for value in row] for row in matrix.tolist()]
    unit = max(value.denominator for row in exact for value in row)
    rest = [[int(value * unit) for value in row] for row in exact]
    before = 1
    for k in range(len(rest)):
        pivot = rest[k][k]
        if pivot < 0 or (pivot == 0 and any(rest[k][k:])):
            return False
        if pivot > 0:
            for i in range(k + 1, len(rest)):
                for j in range(i, len(rest)):
                    rest[i][j] = (rest[i][j] * pivot - rest[k][i] * rest[k][j]) // before
            before = pivot
    return True


def _rounded_up(value: Fraction) -> float:
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)
