"""Fewer rows for the same combination: exactness, size, and which rows are left out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.solver.engines.exact.cores import few_multipliers, null_vector


@given(st.integers(0, 10_000), st.integers(1, 8), st.booleans())
def test_a_null_vector(seed, rows, dependent):
    random = np.random.default_rng(seed)
    matrix = random.uniform(-1, 1, size=(rows, rows + 1))
    if dependent and rows > 1:
        matrix[-1] = matrix[0]
    z = null_vector(matrix.copy())
    assert np.abs(z).max() >= 1.0
    assert np.abs(matrix @ z).max() <= 1e-9 * np.abs(z).max()


@given(st.integers(0, 10_000), st.integers(1, 7), st.integers(1, 40), st.booleans())
def test_the_same_combination_from_few_rows(seed, dimension, many, alike):
    random = np.random.default_rng(seed)
    values = random.normal(size=(many, dimension))
    values /= np.linalg.norm(values, axis=1)[:, None]
    if alike:
        values = values[random.integers(0, max(1, many // 3), size=many)]
    multipliers = random.dirichlet(np.ones(many)) + 1e-9
    cost = random.uniform(size=many)
    few = few_multipliers(values, multipliers, cost)
    assert (few >= 0.0).all()
    assert np.count_nonzero(few) <= max(dimension + 1, 1)
    np.testing.assert_allclose(few @ values, multipliers @ values, atol=1e-9)
    assert few.sum() == pytest.approx(multipliers.sum())
    assert few @ cost <= multipliers @ cost + 1e-9


def test_rows_that_cost_more_go_first():
    values = np.array([[1.0], [1.0], [1.0], [-1.0]])
    few = few_multipliers(values, np.full(4, 0.25), np.array([3.0, 1.0, 2.0, 0.0]))
    assert few.tolist() == [0.0, 0.75, 0.0, 0.25]


def test_few_rows_stay_as_they_are():
    values, multipliers = np.eye(3), np.array([0.2, 0.3, 0.5])
    assert few_multipliers(values, multipliers, np.zeros(3)).tolist() == multipliers.tolist()
