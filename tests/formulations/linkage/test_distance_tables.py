"""Distances between categories and of missing values: definitions, looking up, pairs that cannot be."""

from __future__ import annotations

import math
from itertools import product

import brute_force as plain
import numpy as np
import pytest
from categorical_cases import attribute_distances
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refusal

from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.comparison import Columns, Missing, missing_differences, with_missing
from linkrisk.formulations.linkage.distances import (
    Differences,
    DistanceTables,
    Standardisation,
    nominal_table,
    ordinal_table,
    restricted,
)
from linkrisk.formulations.linkage.pair import Direction, Ties, make_pair
from linkrisk.solver.certificates.core.claims import Problem
from linkrisk.solver.certificates.core.records import Files, Records


@given(st.integers(1, 9))
def test_ordinal_distances_count_categories_as_definition_1_does_up_to_a_constant(many):
    nominal, ordinal = nominal_table(many), ordinal_table(many)
    for i, j in product(range(many), repeat=2):
        both_ends = len(range(min(i, j), max(i, j) + 1)) / many
        assert ordinal[i, j] == pytest.approx(both_ends - 1 / many, abs=1e-15)
        assert nominal[i, j] == (0.0 if i == j else 1.0)
    assert (np.diag(ordinal) == 0).all()


def random_tables(random, attributes):
    """Tables of some attributes, with some infinite distances; codes and numbers of 6 and 5 records."""
    tables = []
    for _ in range(attributes):
        shape = tuple(random.integers(1, 5, 2))
        table = np.where(random.random(shape) < 0.2, np.inf, random.random(shape))
        tables.append(table if random.random() < 0.6 else None)
    columns = [
        [
            random.normal(size=many) if table is None else random.integers(0, table.shape[side], many)
            for table in tables
        ]
        for side, many in ((0, 6), (1, 5))
    ]
    return tables, *(np.array(column, dtype=float).T for column in columns)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.sampled_from(Differences))
def test_looking_up_is_what_the_tables_say(seed, attributes, kind):
    tables, queries, candidates = random_tables(np.random.default_rng(seed), attributes)
    made = DistanceTables.of(tables)
    found = attribute_distances(queries[:, None, :], candidates[None, :, :], kind, made)
    possible = made.possible(queries[:, None, :], candidates[None, :, :])
    turned = made.transposed()
    assert np.array_equal(turned.possible(candidates[:, None], queries[None, :]).T, possible)
    assert np.isfinite(found).all()
    for i in range(6):
        for j in range(5):
            z = [
                queries[i, k] - candidates[j, k]
                if table is None
                else table[int(queries[i, k]), int(candidates[j, k])]
                for k, table in enumerate(tables)
            ]
            assert possible[i, j] == np.isfinite(z).all()
            if possible[i, j]:
                power = {"squared": [x * x for x in z], "absolute": [abs(x) for x in z], "signed": z}
                assert found[i, j].tolist() == power[kind.value]
                back = attribute_distances(candidates[j], queries[i], kind, turned)
                assert np.abs(back).tolist() == np.abs(found[i, j]).tolist()


def test_a_table_is_restricted_to_what_is_possible():
    possible = np.array([[True, False], [True, True]])
    assert restricted(nominal_table(2), possible).tolist() == [[0.0, np.inf], [1.0, 0.0]]
    assert restricted(nominal_table(2), None).tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_a_pair_keeps_positions_and_turns_tables_with_its_direction():
    original = np.array([[0.0, 1.0], [1.0, 5.0], [1.0, 9.0]])
    masked = np.array([[0.0, 2.0], [0.0, 4.0], [1.0, 9.0]])
    table = np.array([[0.0, 0.25], [np.inf, 0.5]])
    pair = make_pair(original, masked, columns=Columns(tables=[table, None]))
    assert np.array_equal(pair.queries[:, 0], original[:, 0])
    assert pair.reachable.tolist() == [True, False, True]
    assert pair.rivals(0).tolist() == [1, 2]
    assert pair.rivals(2).tolist() == []
    assert pair.partner_distances(Differences.SQUARED)[:, 0].tolist() == [0.0, 0.0, 0.25]
    other_way = {"direction": Direction.MASKED_TO_ORIGINAL, "ties": Ties.SHARE}
    turned = make_pair(original, masked, columns=Columns(tables=[table, None]), **other_way)
    assert turned.reachable.tolist() == [True, False, True]
    assert turned.rivals(0).tolist() == []
    assert turned.rivals(2).tolist() == [0, 1]
    plain = make_pair(original[:, 1:], masked[:, 1:])
    assert np.array_equal(pair.queries[:, 1:], plain.queries)
    assert np.array_equal(pair.candidates[:, 1:], plain.candidates)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ([None], "1 tables for 2 attributes: give one for each"),
        ([np.zeros((1, 2)), None], "attribute 1: 1 is not a position among 1 categories"),
        ([-np.ones((2, 2)), None], "the distances between categories of attribute 1 must be a table of"),
        ([np.full((2, 2), np.nan), None], "the distances between categories of attribute 1 must be a table"),
        ([None, np.zeros(2)], "the distances between categories of attribute 2 must be a table of numbers"),
        ([None, np.zeros((6, 5))], "attribute 2: 5 is not a position among 5 categories"),
    ],
)
def test_tables_that_do_not_fit(tables, message):
    original = np.array([[0.0, 2.0], [1.0, 5.0]])
    assert refusal(lambda: make_pair(original, original, columns=Columns(tables=tables))).startswith(message)


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
