"""Names of categories in order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.datasets.microdata.values import in_natural_order, in_order


@pytest.mark.parametrize(
    "names",
    [
        ["c1", "c2", "c10"],
        ["0-9", "10-49", "50-249", "250+"],
        ["-5", "0.25", "0.5", "2", "10"],  # numbers, where all are
        ["01.9", "01.10", "01.10a", "2"],
        ["a", "a1b2", "a1b10", "a02", "a2", "b"],
        ["", "7", "x"],
        ["x" + "0" * 5000 + "1", "x2", "x" + "9" * 5000],  # more digits than an int is made of
    ],
)
def test_numbers_in_text_are_in_order_of_size(names):
    assert in_natural_order(reversed(names)) == tuple(names)


@given(st.lists(st.text("ab019.- ", max_size=5), unique=True))
def test_natural_order_is_one_order(names):
    found = in_natural_order(names)
    assert sorted(found) == sorted(names)
    assert in_natural_order(reversed(found)) == found


@given(st.lists(st.text("abcxyz", max_size=4), unique=True))
def test_natural_order_is_that_of_letters_without_numbers(names):
    assert in_natural_order(names) == in_order(names)
