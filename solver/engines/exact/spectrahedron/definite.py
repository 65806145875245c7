"""Small positive definite matrices in compiled code, where a call of LAPACK costs more than the work."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.formulations.compiled import kernel

_MOST_TRIALS = 14
_NEAR_ENOUGH = 0.85
_NOISE = 1e-14
"""A pivot below this share of its diagonal entry is nothing but rounding."""


@kernel
def factorise(matrix: FloatArray, factor: FloatArray) -> Any:
    """Cholesky factor of a symmetric matrix, of which the lower triangle is read, into `factor`.

    Returns: whether the matrix is positive definite beyond rounding; if not, `factor` is only begun.
    """
    for i in range(matrix.shape[0]):
        for j in range(i + 1):
            value = matrix[i, j]
            for k in range(j):
                value -= factor[i, k] * factor[j, k]
            if j < i:
                factor[i, j] = value / factor[j, j]
            elif value > _NOISE * matrix[i, i]:
                factor[i, i] = np.sqrt(value)
            else:  # also when it is not a number
                return False
    return True


@kernel
def is_definite(matrix: FloatArray) -> bool:
    """Whether a Cholesky factorisation of a symmetric matrix comes to its end; its lower half is overwritten.

    If it does, the smallest eigenvalue is at least ``-(n + 1) u / (1 - 2 (n + 1) u)`` times the trace, in
    spite of all rounding (Rump 2006, Theorem 2.3; Higham 2002, Theorem 10.7).
    """
    for i in range(matrix.shape[0]):
        for j in range(i + 1):
            value = matrix[i, j]
            for k in range(j):
                value -= matrix[i, k] * matrix[j, k]
            if j < i:
                matrix[i, j] = value / matrix[j, j]
            elif value > 0.0:
                matrix[i, i] = np.sqrt(value)
            else:  # also when it is not a number
                return False
    return True


@kernel
def solve(factor: FloatArray, x: FloatArray) -> None:
    """Solve the system of the matrix with this factor; `x` is the right side, and then the solution."""
    for i in range(x.size):
        value = x[i]
        for k in range(i):
            value -= factor[i, k] * x[k]
        x[i] = value / factor[i, i]
    for i in range(x.size - 1, -1, -1):
        x[i] /= factor[i, i]
        for k in range(i):
            x[k] -= factor[i, k] * x[i]


@kernel
def invert(factor: FloatArray, inverse: FloatArray) -> None:
    """The inverse of the matrix with this factor, into `inverse`."""
    inverse[:] = 0.0
    for column in range(inverse.shape[0]):  # its rows as well: it is symmetric
        inverse[column, column] = 1.0
        solve(factor, inverse[column])


@kernel
def room(
    matrix: FloatArray, change: FloatArray, longest: float, trial: FloatArray, factor: FloatArray
) -> Any:
    """How far a positive definite matrix can go and stay so: at most `longest`, and not much too short.

    `matrix`, `change` (n, n): symmetric. `trial`, `factor` (n, n): room to work in.
    """
    low, high, length = 0.0, longest, longest
    for _ in range(_MOST_TRIALS):
        for i in range(matrix.shape[0]):
            for j in range(i + 1):
                trial[i, j] = matrix[i, j] + length * change[i, j]
        if factorise(trial, factor):
            low = length
            if length == longest:
                break
        else:
            high = length
        if low > _NEAR_ENOUGH * high:
            break
        length = 0.5 * (low + high) if low > 0.0 else 0.6 * high
    return low
