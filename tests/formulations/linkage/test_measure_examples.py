"""Fuzzy measures: published examples to the digit, and the names of subsets."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from linkrisk.formulations.linkage import fuzzy_measures as measures

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


# Published examples


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


def test_kappalab_upper_capacity():
    """R kappalab 0.4-12, examples of Shapley.value and orness: 1 on every non-empty subset is the maximum."""
    upper = np.ones(64)
    upper[0] = 0
    np.testing.assert_allclose(measures.shapley_values(upper), np.full(6, 1 / 6))
    assert measures.orness(upper) == 1.0
    assert measures.choquet_integral([0.1, 0.1, 0, 0.9, 0.2, 0.3], upper) == pytest.approx(0.9)


# Names


def test_names_follow_the_file_order_by_bitmask():
    assert measures.subset_names(["b", "a", "c"]) == ["b", "a", "b,a", "c", "b,c", "a,c", "b,a,c"]


def test_names_round_trip_in_any_key_order():
    mu = measures.measure_from_names(dict(reversed(MARKS.items())), STUDENTS)
    assert measures.measure_to_names(mu, STUDENTS) == MARKS
    assert list(measures.measure_to_names(mu, STUDENTS)) == list(MARKS)


def test_a_comma_in_a_name_is_fine_while_names_stay_distinct():
    names = ["income, gross", "age"]
    mu = measures.measure_from_names({"income, gross": 0.5, "age": 0.2, "income, gross,age": 1}, names)
    np.testing.assert_array_equal(mu, [0, 0.5, 0.2, 1])
