"""Maximise the margin over semidefinite matrices by a primal-dual interior point method.

It is a small semidefinite program: maximise t such that ``<G_i, M> >= t`` for every row, with M positive
semidefinite of trace one. Cutting planes by eigenvectors converge slowly where records exclude each other by
little; the interior point method takes some six steps, each of the size of the matrix, until the sign of t is
known. Its multipliers prove the result: ``t <= largest eigenvalue of sum_i lambda_i G_i`` for any multipliers
that sum to one (Helmberg, Rendl, Vanderbei and Wolkowicz 1996).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.kernel_parts import put

_MOST_TRIALS = 14
_NEAR_ENOUGH = 0.85
_NOISE = 1e-14
"""A pivot below this share of its diagonal entry is rounding error."""


@kernel
def factorise(matrix: FloatArray, factor: FloatArray) -> Any:
    """Write the Cholesky factor of a symmetric matrix, read from its lower triangle, to `factor`.

    Returns: whether the matrix is positive definite beyond rounding; if not, `factor` is incomplete.
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
    """Test by Cholesky factorisation whether a matrix is positive definite; overwrites its lower triangle.

    If so, the smallest eigenvalue is at least ``-(n + 1) u / (1 - 2 (n + 1) u)`` times the trace, rounding
    included (Rump 2006, Theorem 2.3; Higham 2002, Theorem 10.7).
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
    """Solve the system of the matrix with this factor; `x` holds the right side, then the solution."""
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
    """Write the inverse of the matrix with this factor to `inverse`."""
    inverse[:] = 0.0
    for column in range(inverse.shape[0]):  # its rows as well: it is symmetric
        inverse[column, column] = 1.0
        solve(factor, inverse[column])


@kernel
def room(
    matrix: FloatArray, change: FloatArray, longest: float, trial: FloatArray, factor: FloatArray
) -> Any:
    """Find a step length at which a positive definite matrix stays so: at most `longest`, and nearly maximal.

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


_MOST_STEPS = 60
_SMALLEST_GAP = 1e-15
_OFFSET = 0.02
"""Initial distance from the boundary: about the margins of rows of unit length."""

_CLOSE = 0.5
"""Relative gap at which a proof is accepted: smaller gaps give fewer rows in the proof, for more steps."""

_DAMPING = 0.95
"""Largest share of the way to the boundary in one step: longer steps are fewer, but come too near it."""


@kernel
def _full(theta: FloatArray, first: IndexArray, second: IndexArray, out: FloatArray) -> None:
    """Write the symmetric matrix with the upper triangle `theta` to `out`."""
    for at in range(first.size):
        out[first[at], second[at]] = theta[at]
        out[second[at], first[at]] = theta[at]


@kernel
def symmetric(row: FloatArray, first: IndexArray, second: IndexArray, out: FloatArray) -> None:
    """Write the matrix G with ``row @ theta = <G, M>`` to `out`: entries off the diagonal count twice."""
    for at in range(first.size):
        share = 1.0 if first[at] == second[at] else 0.5
        out[first[at], second[at]] = share * row[at]
        out[second[at], first[at]] = share * row[at]


@kernel
def largest_eigenvalue(row: FloatArray, first: IndexArray, second: IndexArray) -> Any:
    """Compute the largest ``row @ theta`` over the semidefinite matrices of trace one.

    `row` (dimension,): finite numbers. `first`, `second` (dimension,): row and column of each entry of
    ``theta``, the upper triangle of the matrix.
    """
    n = first[-1] + 1
    matrix = np.empty((n, n))
    symmetric(row, first, second, matrix)
    return np.linalg.eigvalsh(matrix)[-1]


@kernel
def _above_eigenvalues(matrix: FloatArray) -> Any:
    """Bound the eigenvalues of a symmetric matrix from above by Gershgorin's theorem; never below zero."""
    largest = 0.0
    for i in range(matrix.shape[0]):
        largest = max(largest, matrix[i, i] - abs(matrix[i, i]) + np.abs(matrix[i]).sum())
    return largest


@kernel
def _scaling(
    inverse: FloatArray, dual: FloatArray, first: IndexArray, second: IndexArray, out: FloatArray
) -> None:
    """Write the lower half of ``X -> (inverse X dual + dual X inverse) / 2``, on triangles, to `out`."""
    for a in range(first.size):
        k, m = first[a], second[a]
        for b in range(a + 1):
            p, q = first[b], second[b]
            value = inverse[m, p] * dual[q, k] + dual[m, p] * inverse[q, k]
            if k != m:
                value += inverse[k, p] * dual[q, m] + dual[k, p] * inverse[q, m]
            if p != q:
                value += inverse[m, q] * dual[p, k] + dual[m, q] * inverse[p, k]
                if k != m:
                    value += inverse[k, q] * dual[p, m] + dual[k, q] * inverse[p, m]
            out[a, b] = 0.5 * value


@kernel
def _add_squares(rows: FloatArray, weight: FloatArray, out: FloatArray) -> None:
    """Add ``weight_i (row_i, -1) (row_i, -1)'`` for every row to the lower half of `out`."""
    size = rows.shape[1]
    out[size] = 0.0
    for i in range(rows.shape[0]):
        for a in range(size):
            part = weight[i] * rows[i, a]
            out[size, a] -= part
            for b in range(a + 1):
                out[a, b] += part * rows[i, b]
        out[size, size] += weight[i]


@kernel(fastmath={"reassoc", "contract"})
def activities(rows: FloatArray, theta: FloatArray, out: FloatArray) -> None:
    """Compute ``rows @ theta`` into `out`: for such sizes a call of BLAS would cost more."""
    for i in range(rows.shape[0]):
        value = 0.0
        for k in range(rows.shape[1]):
            value += rows[i, k] * theta[k]
        out[i] = value


@kernel
def combine(rows: FloatArray, multipliers: FloatArray, out: FloatArray) -> None:
    """Compute ``multipliers @ rows`` into `out`."""
    out[:] = 0.0
    for i in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            out[k] += multipliers[i] * rows[i, k]


@kernel
def _ratio(values: FloatArray, change: FloatArray, longest: float) -> Any:
    """Ratio test: the step, at most `longest`, at which positive values first reach zero."""
    for i in range(values.size):
        if values[i] + longest * change[i] < 0.0:
            longest = -values[i] / change[i]
    return longest


@kernel
def _solve_bordered(
    system: FloatArray, trace: FloatArray, lower: FloatArray, free: FloatArray, side: FloatArray
) -> Any:
    """Solve ``system @ x + y (trace, 0) = side`` and ``(trace, 0) @ x = 0``.

    `system` (size + 1, size + 1): symmetric and positive definite; its lower half. `trace` (size,). `lower`,
    `free`: room to work in, as large as `system` and `side`. `side` (size + 1,): the right side, and then x.
    Returns: y; infinite when the system is singular.
    """
    size = trace.size
    if factorise(system, lower):
        put(trace, free)
        free[size] = 0.0
        solve(lower, side)
        solve(lower, free)
        y = (side[:size] * trace).sum() / (free[:size] * trace).sum()
        side -= y * free
        return y
    # If rows nearly exclude each other, elimination with pivoting still finds the relevant part of x and y.
    whole, scale = np.zeros((size + 2, size + 2)), np.ones(size + 2)
    for i in range(size + 1):
        scale[i] = 1.0 / np.sqrt(system[i, i])
        for j in range(i + 1):
            whole[i, j] = whole[j, i] = scale[i] * scale[j] * system[i, j]
    right = np.zeros(size + 2)
    for i in range(size + 1):
        right[i] = scale[i] * side[i]
    for i in range(size):
        whole[i, size + 1] = whole[size + 1, i] = scale[i] * trace[i]
    try:
        solution = np.linalg.solve(whole, right)
    except Exception:  # singular; compiled code knows no narrower kind
        return np.inf
    for i in range(size + 1):
        side[i] = scale[i] * solution[i]
    return solution[size + 1]


@kernel
def widest_margin(
    rows: FloatArray,
    first: IndexArray,
    second: IndexArray,
    enough: float,
    proven: float,
    share: float = 0.5,
) -> Any:
    """Approximate the widest margin of `rows` by interior point steps until its sign is known.

    `rows` (rows, dimension). `first`, `second` (dimension,): row and column of each entry of ``theta``, the
    upper triangle of M. `enough`: stop at a margin above this that is at least a share of the widest.
    `proven`: stop when the widest margin is proven to be below this, and known up to a factor of two.
    `share`: the share; zero for any margin above `enough`. Returns (dimension,): a positive definite matrix
    of trace one. Returns (rows,): they sum to one.
    """
    many, size, n = rows.shape[0], rows.shape[1], first[-1] + 1
    trace = np.zeros(size)
    for at in range(size):
        trace[at] = 1.0 if first[at] == second[at] else 0.0
    theta, multipliers = trace / n, np.full(many, 1.0 / many)
    slack, move, shift = np.empty(many), np.empty(many), np.empty(many)
    ratio, target = np.empty(many), np.empty(many)
    combined, side, free = np.empty(size), np.empty(size + 1), np.empty(size + 1)
    primal, dual, inverse = np.empty((n, n)), np.empty((n, n)), np.empty((n, n))
    change, trial, factor = np.empty((n, n)), np.empty((n, n)), np.empty((n, n))
    system, lower = np.empty((size + 1, size + 1)), np.empty((size + 1, size + 1))
    activities(rows, theta, slack)
    t = slack.min() - _OFFSET
    slack -= t
    combine(rows, multipliers, combined)
    symmetric(combined, first, second, change)
    y = _above_eigenvalues(change) + _OFFSET
    centring = 0.2
    for _ in range(_MOST_STEPS):
        combine(rows, multipliers, combined)
        _full(theta, first, second, primal)
        symmetric(y * trace - combined, first, second, dual)
        gap = ((primal * dual).sum() + (slack * multipliers).sum()) / (n + many)
        if gap < _SMALLEST_GAP or not factorise(primal, factor):
            break
        invert(factor, inverse)
        mu = centring * gap
        for i in range(many):
            ratio[i] = multipliers[i] / slack[i]
            target[i] = mu / slack[i]
        _scaling(inverse, dual, first, second, system)
        _add_squares(rows, ratio, system)
        combine(rows, target, combined)
        for at in range(size):
            both = 1.0 if first[at] == second[at] else 2.0
            side[at] = combined[at] - y * trace[at] + mu * both * inverse[first[at], second[at]]
        side[size] = 1.0 - target.sum()
        raise_y = _solve_bordered(system, trace, lower, free, side)
        if not np.isfinite(raise_y):  # singular to rounding, so these steps get no nearer
            break
        activities(rows, side[:size], move)
        for i in range(many):
            move[i] -= side[size]
            shift[i] = target[i] - multipliers[i] - ratio[i] * move[i]
        _full(side[:size], first, second, change)
        longest = _ratio(slack, move, 1.0 / _DAMPING)
        forward = _DAMPING * room(primal, change, longest, trial, factor)
        combine(rows, shift, combined)
        symmetric(raise_y * trace - combined, first, second, change)
        longest = _ratio(multipliers, shift, 1.0 / _DAMPING)
        backward = _DAMPING * room(dual, change, longest, trial, factor)
        theta += forward * side[:size]
        t += forward * side[size]
        multipliers += backward * shift
        y += backward * raise_y
        activities(rows, theta, slack)
        slack -= t
        centring = 0.1 if min(forward, backward) > 0.5 else 0.5
        least = t + slack.min()
        if slack.min() <= 0.0 or multipliers.min() <= 0.0:
            break
        if (y <= proven and y <= _CLOSE * least) or (least > enough and share * y <= least):
            break
    return theta / (theta * trace).sum(), multipliers / multipliers.sum()
