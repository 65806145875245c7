"""How much of an aggregated distance is due to each attribute."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.forms import DistanceForm, FormKind

_ROWS_AT_ONCE = 20_000
"""Of which equal attribute distances are compared, all with all of a row."""


def contributions(form: DistanceForm, c: FloatArray) -> FloatArray:
    """Parts of the distance by attribute, which add up to it.

    `form`: a distance d. `c` (rows, attributes): attribute distances. Returns shape (rows, attributes): non-
    negative, but for a quadratic form with terms that cancel.

    Every d here is homogeneous, ``d(t c) = t**r d(c)`` with r = 1, or 2 for a quadratic form, so by Euler's
    theorem ``d = 1/r sum_k c_k dd/dc_k``, and the k-th term is the part of attribute k:

    - weighted mean: ``p_k c_k``;
    - OWA: ``p_r c_k``, where r is the rank of ``c_k``;
    - Choquet: ``c_(i) (mu(A_(i)) - mu(A_(i+1)))``, the increments ``(c_(i) - c_(i-1)) mu(A_(i))`` summed by
      parts (Grabisch 1996, Eq. 4), where ``A_(i)`` are the attributes from rank i upwards;
    - 2-additive: ``p_kk c_k`` and what ``p_kl min(c_k, c_l)`` gives to the smaller of the two;
    - quadratic: ``z_k (M z)_k``.

    Of equal attribute distances, among which the derivative is not unique, each gets the mean of theirs.
    """
    parts = np.empty(c.shape)
    for first in range(0, len(c), _ROWS_AT_ONCE):
        some = slice(first, first + _ROWS_AT_ONCE)
        parts[some] = _PARTS[form.kind](c[some], form.parameters)
    return parts


def _weighted_sum(c: FloatArray, p: FloatArray) -> FloatArray:
    return np.asarray(c * p)


def _quadratic(c: FloatArray, p: FloatArray) -> FloatArray:
    return np.asarray((c @ p) * c)


def _ordered_sum(c: FloatArray, p: FloatArray) -> FloatArray:
    order = np.argsort(-c, axis=1, kind="stable")
    return _even(_back(-np.sort(-c, axis=1) * p, order), c)


def _choquet(c: FloatArray, p: FloatArray) -> FloatArray:
    order = np.argsort(c, axis=1, kind="stable")
    above = np.cumsum(np.left_shift(1, order)[:, ::-1], axis=1)[:, ::-1]
    worth = p[above]
    steps = worth - np.hstack([worth[:, 1:], np.zeros((len(c), 1))])
    return _even(_back(np.take_along_axis(c, order, axis=1) * steps, order), c)


def _pairwise(c: FloatArray, p: FloatArray) -> FloatArray:
    parts = c * np.diag(p)
    for k, row in enumerate(p):
        for other in range(k + 1, len(p)):
            least = row[other] * np.minimum(c[:, k], c[:, other])
            share = np.where(c[:, k] == c[:, other], 0.5, c[:, k] < c[:, other])
            parts[:, k] += share * least
            parts[:, other] += (1.0 - share) * least
    return parts


def _back(values: FloatArray, order: NDArray[np.intp]) -> FloatArray:
    """Values by rank as values by attribute."""
    parts = np.empty_like(values)
    np.put_along_axis(parts, order, values, axis=1)
    return parts


def _even(parts: FloatArray, c: FloatArray) -> FloatArray:
    """The same parts for equal attribute distances of a row."""
    same = c[:, :, None] == c[:, None, :]
    return np.asarray((same * parts[:, None, :]).sum(axis=2) / same.sum(axis=2))


_PARTS = {
    FormKind.WEIGHTED_SUM: _weighted_sum,
    FormKind.ORDERED_SUM: _ordered_sum,
    FormKind.CHOQUET: _choquet,
    FormKind.PAIRWISE: _pairwise,
    FormKind.QUADRATIC: _quadratic,
}
