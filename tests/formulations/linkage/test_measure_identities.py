"""Fuzzy measures: the definitions by brute force, and identities."""

from __future__ import annotations

import numpy as np
import pytest
from aggregator_cases import (
    brute_choquet,
    brute_interaction,
    brute_shapley,
    random_fuzzy_measure,
    random_set_function,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.formulations.linkage import fuzzy_measures as measures

# Definitions, by brute force


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_indices_equal_their_definitions(n):
    measure = random_set_function(n, n)
    np.testing.assert_allclose(measures.shapley_values(measure), brute_shapley(measure, n), atol=1e-13)
    np.testing.assert_allclose(
        measures.interaction_indices(measure), brute_interaction(measure, n), atol=1e-13
    )


@pytest.mark.parametrize("n", [1, 2, 4])
def test_moebius_equals_its_definition(n):
    measure = random_set_function(n, n)
    expected = [
        sum((-1) ** (a ^ b).bit_count() * measure[b] for b in range(1 << n) if a & b == b)
        for a in range(1 << n)
    ]
    np.testing.assert_allclose(measures.moebius(measure), expected, atol=1e-13)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 6), st.booleans())
def test_choquet_equals_the_area_definition(seed, n, with_ties):
    rng = np.random.default_rng(seed)
    measure = random_fuzzy_measure(seed, n)
    values = rng.integers(0, 3, size=(4, n)).astype(float) if with_ties else rng.exponential(size=(4, n))
    expected = [brute_choquet(row, measure) for row in values]
    np.testing.assert_allclose(measures.choquet_integral(values, measure), expected, atol=1e-12)
    np.testing.assert_allclose(
        measures.choquet_from_moebius(values, measures.moebius(measure)), expected, atol=1e-12
    )


def test_orness_is_the_mean_position_of_uniform_values_between_minimum_and_maximum():
    """E[C(x)] for independent uniform x is E[min] + orness (E[max] - E[min])."""
    n, measure = 3, random_fuzzy_measure(3, 3)
    axis = (np.arange(60) + 0.5) / 60
    grid = np.stack(np.meshgrid(*[axis] * n), axis=-1)
    low, mean, high = (
        x.mean() for x in (grid.min(axis=-1), measures.choquet_integral(grid, measure), grid.max(axis=-1))
    )
    assert measures.orness(measure) == pytest.approx((mean - low) / (high - low), abs=1e-3)


# Identities


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 8))
def test_transforms_and_indices_agree(seed, n):
    measure = random_fuzzy_measure(seed, n)
    np.testing.assert_allclose(measures.zeta(measures.moebius(measure)), measure, atol=1e-12)
    np.testing.assert_allclose(measures.moebius(measures.zeta(measure)), measure, atol=1e-12)
    assert measures.shapley_values(measure).sum() == pytest.approx(1.0)
    index = measures.interaction_indices(measure)
    np.testing.assert_array_equal(index, index.T)
    assert np.abs(index).max() <= 1 + 1e-9
    assert measures.is_monotone(measure)
    measures.check_fuzzy_measure(measure)
    dual = measures.dual_measure(measure)
    np.testing.assert_allclose(measures.dual_measure(dual), measure, atol=1e-12)
    np.testing.assert_allclose(measures.shapley_values(dual), measures.shapley_values(measure), atol=1e-12)
    if n > 1:
        assert measures.orness(dual) == pytest.approx(1 - measures.orness(measure))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 7))
def test_choquet_is_an_aggregation(seed, n):
    rng = np.random.default_rng(seed)
    measure, values = random_fuzzy_measure(seed, n), rng.normal(size=(3, 2, n))
    out = measures.choquet_integral(values, measure)
    assert out.shape == (3, 2)
    assert (out >= values.min(axis=-1) - 1e-12).all()
    assert (out <= values.max(axis=-1) + 1e-12).all()
    np.testing.assert_allclose(
        measures.choquet_integral(2.5 * values + 7, measure), 2.5 * out + 7, atol=1e-11
    )
    np.testing.assert_allclose(
        measures.choquet_integral(-values, measures.dual_measure(measure)), -out, atol=1e-11
    )
    np.testing.assert_allclose(
        measures.choquet_from_moebius(values, measures.moebius(measure)), out, atol=1e-11
    )


@pytest.mark.parametrize("n", [1, 3, 6])
def test_additive_measure_is_the_weighted_mean(n):
    rng = np.random.default_rng(n)
    weights, values = rng.dirichlet(np.ones(n)), rng.exponential(size=(5, n))
    measure = measures.additive_measure(weights)
    np.testing.assert_allclose(measures.choquet_integral(values, measure), values @ weights)
    np.testing.assert_allclose(measures.shapley_values(measure), weights)
    np.testing.assert_allclose(measures.interaction_indices(measure), np.zeros((n, n)), atol=1e-14)
    assert measures.k_additivity(measure) == 1
    if n > 1:
        assert measures.orness(measure) == pytest.approx(0.5)


@pytest.mark.parametrize("n", [2, 3, 6])
def test_symmetric_measure_is_the_owa(n):
    rng = np.random.default_rng(n)
    weights, values = rng.dirichlet(np.ones(n)), rng.exponential(size=(5, n))
    measure = measures.symmetric_measure(weights)
    largest_first = np.sort(values, axis=-1)[:, ::-1]
    np.testing.assert_allclose(measures.choquet_integral(values, measure), largest_first @ weights)
    np.testing.assert_allclose(measures.shapley_values(measure), np.full(n, 1 / n))
    assert measures.orness(measure) == pytest.approx(weights @ (n - 1 - np.arange(n)) / (n - 1))


def test_k_additivity_is_the_order_of_the_largest_interaction():
    transform = np.zeros(16)
    transform[[1, 2, 4, 8]] = 0.2
    transform[0b0011] = 0.2
    assert measures.k_additivity(measures.zeta(transform)) == 2
    transform[0b1011] = 1e-6
    assert measures.k_additivity(measures.zeta(transform)) == 3
    assert measures.k_additivity(measures.zeta(transform), tolerance=1e-5) == 2
    assert measures.k_additivity(np.zeros(4)) == 0


def test_is_monotone_sees_every_edge_of_the_lattice():
    n = 3
    base = measures.additive_measure([1 / n] * n)
    for mask in range(1 << n):
        for k in range(n):
            if not mask >> k & 1:
                bent = base.copy()
                bent[mask] = bent[mask | 1 << k] + 1e-3
                assert not measures.is_monotone(bent)
                assert measures.is_monotone(bent, tolerance=1.0)


def test_subset_minima_in_chunks_and_without_rows():
    values = np.array([[3.0, 1.0, 2.0]])
    np.testing.assert_array_equal(measures.subset_minima(values), [[0, 3, 1, 1, 2, 2, 1, 1]])
    n = 21  # two rows at a time
    transform = np.zeros(1 << n)
    transform[1 << np.arange(n)] = 1 / n
    many = np.random.default_rng(0).normal(size=(5, n))
    np.testing.assert_allclose(measures.choquet_from_moebius(many, transform), many.mean(axis=1))
    assert measures.choquet_from_moebius(np.empty((0, 2)), [0, 0.5, 0.5, 0]).shape == (0,)
    assert measures.choquet_integral(np.empty((0, 2)), [0, 0.5, 0.5, 1]).shape == (0,)


def test_twenty_attributes():
    measure = measures.symmetric_measure(np.full(20, 0.05))
    np.testing.assert_allclose(measures.shapley_values(measure), np.full(20, 0.05))
    assert measures.is_monotone(measure)


def test_arguments_are_left_untouched():
    measure = measures.additive_measure([0.25, 0.75])
    copy = measure.copy()
    for function in (measures.moebius, measures.zeta, measures.dual_measure, measures.shapley_values):
        function(measure)
    np.testing.assert_array_equal(measure, copy)
