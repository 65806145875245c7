"""Attacker's linear program: the range of a cell, given published cells, relations and bounds.

In deviations d from the true values: ``M d = 0`` and ``-below_i x_i <= d_i <= above_i x_i``, where x_i tells
whether cell i is suppressed (Fischetti and Salazar 2000). The largest d_p is how far up the attacker must
consider cell p possible.
"""

from __future__ import annotations

import numpy as np

from linkrisk.arrays import FloatArray


def reach(reduced: FloatArray, above: FloatArray, below: FloatArray) -> FloatArray:
    """Return the coefficients of a capacity constraint for any multipliers u of the relations.

    For every u, ``max goal d = max (goal - u M) d <= sum_i x_i max (goal - u M)_i d_i`` over the bounds: with
    these coefficients the sum over the suppressed cells is never less than the goal, whatever u is, and equal
    to it where u is the dual optimum (capacity constraint, Fischetti and Salazar 2000, section 3).

    Parameters
    ----------
    reduced : ndarray of float64, shape (n,)
        ``goal - u M``.
    above, below : ndarray of float64, shape (n,)
        How far each cell can go up and down.

    Returns
    -------
    ndarray of float64, shape (n,)
        Not negative.
    """
    return np.maximum(reduced * above, -reduced * below)
