"""Missing values: what they differ by, by definition; nothing changes where nothing is missing."""

from __future__ import annotations

import math

import brute_force as plain
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.comparison import Columns, Missing, missing_differences, with_missing
from linkrisk.formulations.linkage.distances import Differences, Standardisation
from linkrisk.formulations.linkage.pair import Direction, Ties, make_pair
from linkrisk.solver.certificates.core.claims import Problem
from linkrisk.solver.certificates.core.records import Files, Records

RULES = list(Missing)
KINDS = list(Differences)


def lacking(seed, n=8, attributes=3, share=0.25):
    """Two files in which some values are missing, two known ones in every column."""
    random = np.random.default_rng(seed)
    original = np.round(random.normal(size=(n, attributes)), 1)
    files = [original, original + random.normal(size=(n, attributes))]
    for values in files:
        values[2:][random.random((n - 2, attributes)) < share] = np.nan
        values[0], values[1] = -3.0, 3.0
    return files


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize("standardisation", list(Standardisation))
@pytest.mark.parametrize("kind", KINDS)
def test_attribute_distances_by_definition(rule, direction, standardisation, kind):
    pair = make_pair(
        *lacking(1), direction=direction, standardisation=standardisation, columns=Columns(missing=rule)
    )
    reference = plain.of_pair(pair, rule.value)
    everyone = np.arange(8)
    distances = pair.distances(everyone[:, None], everyone[None, :], kind)
    assert np.isfinite(distances).all()
    for block in range(pair.blocks):
        np.testing.assert_allclose(distances[block], reference.distances(block, kind.value), rtol=1e-12)
        np.testing.assert_array_equal(pair.distances(np.intp(block), slice(None), kind), distances[block])
        np.testing.assert_allclose(pair.rounding[block], reference.rounding(block), rtol=0)
    chunks = np.concatenate([part for _, part in pair.chunks(kind, megabytes=1e-4)])
    np.testing.assert_array_equal(chunks, distances)
    some = pair.part(everyone[3:6]).distances(np.arange(3)[:, None], everyone[None, :], kind)
    np.testing.assert_array_equal(some, distances[3:6])


@given(seed=st.integers(0, 10**6), known=st.floats(-5.0, 5.0))
def test_the_rules_are_in_order(seed, known):
    """No draw is nearer than the nearest nor farther than the farthest, and the expected one is between."""
    files = lacking(seed)
    files[0][5, 0], files[1][5, 0] = known, np.nan
    distances = [
        make_pair(*files, columns=Columns(missing=rule), standardisation=Standardisation.NONE).distances(
            np.intp(5), 5, Differences.SQUARED
        )[0]
        for rule in RULES
    ]
    apart = [known - y for y in files[1][:, 0] if not math.isnan(y)]
    draws = [z * z for z in apart]  # a power may be rounded otherwise
    assert distances[0] == 0.0
    # The variance of the known values is that of a sample: larger by n / (n - 1) than their mean square.
    larger = len(draws) / (len(draws) - 1)
    assert min(draws) - 1e-9 <= distances[1] <= max(draws) * (1.0 + 1e-9) * larger
    assert distances[2] == max(draws)


def test_nothing_changes_where_nothing_is_missing():
    original, masked = lacking(2, share=0.0)
    pairs = [make_pair(original, masked, columns=Columns(missing=rule)) for rule in RULES]
    assert all(pair.missing is None for pair in pairs)


def test_records_that_lack_the_same_are_twins():
    original, masked = lacking(3, share=0.0)
    masked[4] = masked[5] = [np.nan, 1.0, 2.0]
    masked[6] = [np.nan, np.nan, 2.0]
    pair = make_pair(original, masked, ties=Ties.SHARE)
    assert pair.weight.tolist() == [1, 1, 1, 1, 0.5, 0.5, 1, 1]
    assert 5 not in pair.rivals(4)
    assert 6 in pair.rivals(4)


def test_an_attribute_without_values_is_refused():
    original, masked = lacking(4)
    masked[:, 1] = np.nan
    with pytest.raises(FormulationError, match="attribute 'b' has no value in one of the files"):
        make_pair(original, masked, columns=Columns(names=("a", "b", "c")))


def test_known_values_alone_standardise():
    original, masked = lacking(5)
    known = original[~np.isnan(original[:, 1]), 1]
    pair = make_pair(original, masked)
    np.testing.assert_allclose(
        pair.queries[:, 1], (original[:, 1] - known.mean()) / known.std(ddof=1), rtol=1e-12
    )


@pytest.mark.parametrize("rule", RULES)
def test_a_value_in_the_middle_has_the_sign_that_verifiers_give_it(rule):
    """2 is the mean of the known values of both files, and as far from the least as from the largest."""
    queries, candidates = np.array([[0.0], [2.0], [4.0], [np.nan]]), np.array([[2.0], [1.0], [np.nan], [3.0]])
    found = missing_differences(queries, candidates, np.array([0]), rule)
    chosen = ("weighted-mean", "original-to-masked", "strict", "none", "squared", rule.value)
    files = Files([queries[:, 0].tolist()], [candidates[:, 0].tolist()], range(4))
    checked = Records(files, Problem(*chosen, ["A"], {})).attributes[0]
    to_missing, from_missing, both = checked.missing
    np.testing.assert_array_equal(found.of_queries[:, 0], to_missing)
    np.testing.assert_array_equal(found.of_candidates[:, 0], from_missing)
    assert found.of_both[0] == both
    middle = {"nearest": 0.0, "expected": 2.0, "farthest": -2.0}[rule.value]
    assert found.of_candidates[0, 0] == pytest.approx(middle)
    known = [tuple(values[~np.isnan(values)].tolist()) for values in (queries, candidates)]
    sides = (found.of_queries[1, 0], found.of_candidates[0, 0], found.of_both[0])
    for values, side in zip(((2.0, math.nan), (math.nan, 2.0), (math.nan, math.nan)), sides, strict=True):
        assert side == pytest.approx(plain.apart(*values, known, rule.value))


def test_categories_by_definition():
    """A table of two by three categories, one recoding impossible, the last column never seen."""
    table = np.array([[0.0, 1.0, 2.0], [np.inf, 0.5, 3.0]])
    before, after = np.array([3.0, 1.0]), np.array([1.0, 3.0, 0.0])
    expected = with_missing(table, before, after, Missing.EXPECTED)
    assert expected[0, 3] == pytest.approx(math.sqrt(3 / 4))
    assert expected[1, 3] == pytest.approx(0.5)
    assert expected[2, 0] == 0.0
    assert expected[2, 1] == pytest.approx(math.sqrt((3 * 1 + 0.25) / 4))
    assert expected[2, 2] == pytest.approx(math.sqrt((3 * 4 + 9) / 4))
    assert expected[2, 3] == pytest.approx(math.sqrt((9 * 1 + 3 * 0.25) / 15))
    nearest = with_missing(table, before, after, Missing.NEAREST)
    assert nearest[:, 3].tolist() == [0.0, 0.5, 0.0]
    assert nearest[2].tolist() == [0.0, 0.5, 2.0, 0.0]
    farthest = with_missing(table, before, after, Missing.FARTHEST)
    assert farthest[:, 3].tolist() == [1.0, 0.5, 1.0]
    assert farthest[2].tolist() == [0.0, 1.0, 3.0, 1.0]
    with pytest.raises(FormulationError, match="without any known value"):
        with_missing(table, before, np.zeros(3), Missing.EXPECTED)


def test_what_cannot_be_made_of_anything_stays_impossible():
    table = np.array([[0.0, 1.0], [np.inf, np.inf]])
    expected = with_missing(table, np.ones(2), np.ones(2), Missing.EXPECTED)
    assert expected[1].tolist() == [math.inf] * 3
