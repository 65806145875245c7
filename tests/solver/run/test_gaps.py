"""What is said of a bound: the truth, also where there is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.solver.run.gaps import NO_BOUND, gap, has_bound, no_less


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
