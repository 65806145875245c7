"""Terms of relations, each cell once, and none that says nothing."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from linkrisk.arrays import FloatArray, LongArray


def joined_terms(
    relation: FloatArray, cell: LongArray, coefficient: FloatArray
) -> tuple[FloatArray, LongArray, FloatArray]:
    """Terms of the same cell in a relation as one, and those left out whose coefficient is 0.

    A cell with a coefficient of 0 is in no relation: what counts the unknown cells of relations must not
    see it, or it would give away what nobody can compute.

    Parameters
    ----------
    relation : ndarray of float64, shape (k,)
    cell : ndarray of int64, shape (k,)
    coefficient : ndarray of float64, shape (k,)

    Returns
    -------
    tuple of three ndarray
        The same, in the order in which they were given.
    """
    order = np.lexsort((cell, relation))
    again = (np.diff(relation[order]) == 0) & (np.diff(cell[order]) == 0)
    made, kept = coefficient.copy(), np.ones(cell.size, dtype=np.bool_)
    for at in np.flatnonzero(again).tolist():  # the first of a run collects what comes after it
        first, later = order[at], order[at + 1]
        made[later] = float(_decimal(made[first]) + _decimal(made[later]))
        kept[first] = False
    kept &= made != 0
    return relation[kept], cell[kept], made[kept]


def _decimal(number: float) -> Fraction:
    """The shortest decimal that stands for it: 0.1 + 0.2 - 0.3 is nothing."""
    return Fraction(repr(float(number)))
