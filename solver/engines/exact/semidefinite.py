"""The widest margin of some rows over semidefinite matrices, by a primal-dual interior point method.

It is a small semidefinite program: maximise t such that ``<G_i, M> >= t`` for every row, with M positive
semidefinite of trace one. Cutting planes by eigenvectors approach it slowly where records exclude each
other by little; the interior point method takes some fifteen steps, each of the size of the matrix, and
its multipliers prove what it finds: ``t <= largest eigenvalue of sum_i lambda_i G_i`` for any multipliers
that sum to one (Helmberg, Rendl, Vanderbei and Wolkowicz 1996).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

_MOST_STEPS = 60
_SMALLEST_GAP = 1e-15


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _full(theta: FloatArray, first: IndexArray, second: IndexArray, out: FloatArray) -> None:
    """The symmetric matrix with the upper triangle `theta`, into `out`."""
    for at in range(first.size):
        out[first[at], second[at]] = theta[at]
        out[second[at], first[at]] = theta[at]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _symmetric(row: FloatArray, first: IndexArray, second: IndexArray, out: FloatArray) -> None:
    """The matrix G with ``row @ theta = <G, M>``, into `out`: entries beside the diagonal count twice."""
    for at in range(first.size):
        share = 1.0 if first[at] == second[at] else 0.5
        out[first[at], second[at]] = share * row[at]
        out[second[at], first[at]] = share * row[at]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def largest_eigenvalue(row: FloatArray, first: IndexArray, second: IndexArray) -> Any:
    """Largest ``row @ theta`` over the semidefinite matrices of trace one.

    Parameters
    ----------
    row : ndarray of float64, shape (dimension,)
    first, second : ndarray of int, shape (dimension,)
        Row and column of each entry of ``theta``, the upper triangle of the matrix.
    """
    n = first[-1] + 1
    matrix = np.empty((n, n))
    _symmetric(row, first, second, matrix)
    return np.linalg.eigvalsh(matrix)[-1]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _scaling(
    inverse: FloatArray, dual: FloatArray, first: IndexArray, second: IndexArray, out: FloatArray
) -> None:
    """Matrix of ``X -> (inverse X dual + dual X inverse) / 2`` on upper triangles, into `out`."""
    for a in range(first.size):
        k, m = first[a], second[a]
        for b in range(first.size):
            p, q = first[b], second[b]
            value = inverse[m, p] * dual[q, k] + dual[m, p] * inverse[q, k]
            if k != m:
                value += inverse[k, p] * dual[q, m] + dual[k, p] * inverse[q, m]
            if p != q:
                value += inverse[m, q] * dual[p, k] + dual[m, q] * inverse[p, k]
                if k != m:
                    value += inverse[k, q] * dual[p, m] + dual[k, q] * inverse[p, m]
            out[a, b] = 0.5 * value


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _room(values: FloatArray, vectors: FloatArray, direction: FloatArray) -> Any:
    """How far a positive definite matrix, given by its spectrum, can go before it is singular."""
    factor = vectors / np.sqrt(values)
    least = np.linalg.eigvalsh(factor.T @ direction @ factor)[0]
    return -1.0 / least if least < 0.0 else np.inf


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _ratio(values: FloatArray, change: FloatArray) -> Any:
    """How far positive values can go before one of them is zero."""
    length = np.inf
    for i in range(values.size):
        if change[i] < 0.0:
            length = min(length, -values[i] / change[i])
    return length


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def widest_margin(
    rows: FloatArray, first: IndexArray, second: IndexArray, enough: float, proven: float
) -> Any:
    """Approach the widest margin of `rows` until its sign is known.

    Parameters
    ----------
    rows : ndarray of float64, shape (rows, dimension)
    first, second : ndarray of int, shape (dimension,)
        Row and column of each entry of ``theta``, the upper triangle of M.
    enough : float
        Stop at a margin above this that is at least half of the widest.
    proven : float
        Stop when the widest margin is proven to be below this.

    Returns
    -------
    theta : ndarray of float64, shape (dimension,)
        A positive definite matrix of trace one.
    multipliers : ndarray of float64, shape (rows,)
        They sum to one.
    """
    many, size, n = rows.shape[0], rows.shape[1], first[-1] + 1
    trace = np.zeros(size)
    for at in range(size):
        trace[at] = 1.0 if first[at] == second[at] else 0.0
    theta = trace / n
    multipliers = np.full(many, 1.0 / many)
    t = (rows @ theta).min() - 0.5
    slack = rows @ theta - t
    y = largest_eigenvalue(multipliers @ rows, first, second) + 0.5
    primal, dual, change = np.empty((n, n)), np.empty((n, n)), np.empty((n, n))
    system = np.zeros((size + 2, size + 2))
    right = np.empty(size + 2)
    scale = np.ones(size + 2)
    centring = 0.2
    for _ in range(_MOST_STEPS):
        combined = multipliers @ rows
        _full(theta, first, second, primal)
        _symmetric(y * trace - combined, first, second, dual)
        gap = ((primal * dual).sum() + (slack * multipliers).sum()) / (n + many)
        values, vectors = np.linalg.eigh(primal)
        dual_values, dual_vectors = np.linalg.eigh(dual)
        if gap < _SMALLEST_GAP or values[0] <= 0.0 or dual_values[0] <= 0.0:
            break
        mu = centring * gap
        inverse = (vectors / values) @ vectors.T
        ratio = multipliers / slack
        _scaling(inverse, dual, first, second, system[:size, :size])
        scaled = rows * ratio.reshape(-1, 1)
        system[:size, :size] += scaled.T @ rows
        weighted = ratio @ rows
        system[:size, size] = -weighted
        system[size, :size] = -weighted
        system[size, size] = ratio.sum()
        system[:size, size + 1] = trace
        system[size + 1, :size] = trace
        system[size:, size + 1] = 0.0
        system[size + 1, size] = 0.0
        target = mu / slack
        right[:size] = target @ rows - y * trace
        for at in range(size):
            share = 1.0 if first[at] == second[at] else 2.0
            right[at] += mu * share * inverse[first[at], second[at]]
        right[size] = 1.0 - target.sum()
        right[size + 1] = 0.0
        scale[: size + 1] = 1.0 / np.sqrt(np.diag(system)[: size + 1])
        try:
            step = scale * np.linalg.solve(system * scale * scale.reshape(-1, 1), scale * right)
        except Exception:  # singular to rounding, so these steps get no nearer
            break
        move = rows @ step[:size] - step[size]
        shift = target - multipliers - ratio * move
        _full(step[:size], first, second, change)
        forward = min(1.0, 0.95 * min(_ratio(slack, move), _room(values, vectors, change)))
        _symmetric(step[size + 1] * trace - shift @ rows, first, second, change)
        backward = min(1.0, 0.95 * min(_ratio(multipliers, shift), _room(dual_values, dual_vectors, change)))
        theta = theta + forward * step[:size]
        t += forward * step[size]
        multipliers = multipliers + backward * shift
        y += backward * step[size + 1]
        slack = rows @ theta - t
        centring = 0.1 if min(forward, backward) > 0.5 else 0.5
        least = t + slack.min()
        if slack.min() <= 0.0 or multipliers.min() <= 0.0:
            break
        if y <= proven or (least > enough and y <= 2.0 * least):
            break
    return theta / (theta * trace).sum(), multipliers / multipliers.sum()
