"""Logistic regression by maximum likelihood."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log_expit

from linkrisk.arrays import BoolArray, FloatArray

_MOST_STEPS = 200
_RESOLUTION = 1e-14
_ENOUGH = 1e-9
"""Largest component of the mean gradient of a fit that has converged."""


def logistic(columns: FloatArray, positive: BoolArray) -> tuple[FloatArray, bool]:
    """Fit without a penalty, by Newton steps that are halved while they do not help.

    Parameters
    ----------
    columns : ndarray of float64, shape (n, k)
        Explanatory variables of about unit size, without a constant.
    positive : ndarray of bool, shape (n,)

    Returns
    -------
    coefficients : ndarray of float64, shape (k + 1,)
        That of the constant first.
    converged : bool
        False where the data are separated and there is no finite fit, or rounding ended it.
    """
    design = np.column_stack((np.ones(len(columns)), columns))
    signs = np.where(positive, 1.0, -1.0)
    theta = np.zeros(design.shape[1])

    def loss(at: FloatArray) -> float:
        return -float(np.mean(log_expit(signs * (design @ at))))

    now = loss(theta)
    for _ in range(_MOST_STEPS):
        chance = expit(design @ theta)
        gradient = design.T @ (chance - positive) / len(design)
        curvature = (design.T * (chance * (1.0 - chance))) @ design / len(design)
        try:
            step = np.linalg.solve(curvature, gradient)
        except np.linalg.LinAlgError:
            return theta, False
        if (np.abs(step) <= _RESOLUTION * (1.0 + np.abs(theta))).all():
            break
        further = loss(theta - step)
        while further > now + _RESOLUTION and np.abs(step).max() > _RESOLUTION:
            step /= 2.0
            further = loss(theta - step)
        theta, now = theta - step, further
    return theta, bool(np.abs(gradient).max() <= _ENOUGH)
