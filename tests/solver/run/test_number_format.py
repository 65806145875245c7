"""Shares and gaps in per cent: nothing looks like 0, 100 or a bound that is not."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.solver.run.number_format import (
    NO_BOUND,
    confident,
    gap,
    has_bound,
    no_less,
    percent,
    two_digits,
    with_confidence,
)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0.0 %"),
        (-0.0, "0.0 %"),
        (1.0, "100.0 %"),
        (0.5, "50.0 %"),
        (0.0005, "0.1 %"),
        (0.0004, "0.04 %"),
        (0.9996, "99.96 %"),
        (3e-7, "0.00003 %"),
        (1e-9, "< 0.00001 %"),
        (1.0 - 1e-9, "> 99.99999 %"),
        (-1e-9, "> -0.00001 %"),
        (-0.0004, "-0.04 %"),
        (-1.0 + 1e-9, "< -99.99999 %"),
        (-1.0, "-100.0 %"),
        (0.1 + 0.2 + 0.7, "100.0 %"),
        (1.0 - 1e-16, "100.0 %"),
        (-1e-16, "0.0 %"),
        (1.25, "125.0 %"),
    ],
)
def test_by_hand(share, text):
    assert percent(share) == text


@given(st.floats(1e-12, 1.0 - 1e-11, exclude_max=True))
def test_a_share_between_never_looks_like_an_end(share):
    sign, number = re.fullmatch(r"([<>] )?([\d.]+) %", percent(share)).groups()
    assert sign or float(number) not in (0.0, 100.0)
    bounds = {None: abs(100.0 * share - float(number)) <= 0.05, "< ": share < 1e-7, "> ": share > 1.0 - 1e-7}
    assert bounds[sign]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (9e-11, "0.0001"),
        (0.00012, "0.00012"),
        (1.66, "1.7"),
        (45.2, "45"),
        (99.4, "99"),
        (99.999, "99.9"),
        (100.0, "100"),
        (250.0, "250"),
    ],
)
def test_two_digits_without_an_exponent(value, text):
    assert two_digits(value) == text


@pytest.mark.parametrize(
    ("confidence", "text"), [(0.95, "95 %"), (0.57, "57 %"), (0.999, "99.9 %"), (0.999999, "99.9999 %")]
)
def test_how_sure_a_limit_is(confidence, text):
    assert confident(confidence) == f"{text} confidence"
    assert with_confidence(confidence) == f", with {text} confidence"
    assert with_confidence(None) == ""


@given(st.floats(1e-9, 1e15))
def test_a_bound_of_nothing_has_no_gap_that_is_almost_all(cost):
    assert not has_bound(cost, 0.0)
    assert no_less("none costs less than", cost, 0.0, "0") == NO_BOUND


@pytest.mark.parametrize(
    ("cost", "bound", "said"),
    [
        (69.0, 60.0, "none costs less than 60, a gap of 13 %"),
        (1e9, 500.0, "none costs less than 500, a gap of 99.9 %"),
        (69.0, 1e-7, NO_BOUND),  # which would be written as 0
        (1e-8, 5e-9, "none costs less than 5e-09, a gap of 50 %"),
    ],
)
def test_what_is_said_of_a_bound(cost, bound, said):
    assert no_less("none costs less than", cost, bound, f"{bound:g}") == said


def test_of_no_cost_nothing_is_missing():
    assert gap(0.0, 0.0) == 0.0
    assert has_bound(0.0, 0.0)
