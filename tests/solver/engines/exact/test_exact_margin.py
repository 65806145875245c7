"""The widest margin over semidefinite matrices: its two sides enclose what independent means find."""

from __future__ import annotations

import brute_optimum
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from linkrisk.solver.engines.exact.spectrahedron_margin import largest_eigenvalue, widest_margin

NEVER = np.inf


def matrix_of(theta, n):
    matrix = np.zeros((n, n))
    matrix[np.triu_indices(n)] = theta
    return matrix + np.triu(matrix, 1).T


def some_rows(seed, many, n):
    rows = np.random.default_rng(seed).normal(size=(many, n * (n + 1) // 2))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def solved(rows, n, enough=NEVER, proven=-NEVER):
    """Margin of the matrix, and the bound of the multipliers."""
    first, second = np.triu_indices(n)
    theta, multipliers = widest_margin(rows, first, second, enough, proven)
    matrix = matrix_of(theta, n)
    assert np.linalg.eigvalsh(matrix)[0] >= -1e-15
    assert np.trace(matrix) == pytest.approx(1.0)
    assert (multipliers >= 0.0).all()
    assert multipliers.sum() == pytest.approx(1.0)
    return (rows @ theta).min(), largest_eigenvalue(multipliers @ rows, first, second)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_the_largest_value_of_a_row_is_attained_by_an_eigenvector(n, seed):
    row = np.random.default_rng(seed).normal(size=n * (n + 1) // 2)
    first, second = np.triu_indices(n)
    largest = largest_eigenvalue(row, first, second)
    family = brute_optimum.bilinear_family(n)
    vectors = np.random.default_rng(1).normal(size=(400, n))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    values = [row @ (v[first] * v[second]) for v in vectors]
    assert max(values) <= largest + 1e-12
    if n <= 2:
        assert max(values) == pytest.approx(largest, abs=1e-3)
    assert family.equal @ np.outer(vectors[0], vectors[0])[first, second] == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("many", [1, 2, 6, 20])
@pytest.mark.parametrize("n", [2, 3, 5])
def test_matrix_and_multipliers_meet(n, many, seed):
    """Any matrix is a lower bound and any multipliers are an upper bound: where they meet is the optimum."""
    margin, bound = solved(some_rows(seed, many, n), n)
    assert margin <= bound + 1e-12
    assert bound - margin <= 1e-6


@pytest.mark.parametrize("seed", range(10))
def test_two_rows_agree_with_a_search_over_their_multipliers(seed):
    """The largest eigenvalue is convex in the multipliers, so a search over one share finds the optimum."""
    rows = some_rows(seed, 2, 3)
    first, second = np.triu_indices(3)
    answer = minimize_scalar(
        lambda share: largest_eigenvalue(share * rows[0] + (1.0 - share) * rows[1], first, second),
        bounds=(0.0, 1.0),
        method="bounded",
        options={"xatol": 1e-10},
    )
    margin, bound = solved(rows, 3)
    assert margin == pytest.approx(answer.fun, abs=1e-6)
    assert bound == pytest.approx(answer.fun, abs=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_no_sampled_matrix_has_a_wider_margin(seed):
    n = 3
    rows = some_rows(seed, 5, n)
    _, bound = solved(rows, n)
    factors = np.random.default_rng(seed).normal(size=(2000, n, n)) * np.array([1.0, 0.3, 0.03])
    matrices = factors @ factors.transpose(0, 2, 1)
    matrices /= np.trace(matrices, axis1=1, axis2=2)[:, None, None]
    points = matrices[:, *np.triu_indices(n)]
    assert (points @ rows.T).min(axis=1).max() <= bound + 1e-12


@pytest.mark.parametrize("seed", range(8))
def test_it_stops_once_the_sign_is_known(seed):
    rows = some_rows(seed, 8, 3)
    margin, bound = solved(rows, 3, 1e-9, -2e-14)
    widest, _ = solved(rows, 3)
    if widest > 1e-6:
        assert margin > 1e-9
        assert margin >= 0.25 * widest
    elif widest < -1e-6:
        assert bound < -1e-14


@pytest.mark.parametrize("touch", [0.0, 1e-13, 1e-11, 1e-9, 1e-7])
def test_rows_that_all_but_exclude_each_other(touch):
    """Opposite rows less a little: the margin is zero less that, and no multipliers may claim more."""
    row = some_rows(3, 1, 3)[0]
    unit = np.equal(*np.triu_indices(3)).astype(float)
    rows = np.array([row - touch * unit, -row - touch * unit])
    margin, bound = solved(rows, 3, 1e-9, -2e-14)
    assert margin <= -touch + 1e-15
    assert bound >= -touch - 1e-15
