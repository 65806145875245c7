"""How a report writes numbers, and what it says of a bound that is a sum."""

from __future__ import annotations

import pytest

from linkrisk.solver.charts.chart import Of
from linkrisk.solver.documents import wording as formats
from linkrisk.solver.documents.wording import sum_of_parts

# Numbers


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (formats.count(12345), "12,345"),
        (formats.count(-3), "\N{MINUS SIGN}3"),
        (formats.count(371.5), "371.5"),
        (formats.count(371.996), "372"),
        (formats.count(None), "–"),
        (formats.percent(372, 400), "93.0\N{NARROW NO-BREAK SPACE}%"),
        (formats.percent(19999, 20000), "99.995\N{NARROW NO-BREAK SPACE}%"),
        (formats.percent(1, 10000), "0.01\N{NARROW NO-BREAK SPACE}%"),
        (formats.percent(0, 400), "0.0\N{NARROW NO-BREAK SPACE}%"),
        (formats.percent(0.1 + 0.2, 0.3), "100.0\N{NARROW NO-BREAK SPACE}%"),
        (formats.percent(400, 400), "100.0\N{NARROW NO-BREAK SPACE}%"),
        (formats.percent(1, 0), "–"),
        (formats.percent(None, 5), "–"),
        (formats.significant(0.000123456), "0.0001235"),
        (formats.duration(0), "0 s"),
        (formats.duration(0.042), "0.04 s"),
        (formats.duration(12.34), "12.3 s"),
        (formats.duration(120), "120 s"),
        (formats.duration(620), "10 min 20 s"),
        (formats.duration(7500), "2 h 05 min"),
        (formats.duration(None), "–"),
        (formats.cell_text(True, Of.COUNT), "yes"),
        (formats.cell_text(float("inf"), Of.NUMBER), "–"),
        (formats.cell_text("a", Of.NUMBER), "a"),
        (formats.cell_text(None, Of.TEXT), "–"),
    ],
)
def test_numbers_are_written_for_readers(written, expected):
    assert written == expected


def test_a_bound_that_is_a_sum_over_parts_is_said():
    told = {"parts": 200, "largest": 50, "searched": 200, "proven": 180}
    said = sum_of_parts(told)
    assert said == "the bound is the sum over 200 parts of at most 50 records, 180 of them closed"
    one = {**told, "parts": 1, "proven": 0}
    assert sum_of_parts(one) == "the bound is that of one part, the 50 records that are not out of reach"
