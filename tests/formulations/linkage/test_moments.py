"""Means and deviations: correctly rounded, by the engine's code and by the verifier's, bit for bit."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.distances import Standardisation, moments, rounded_root, standardise
from linkrisk.solver.certificates.checking.record_arrays import FastRecords, fast_moments
from linkrisk.solver.certificates.checking.record_arrays import rounded_root as fast_root
from linkrisk.solver.certificates.core import records as verifier
from linkrisk.solver.certificates.core.claims import Problem

thorough = settings(derandomize=True, max_examples=100, deadline=None)
usual = st.floats(-1e150, 1e150)
near_a_large_one = st.integers(-40, 40).map(lambda k: 1e15 + 0.125 * k)
tiny = st.floats(-1e-300, 1e-300)
columns = st.one_of(
    *(
        st.lists(kind, min_size=2, max_size=40)
        for kind in (usual, near_a_large_one, tiny, st.floats(-3, 3), st.sampled_from([2000.0, 2010.0, 1e-9]))
    ),
    st.lists(st.one_of(usual, tiny, near_a_large_one), min_size=2, max_size=12),
)


def verifiers_root(square):
    return fast_root(square.numerator, square.denominator)


def is_nearest_root(root, square):
    """Whether no double is nearer to the square root, by a hundred times the digits of a double."""
    with localcontext() as context:
        context.prec = 1200
        exact = (Decimal(square.numerator) / Decimal(square.denominator)).sqrt()
        distance = abs(Decimal(root) - exact)
        beside = (math.nextafter(root, 0.0), math.nextafter(root, math.inf))
        return all(distance <= abs(Decimal(other) - exact) for other in beside)


@thorough
@given(columns)
def test_both_sides_round_the_exact_moments_alike(column):
    exact = [Fraction(value) for value in column]
    mean = sum(exact) / len(exact)
    variance = sum((value - mean) ** 2 for value in exact) / (len(exact) - 1)
    here = moments(np.array(column)[:, None])
    there = verifier.moments(column)
    assert (here[0][0], here[1][0]) == there == fast_moments(np.array(column))
    assert there[0] == float(mean)
    assert is_nearest_root(there[1], variance)


@pytest.mark.parametrize("spread", [0.0, 40.0, 200.0])
def test_long_columns_of_mixed_size(spread):
    random = np.random.default_rng(3)
    values = random.normal(size=(20_000, 2)) * np.exp(spread * random.normal(size=(20_000, 2)).clip(-1, 1))
    mean, deviation = moments(values)
    for k, column in enumerate(values.T):
        assert (mean[k], deviation[k]) == verifier.moments(column.tolist()) == fast_moments(column)
    if spread == 0.0:
        np.testing.assert_allclose(mean, values.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(deviation, values.std(axis=0, ddof=1), rtol=1e-12)


@thorough
@given(st.integers(1, 2**70), st.integers(1, 2**70), st.integers(-1000, 1000))
def test_roots_round_alike(numerator, denominator, power):
    square = Fraction(numerator, denominator) * Fraction(2) ** power
    assert rounded_root(square) == verifiers_root(square)


@pytest.mark.parametrize("large", [2.0**53, -(2.0**53), 2.0**54])
def test_a_deviation_in_the_middle_of_two_doubles_goes_to_the_even_one(large):
    """The deviation of three equidistant numbers is their distance: one with 54 bits here."""
    small = -math.copysign(abs(large) - 1 - (abs(large) > 2**53), large)
    column = [small, (large + small) / 2, large]
    distance = abs(Fraction(large) - Fraction(small)) / 2
    here = moments(np.array(column)[:, None])
    assert here[1][0] == verifier.moments(column)[1] == float(distance)


@pytest.mark.parametrize("root", [rounded_root, verifiers_root])
def test_roots_at_the_ends_of_doubles(root):
    assert root(Fraction(0)) == 0.0
    assert root(Fraction(10) ** 700) == math.inf
    assert root(Fraction(1.7e308) ** 2) == 1.7e308
    assert root(Fraction(5e-324) ** 2) == 5e-324
    assert root(Fraction(5e-324) ** 2 / 16) == 0.0


@pytest.mark.parametrize("how", ["own", "original", "pooled"])
@pytest.mark.parametrize("offset", [0.0, 1e9, 1e15])
def test_standardised_values_are_the_same_on_both_sides(how, offset):
    random = np.random.default_rng(1)
    original, masked = (offset + random.normal(size=(30, 3)) * scale for scale in (2.0, 3.0))
    here = standardise(original, masked, Standardisation(how))
    chosen = ("weighted-mean", "original-to-masked", "strict", how, "squared", "nearest")
    files = verifier.Files(original.T.tolist(), masked.T.tolist(), range(30))
    for kind in (verifier.Records, FastRecords):
        there = kind(files, Problem(*chosen, list("ABC"), {})).attributes
        for k, one in enumerate(there):
            for values, own in zip((here[0], here[1]), (one.queries, one.candidates), strict=True):
                np.testing.assert_array_equal(values[:, k], own)
        np.testing.assert_array_equal(here[2], [one.offset for one in there])


@pytest.mark.parametrize("values", [[0.0, 5e-324] + [0.0] * 20, [-1.7e308, 1.7e308]])
def test_a_deviation_beyond_doubles_is_refused(values):
    column = np.array(values)[:, None]
    with pytest.raises(FormulationError, match="attribute 1 has a standard deviation outside"):
        standardise(column, column)
