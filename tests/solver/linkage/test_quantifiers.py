"""Quantifiers and representatives of records: by definition and by published numbers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from refusals import refusal
from scipy.stats import norm

from linkrisk.datasets.microdata.schema import Attribute, Scale, Schema
from linkrisk.solver.linkage.quantifiers import (
    FAMILIES,
    Quantifier,
    attribute_values,
    normal_probabilities,
    normalised,
    owa,
    parse_family,
    ranged,
    standardised,
    sugeno,
    values_at,
)
from linkrisk.solver.linkage.representatives import in_classes

EVERY = [quantifier for family in FAMILIES.values() for quantifier in family]
POINTS = Quantifier("points", (0, 0, 0.25, 0.1, 0.5, 0.1, 1, 1))


def test_the_families_by_their_formulas():
    x, at = 0.37, np.array([0.37])
    for step, quantifier in enumerate(FAMILIES["power"], start=1):
        assert quantifier(at)[0] == pytest.approx(x ** (step / 5), rel=1e-15)
    for step, quantifier in enumerate(FAMILIES["sigmoid"]):
        assert quantifier(at)[0] == pytest.approx(1 / (1 + np.exp(10 * (step / 10 - x))), rel=1e-14)
    for step, quantifier in enumerate(FAMILIES["threshold"]):
        assert quantifier(at)[0] == (0.0 if x <= step / 10 else 1.0)
    # The sigmoid is set at its ends only; points are joined by lines.
    ends = Quantifier("sigmoid", (0.0,))(np.array([0.0, 1e-9, 1.0 - 1e-9, 1.0]))
    assert ends.tolist() == pytest.approx([0, 0.5, 1, 1], abs=1e-4)
    assert POINTS(np.array([0.0, 0.125, 0.3, 0.75, 1.0])).tolist() == pytest.approx([0, 0.05, 0.1, 0.55, 1])


@pytest.mark.parametrize("size", [5, 10, 20, 30])
def test_a_threshold_at_a_share_of_the_attributes_does_not_count_it(size):
    """i/N <= alpha decided in whole numbers."""
    expected = [[float(10 * i > max(tenths * size, 0)) for i in range(size + 1)] for tenths in range(10)]
    assert values_at(FAMILIES["threshold"], size).tolist() == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("most", "there is no quantifier family 'most'; use one of power, sigmoid, threshold, or points:"),
        ("most:1", "there is no quantifier 'most'; use one of power, sigmoid, threshold, points"),
        ("power:a", "quantifier 'power:a': 'a' is not a number"),
        ("power:0", "quantifier power:0: the exponent must be above 0"),
        ("power:nan", "quantifier power:nan: every number must be finite"),
        ("sigmoid:", "quantifier sigmoid:: give one alpha, as in sigmoid:0.5"),
        ("points:0 0 1", "quantifier points:0 0 1: give x and Q(x) of at least two points"),
        ("points:0 0.1 1 1", "quantifier points:0 0.1 1 1: the first point must be 0 0 and the last one 1 1"),
        ("points:0 0 0.5 0.5 0.5 0.6 1 1", "the points must have ascending x"),
        ("points:0 0 0.5 0.5 0.6 0.4 1 1", "Q must not decrease from one point to the next"),
    ],
)
def test_what_is_no_quantifier(text, message):
    assert message in refusal(lambda: parse_family(text))


SQUARE = arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 6)), elements=st.floats(0, 1))

# Table I of Torra and Nin (2008), and Table III row by row as printed.
TABLE_1 = """0.2 0.4 0.2 0.4
0.1 0.2 0.1 0.2
0.5 0.6 0.5 0.1
0.8 0.4 0.4 0.7
0.9 0.2 0 0
0.2 0.2 0.3 0.9
0.5 0.3 0.2 1
0 0.1 0.5 1
1 0 0.9 0.2
0.5 1 1 0.8"""
TABLE_3 = """0.374 0.351 0.332 0.315 0.3 0.287 0.276 0.266 0.257 0.25
0.187 0.176 0.166 0.157 0.15 0.144 0.138 0.133 0.129 0.125
0.553 0.514 0.480 0.451 0.425 0.402 0.382 0.363 0.347 0.33125
0.737 0.685 0.641 0.605 0.575 0.550 0.528 0.510 0.494 0.48125
0.705 0.554 0.437 0.346 0.275 0.220 0.176 0.142 0.115 0.09375
0.742 0.620 0.527 0.455 0.4 0.357 0.324 0.298 0.278 0.2625
0.847 0.728 0.634 0.559 0.5 0.453 0.414 0.383 0.358 0.3375
0.822 0.679 0.566 0.474 0.4 0.340 0.290 0.249 0.216 0.1875
0.874 0.766 0.674 0.594 0.525 0.465 0.413 0.368 0.328 0.29375
0.957 0.919 0.884 0.853 0.825 0.799 0.776 0.755 0.736 0.71875"""

# The second record is half the first, and its 0.176 is half of 0.352 (0.35157), not of the 0.351 printed.
MISPRINT = (0, "0.351")


def rows(text):
    return [line.split() for line in text.splitlines()]


def test_families_are_read_and_written():
    for quantifier in [*EVERY, POINTS]:
        assert parse_family(str(quantifier)) == (quantifier,)
    assert parse_family("sigmoid") == FAMILIES["sigmoid"]
    assert parse_family("power:0.5,2") == (Quantifier("power", (0.5,)), Quantifier("power", (2.0,)))
    assert parse_family("points:0 0 1 1,0 0 0.5 1 1 1")[1](np.array([0.25])).tolist() == [0.5]
    assert str(Quantifier("power", (1.0,))) == "power:1"


def test_table_3_to_the_printed_digits():
    made = owa(np.array(rows(TABLE_1), dtype=float), FAMILIES["power"])
    for record, (values, printed) in enumerate(zip(made, rows(TABLE_3), strict=True)):
        for value, text in zip(values, printed, strict=True):
            text = "0.352" if (record, text) == MISPRINT else text
            digits = len(text.partition(".")[2])
            assert abs(value - float(text)) <= 0.5 * 10.0**-digits + 1e-12, (record, value, text)


def owa_by_definition(record, quantifier):
    descending = sorted(record, reverse=True)
    at = quantifier(np.arange(len(record) + 1) / len(record))
    return sum((at[i + 1] - at[i]) * value for i, value in enumerate(descending))


def sugeno_on_all_subsets(record, quantifier):
    """``max over A of min(mu(A), min of the values in A)`` with ``mu(A) = Q(|A|/N)``."""
    size = len(record)
    measure = values_at([quantifier], size)[0]
    return max(
        min(measure[count], min(record[at] for at in subset))
        for count in range(1, size + 1)
        for subset in combinations(range(size), count)
    )


@given(SQUARE, st.sampled_from(EVERY))
def test_owa_by_definition(values, quantifier):
    expected = [owa_by_definition(record.tolist(), quantifier) for record in values]
    np.testing.assert_allclose(owa(values, [quantifier])[:, 0], expected, atol=1e-13)


@given(SQUARE, st.sampled_from(EVERY))
def test_sugeno_by_definition_on_all_subsets(values, quantifier):
    expected = [sugeno_on_all_subsets(record.tolist(), quantifier) for record in values]
    assert sugeno(values, [quantifier])[:, 0].tolist() == expected


@given(SQUARE, st.data())
def test_missing_values_are_left_out_of_their_record(values, data):
    gone = data.draw(arrays(np.bool_, values.shape))
    with_gaps = np.where(gone, np.nan, values)
    for aggregation in (owa, sugeno):
        made = aggregation(with_gaps, EVERY)
        for record, known, mine in zip(values, ~gone, made, strict=True):
            if known.any():
                assert (mine == aggregation(record[known][None, :], EVERY)[0]).all()
            else:
                assert np.isnan(mine).all()


COLUMN = np.array([[2.0, 5.0], [4.0, 5.0], [np.nan, 5.0], [10.0, 5.0]])


def test_normalising_by_definition():
    assert ranged(COLUMN)[:, 0].tolist() == pytest.approx([0.0, 0.25, np.nan, 1.0], nan_ok=True)
    known = np.array([2.0, 4.0, 10.0])
    z = (known - known.mean()) / known.std()
    for way, expected in ((standardised, z), (normal_probabilities, norm.cdf(z))):
        assert way(COLUMN)[[0, 1, 3], 0] == pytest.approx(expected)
        assert np.isnan(way(COLUMN)[2, 0])
    for way in (ranged, standardised):
        assert (way(COLUMN)[:, 1] == 0.0).all()
    assert normalised(COLUMN, "ranging", "zero")[2, 0] == 0.0
    assert np.isnan(normalised(COLUMN, "ranging", "projection")[2, 0])
    assert np.isnan(normalised(np.full((3, 1), np.nan), "standardising", "projection")).all()
    # Sugeno integrals cut standardised values at one.
    assert sugeno(np.array([[2.5, 1.5]]), [Quantifier("power", (1.0,))]).tolist() == [[1.0]]


LEVELS = Attribute("level", scale=Scale.ORDINAL, categories=("low", "middle", "high"))


def test_categories_count_by_their_position():
    frame = pd.DataFrame({"level": ["high", None, "low"], "size": [1, 2, None]})
    made = attribute_values(
        frame, ["level", "size"], Schema((Attribute("size", scale=Scale.NUMERIC), LEVELS))
    )
    np.testing.assert_array_equal(made, [[2.0, 1.0], [np.nan, 2.0], [0.0, np.nan]])


@pytest.mark.parametrize(
    ("attribute", "values", "message"),
    [
        (Attribute("a", scale=Scale.NOMINAL), ["x", "y"], "attribute 'a' is nominal and has no order"),
        (Attribute("a", scale=Scale.ORDINAL, categories=("x",)), ["x", "y"], "record 2: 'y' is not one of"),
        (Attribute("a", scale=Scale.NUMERIC), [1.0, np.inf], "attribute 'a' has a value beyond 1e+150"),
    ],
)
def test_values_that_cannot_be_used(attribute, values, message):
    frame, schema = pd.DataFrame({"a": values}), Schema((attribute,))
    assert message in refusal(lambda: attribute_values(frame, ["a"], schema))
    assert "need at least one attribute in each file" in refusal(lambda: attribute_values(frame, [], schema))


def test_classes_are_quantiles_of_both_files_together():
    queries, candidates = np.array([[1.0], [2.0], [3.0], [np.nan]]), np.array([[4.0], [5.0], [6.0], [2.0]])
    first, second = in_classes(queries, candidates, 3)
    assert first[:, 0].tolist() == ["1", "1", "2", None]
    assert second[:, 0].tolist() == ["2", "3", "3", "1"]
