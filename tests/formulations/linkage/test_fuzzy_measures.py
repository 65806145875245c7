"""Fuzzy measures: definitions by brute force, published examples, identities, what is refused."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from aggregator_cases import brute_interaction, brute_shapley, random_fuzzy_measure, random_set_function
from brute_force import choquet
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refusal

from linkrisk.formulations.linkage import fuzzy_measures as measures

# Definitions, by brute force


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_indices_equal_their_definitions(n):
    measure = random_set_function(n, n)
    np.testing.assert_allclose(measures.shapley_values(measure), brute_shapley(measure, n), atol=1e-13)
    np.testing.assert_allclose(
        measures.interaction_indices(measure), brute_interaction(measure, n), atol=1e-13
    )


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 6), st.booleans())
def test_choquet_equals_the_area_definition(seed, n, with_ties):
    rng = np.random.default_rng(seed)
    measure = random_fuzzy_measure(seed, n)
    values = rng.integers(0, 3, size=(4, n)).astype(float) if with_ties else rng.exponential(size=(4, n))
    sets = {frozenset(k for k in range(n) if at >> k & 1): value for at, value in enumerate(measure)}
    expected = [choquet(row, sets) for row in values]
    np.testing.assert_allclose(measures.choquet_integral(values, measure), expected, atol=1e-12)
    np.testing.assert_allclose(
        measures.choquet_from_moebius(values, measures.moebius(measure)), expected, atol=1e-12
    )


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


# Published examples

STUDENTS = ["mathematics", "physics", "literature"]
MARKS = {
    "mathematics": 0.45,
    "physics": 0.45,
    "mathematics,physics": 0.5,
    "literature": 0.3,
    "mathematics,literature": 0.9,
    "physics,literature": 0.9,
    "mathematics,physics,literature": 1.0,
}

# R kappalab lists subsets by size, then lexicographically: {}, 1, 2, 3, 4, 12, 13, 14, 23, 24, 34, 123, ...
KAPPALAB_ORDER = [sum(1 << k for k in subset) for size in range(5) for subset in combinations(range(4), size)]


def from_kappalab(values):
    measure = np.zeros(16)
    measure[KAPPALAB_ORDER] = np.asarray(values, dtype=np.float64)
    return measure


def test_grabisch_students():
    """M. Grabisch, EJOR 89 (1996) 445-456: marks of three students, scientific and literary."""
    mu = measures.measure_from_names(MARKS, STUDENTS)
    marks = [[18, 16, 10], [10, 12, 18], [14, 15, 15]]
    np.testing.assert_allclose(measures.choquet_integral(marks, mu), [13.9, 13.6, 14.9], rtol=1e-14)
    np.testing.assert_allclose(
        measures.choquet_from_moebius(marks, measures.moebius(mu)), [13.9, 13.6, 14.9], rtol=1e-14
    )
    # By hand from the definitions; mathematics and physics are redundant, each complements literature.
    np.testing.assert_allclose(measures.shapley_values(mu), np.array([3.5, 3.5, 5.0]) / 12, rtol=1e-14)
    np.testing.assert_allclose(
        measures.interaction_indices(mu), [[0, -0.45, 0.1], [-0.45, 0, 0.1], [0.1, 0.1, 0]], atol=1e-15
    )
    assert measures.orness(mu) == pytest.approx(7 / 12)


def test_kappalab_choquet_shapley_orness():
    """R kappalab 0.4-12, examples of Choquet.integral and Shapley.value: capacity(c(0:13/13, 1, 1))."""
    mu = from_kappalab([*np.arange(14) / 13, 1, 1])
    f = [0.1, 0.9, 0.3, 0.8]
    assert measures.choquet_integral(f, mu) == pytest.approx(0.6615384615, abs=1e-10)
    assert measures.choquet_integral(f, measures.symmetric_measure([0.25] * 4)) == pytest.approx(0.525)
    np.testing.assert_allclose(
        measures.shapley_values(mu), [0.1346153846, 0.2115384615, 0.2884615385, 0.3653846154], atol=1e-10
    )
    assert measures.orness(mu) == pytest.approx(0.5705128205, abs=1e-10)
    np.testing.assert_allclose(
        measures.dual_measure(mu)[KAPPALAB_ORDER], np.array([0, 0, 0, *range(1, 14)]) / 13, atol=1e-15
    )


def test_kappalab_interaction_indices():
    """R kappalab 0.4-12, example of interaction.indices: set.func(c(-7:6, 6, 6)), not 0 on the empty set."""
    index = measures.interaction_indices(from_kappalab([*range(-7, 7), 6, 6]))
    expected = np.full((4, 4), -5 / 6)
    expected[0] = expected[:, 0] = -1 / 3
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(index, expected, atol=1e-14)


@pytest.mark.parametrize(
    ("values", "transform"),
    [
        (range(16), [0, 1, 2, 3, 4, 2, 2, 2, 3, 3, 3, -2, -2, -2, -4, 0]),
        ([0, 0, *range(14)], [0, 0, 0, 1, 2, 3, 3, 3, 5, 5, 5, -3, -3, -3, -6, 1]),
        ([0, *range(-7, 8)], [0, -7, -6, -5, -4, 10, 10, 10, 11, 11, 11, -10, -10, -10, -12, 8]),
    ],
)
def test_kappalab_moebius(values, transform):
    """R kappalab 0.4-12, examples of Mobius, Mobius.capacity and conjugate."""
    np.testing.assert_array_equal(measures.moebius(from_kappalab(values))[KAPPALAB_ORDER], transform)


# Names


def test_names_round_trip_in_any_key_order():
    assert measures.subset_names(["b", "a", "c"]) == ["b", "a", "b,a", "c", "b,c", "a,c", "b,a,c"]
    mu = measures.measure_from_names(dict(reversed(MARKS.items())), STUDENTS)
    assert measures.measure_to_names(mu, STUDENTS) == MARKS
    assert list(measures.measure_to_names(mu, STUDENTS)) == list(MARKS)
    # A comma in a name is fine while names stay distinct.
    names = ["income, gross", "age"]
    mu = measures.measure_from_names({"income, gross": 0.5, "age": 0.2, "income, gross,age": 1}, names)
    np.testing.assert_array_equal(mu, [0, 0.5, 0.2, 1])


# What is refused


BENT, HALVES = [0, 0.2, 0.3, 0.4, 0.1, 0.15, 0.6, 1], [0, 0.5, 0.5, 1]
BENDS = "the fuzzy measure is not monotone: subset"


def from_names(values):
    return measures.measure_from_names(values, ["a", "b"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: measures.moebius([0, 1, 1]), "a set function has shape (3,): give one value per subset,"),
        (lambda: measures.interaction_indices([0, np.nan, 0, 1]), "a set function has the value nan at"),
        (lambda: measures.check_fuzzy_measure([0.1, 1]), "the fuzzy measure is 0.1 on the empty set: it"),
        (lambda: measures.check_fuzzy_measure([0, 0.9]), "the fuzzy measure is 0.9 on the whole set: it"),
        (lambda: measures.check_fuzzy_measure(BENT), f"{BENDS} '0,2' has 0.15, less than its part '0' with"),
        (lambda: measures.check_fuzzy_measure(BENT, "abc"), f"{BENDS} 'a,c' has 0.15, less than its part"),
        (lambda: measures.additive_measure([0.5, 0.6]), "weights have minimum 0.5 and sum 1.1: they must"),
        (lambda: measures.symmetric_measure([1.5, -0.5]), "weights have minimum -0.5 and sum 1: they must"),
        (lambda: measures.symmetric_measure([]), "weights have shape (0,): give one weight per attribute,"),
        (lambda: measures.choquet_integral([[1, 2, 3]], HALVES), "values of shape (1, 3) cannot be"),
        (lambda: measures.orness([0, 1]), "orness of a measure on 1 attribute is undefined: give at least"),
        (lambda: measures.subset_names([]), "a fuzzy measure has no attributes: give at least one"),
        (lambda: measures.subset_names(["a", "b", "a,b"]), "two subsets of attributes are both named"),
        (lambda: from_names({"a": 0.5, "b": 0.5}), "the fuzzy measure has no value for subset 'a,b': give"),
        (lambda: from_names({"a": 0, "b": 0, "a,b": 1, "b,a": 1}), "the fuzzy measure names subset 'b,a':"),
        (lambda: from_names({"a": "half", "b": 0.5, "a,b": 1}), "the fuzzy measure of subset 'a' is 'half':"),
        (lambda: measures.measure_to_names(HALVES, ["a"]), "a measure on 2 attributes cannot take"),
    ],
)
def test_bad_input(call, message):
    assert refusal(call).startswith(message)
