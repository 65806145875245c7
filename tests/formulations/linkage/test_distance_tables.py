"""Tables of distances between categories: the definitions, looking up, and pairs that cannot be."""

from __future__ import annotations

import numpy as np
import pytest
from categorical_cases import attribute_distances
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.comparison import Columns
from linkrisk.formulations.linkage.distances import (
    Differences,
    DistanceTables,
    nominal_table,
    ordinal_table,
    restricted,
)
from linkrisk.formulations.linkage.pair import Direction, Ties, make_pair

sizes = st.integers(1, 9)


@given(sizes)
def test_nominal_distances_are_zero_or_one(many):
    table = nominal_table(many)
    for i in range(many):
        for j in range(many):
            assert table[i, j] == (0.0 if i == j else 1.0)


@given(sizes)
def test_ordinal_distances_count_categories_as_definition_1_does_up_to_a_constant(many):
    table = ordinal_table(many)
    for i in range(many):
        for j in range(many):
            both_ends = len(range(min(i, j), max(i, j) + 1)) / many
            assert table[i, j] == pytest.approx(both_ends - 1 / many, abs=1e-15)
    assert (np.diag(table) == 0).all()


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


def test_without_tables_nothing_is_looked_up():
    empty = DistanceTables.of([None, None])
    assert empty.attributes.size == empty.values.size == 0
    first, second = np.array([[1.0, 2.0]]), np.array([[3.0, 5.0]])
    assert attribute_distances(first, second, Differences.SIGNED, empty).tolist() == [[-2.0, -3.0]]
    assert empty.possible(first, second).tolist() == [True]


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
    turned = make_pair(
        original,
        masked,
        columns=Columns(tables=[table, None]),
        direction=Direction.MASKED_TO_ORIGINAL,
        ties=Ties.SHARE,
    )
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
        (
            [-np.ones((2, 2)), None],
            "the distances between categories of attribute 1 must be a table of numbers from 0",
        ),
        (
            [np.full((2, 2), np.nan), None],
            "the distances between categories of attribute 1 must be a table of numbers from 0",
        ),
        (
            [None, np.zeros(2)],
            "the distances between categories of attribute 2 must be a table of numbers from 0",
        ),
        ([None, np.zeros((6, 5))], "attribute 2: 5 is not a position among 5 categories"),
    ],
)
def test_tables_that_do_not_fit(tables, message):
    original = np.array([[0.0, 2.0], [1.0, 5.0]])
    with pytest.raises(FormulationError) as caught:
        make_pair(original, original, columns=Columns(tables=tables))
    assert str(caught.value) == message
