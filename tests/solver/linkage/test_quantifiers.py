"""Quantifiers: the three families of Torra and Nin (2008), their own ones, and what is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.solver.linkage.quantifiers import FAMILIES, Quantifier, parse_family, values_at
from linkrisk.solver.run.errors import UsageError

EVERY = [quantifier for family in FAMILIES.values() for quantifier in family]
POINTS = Quantifier("points", (0, 0, 0.25, 0.1, 0.5, 0.1, 1, 1))


@pytest.mark.parametrize("quantifier", [*EVERY, POINTS], ids=str)
def test_they_rise_from_0_to_1(quantifier):
    values = quantifier(np.linspace(0.0, 1.0, 1001))
    assert (values[0], values[-1]) == (0.0, 1.0)
    assert (np.diff(values) >= 0.0).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_has_ten_functions(family):
    assert len({str(quantifier) for quantifier in FAMILIES[family]}) == 10


def test_the_families_by_their_formulas():
    x = 0.37
    at = np.array([x])
    for step, quantifier in enumerate(FAMILIES["power"], start=1):
        assert quantifier(at)[0] == pytest.approx(x ** (step / 5), rel=1e-15)
    for step, quantifier in enumerate(FAMILIES["sigmoid"]):
        assert quantifier(at)[0] == pytest.approx(1 / (1 + np.exp(10 * (step / 10 - x))), rel=1e-14)
    for step, quantifier in enumerate(FAMILIES["threshold"]):
        assert quantifier(at)[0] == (0.0 if x <= step / 10 else 1.0)


def test_the_sigmoid_is_set_at_its_ends_only():
    middle = Quantifier("sigmoid", (0.0,))
    assert middle(np.array([0.0, 1e-9, 1.0 - 1e-9, 1.0])).tolist() == pytest.approx([0, 0.5, 1, 1], abs=1e-4)


@pytest.mark.parametrize("tenths", range(10))
@pytest.mark.parametrize("size", [5, 10, 20, 30])
def test_a_threshold_at_a_share_of_the_attributes_does_not_count_it(tenths, size):
    """i/N <= alpha decided in whole numbers."""
    expected = [0.0] + [float(10 * i > tenths * size) for i in range(1, size + 1)]
    assert values_at([FAMILIES["threshold"][tenths]], size)[0].tolist() == expected


def test_points_are_joined_by_lines():
    assert POINTS(np.array([0.0, 0.125, 0.3, 0.75, 1.0])).tolist() == pytest.approx([0, 0.05, 0.1, 0.55, 1])


@given(st.integers(1, 40), st.sampled_from([*EVERY, POINTS]))
def test_weights_are_not_negative_and_sum_to_one(size, quantifier):
    weights = np.diff(values_at([quantifier], size)[0])
    assert weights.size == size
    assert (weights >= 0.0).all()
    assert weights.sum() == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("quantifier", [*EVERY, POINTS], ids=str)
def test_their_text_reads_back(quantifier):
    assert parse_family(str(quantifier)) == (quantifier,)


def test_reading_families():
    assert parse_family("sigmoid") == FAMILIES["sigmoid"]
    assert parse_family("power:0.5,2") == (Quantifier("power", (0.5,)), Quantifier("power", (2.0,)))
    assert parse_family("points:0 0 1 1,0 0 0.5 1 1 1")[1](np.array([0.25])).tolist() == [0.5]
    assert str(Quantifier("power", (1.0,))) == "power:1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("most", "there is no quantifier family 'most'; use one of power, sigmoid, threshold, or points:"),
        ("most:1", "there is no quantifier 'most'; use one of power, sigmoid, threshold, points"),
        ("power:a", "quantifier 'power:a': 'a' is not a number"),
        ("power:0", "quantifier power:0: the exponent must be above 0"),
        ("power:nan", "quantifier power:nan: every number must be finite"),
        ("sigmoid:", "quantifier sigmoid:: give one alpha, as in sigmoid:0.5"),
        ("threshold:0.1 0.2", "quantifier threshold:0.1 0.2: give one alpha, as in threshold:0.5"),
        ("points:0 0 1", "quantifier points:0 0 1: give x and Q(x) of at least two points"),
        ("points:0 0.1 1 1", "quantifier points:0 0.1 1 1: the first point must be 0 0 and the last one 1 1"),
        ("points:0 0 0.5 0.5", "the first point must be 0 0 and the last one 1 1"),
        ("points:0 0 0.5 0.5 0.5 0.6 1 1", "the points must have ascending x"),
        ("points:0 0 0.5 0.5 0.6 0.4 1 1", "Q must not decrease from one point to the next"),
    ],
)
def test_what_is_no_quantifier(text, message):
    with pytest.raises(UsageError) as caught:
        parse_family(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
