"""Small positive definite matrices: the compiled routines agree with LAPACK."""

from __future__ import annotations

import numpy as np
import pytest

from linkrisk.solver.engines.exact.spectrahedron_margin import factorise, invert, room, solve

sizes = pytest.mark.parametrize("n", [1, 2, 5, 13])


def definite(seed, n):
    parts = np.random.default_rng(seed).normal(size=(n + 2, n))
    return parts.T @ parts


def symmetric(seed, n):
    parts = np.random.default_rng(seed).normal(size=(n, n))
    return parts + parts.T


@sizes
def test_systems_and_inverses_agree_with_lapack(n):
    matrix, right = definite(1, n), np.random.default_rng(2).normal(size=n)
    factor, inverse, x = np.zeros((n, n)), np.empty((n, n)), right.copy()
    assert factorise(matrix, factor)
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(matrix), rtol=1e-10)
    solve(factor, x)
    np.testing.assert_allclose(matrix @ x, right, atol=1e-10)
    invert(factor, inverse)
    np.testing.assert_allclose(inverse @ matrix, np.eye(n), atol=1e-9)


def test_only_the_lower_half_is_read():
    matrix = definite(3, 4)
    halves, factor = np.zeros((2, 4, 4))
    assert factorise(matrix, halves)
    assert factorise(np.tril(matrix) + np.triu(np.full((4, 4), np.nan), 1), factor)
    np.testing.assert_array_equal(factor, halves)


@pytest.mark.parametrize(
    "matrix", [[[0.0]], [[-1.0]], [[np.nan]], [[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]]
)
def test_a_matrix_that_is_not_definite_has_no_factor(matrix):
    matrix = np.array(matrix)
    assert not factorise(matrix, np.empty_like(matrix))


@sizes
@pytest.mark.parametrize("seed", range(8))
def test_the_room_is_inside_and_not_much_too_short(n, seed):
    matrix, change = definite(seed, n), 3.0 * symmetric(seed + 100, n)
    length = room(matrix, change, 1.0, np.empty((n, n)), np.empty((n, n)))
    assert np.linalg.eigvalsh(matrix + length * change)[0] > 0.0
    longer = matrix + length / 0.84 * change
    assert length == 1.0 or np.linalg.eigvalsh(longer)[0] < 0.0
