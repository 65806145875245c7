"""Intervals of link rates, against statsmodels' formulas by hand and by their coverage."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from linkrisk.solver.measures.held_out import (
    independent_records,
    mean_interval,
    rate_interval,
    wilson,
)


def test_wilson_as_published():
    """R. G. Newcombe, Statistics in Medicine 17 (1998) 857-872, Table I, method 3: 81 of 263, 15 of 148."""
    assert wilson(81 / 263, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(15 / 148, 148) == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert wilson(0.0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert wilson(1 / 29, 29) == pytest.approx((0.0061, 0.1718), abs=5e-5)


@given(st.floats(0.0, 1.0), st.floats(1.0, 1e6))
def test_wilson_solves_its_equation(share, size):
    """Both ends are where the score test of `share` is just not rejected; shares are mirrored."""
    z = stats.norm.ppf(0.975)
    for end in wilson(share, size):
        if 1e-9 < end < 1.0 - 1e-9:
            assert (share - end) ** 2 == pytest.approx(z**2 * end * (1.0 - end) / size, rel=1e-6, abs=1e-12)
    low, high = wilson(1.0 - share, size)
    assert (1.0 - high, 1.0 - low) == pytest.approx(wilson(share, size), abs=1e-9)


def test_one_split_has_the_interval_of_wilson():
    assert rate_interval(np.array([0.3]), 50.0) == wilson(0.3, 50.0)


@pytest.mark.parametrize("rate", [0.0, 0.4, 1.0])
def test_splits_that_agree_say_no_more_than_their_records(rate):
    assert rate_interval(np.full(5, rate), 80.0) == wilson(rate, 80.0)


def test_splits_that_differ_widen_it():
    low, high = rate_interval(np.array([0.1, 0.5, 0.3]), 1e9)
    student = mean_interval(np.array([0.1, 0.5, 0.3]))
    assert 0.0 < low < 0.3 < high < 1.0
    # A score interval of so few records is narrower than Student's, which leaves the shares there are.
    assert high - low < student[1] - student[0]


def test_it_covers_the_mean_of_all_splits():
    """Links of a fixed file in random halves: the mean over all halves is its share of linked records."""
    random, missed = np.random.default_rng(1), 0
    linked = np.arange(200) < 30
    for _ in range(400):
        rates = np.array([linked[random.permutation(200)[:100]].mean() for _ in range(5)])
        low, high = rate_interval(rates, 200.0 * (1.0 - 0.5**5))
        missed += not low <= 0.15 <= high
    assert missed <= 20


def test_differences_within_splits():
    """scipy's test of paired samples has the same interval."""
    first, second = np.array([0.5, 0.7, 0.6, 0.9]), np.array([0.4, 0.4, 0.5, 0.6])
    found = stats.ttest_rel(first, second).confidence_interval(0.95)
    assert mean_interval(first - second) == pytest.approx((found.low, found.high))
    assert mean_interval(np.array([0.2])) is None


def test_unequal_weights_say_less():
    assert independent_records(np.ones(7)) == pytest.approx(7.0)
    assert independent_records(np.array([3.0, 1.0])) == pytest.approx(1.6)
