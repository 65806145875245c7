"""Distances in the form that compiled code enumerates by; what it is sure of depends on these errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.solver.certificates.checking.box_kernels import FORM


@dataclass(frozen=True, eq=False)
class Shape:
    """A distance whose value for differences between two ends is easily enclosed.

    Attributes
    ----------
    kind : int
        One of those of `box_kernels`; all but `FORM` do not fall when a difference grows.
    weights : ndarray of float64, shape (rows, columns)
        One row of weights; of `MEASURE` the measure by bit mask; of `FORM` the matrix whose image it is.
    scale : ndarray of float64, shape (attributes,)
        About how much each attribute counts. It only matters for speed.
    beyond : float
        By how much more than any distance of the family it may be off, in units of the largest
        attribute distance.
    """

    kind: int
    weights: FloatArray
    scale: FloatArray
    beyond: float = 0.0


def shape_of_form(matrix: FloatArray, cancelled: float) -> Shape:
    """The form ``c' M c`` as the squared length of ``U c``.

    Parameters
    ----------
    matrix : ndarray of float64, shape (attributes, attributes)
        Positive semidefinite up to rounding.
    cancelled : float
        Share of a rival's squares, times the diagonal, by which ties of the family may be wider.

    Notes
    -----
    ``M - U'U``, computed with an error of at most n + 2 roundings of the sum of absolute products, has
    entries of at most e, which move the form by at most ``e n**2`` of the largest square. Each component of
    ``U c`` is off by n + 1 roundings of ``sum |u| |c|``, so its square by at most twice that
    times ``sum |u| |c|``.
    """
    n = len(matrix)
    values, vectors = np.linalg.eigh(matrix)
    images = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    products = np.abs(images).T @ np.abs(images)
    missed = np.abs(matrix - images.T @ images) + (n + 2) * 2.0**-52 * (products + np.abs(matrix))
    diagonal = np.abs(np.diag(matrix))
    rounded = 4 * (n + 2) * 2.0**-52 * float((np.abs(images).sum(axis=1) ** 2).sum())
    beyond = 2.0 * (float(missed.max()) * n**2 + rounded + cancelled * float(diagonal.sum()))
    return Shape(FORM, np.ascontiguousarray(images), np.sqrt(diagonal), beyond)
