"""Unsafe combinations, checked tables and individual risk, by their definitions."""

from __future__ import annotations

import os
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from key_tasks import GUIDE_KEYS, key_file, practice_guide
from scipy import integrate

from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.suppression.hitting_sets import least_hitting, solve_household
from linkrisk.formulations.suppression.key_table import (
    KeyTable,
    MissingMeaning,
    frequencies,
    members,
    numbered_rows,
)
from linkrisk.formulations.suppression.posterior_risk import household_risk, posterior_risk
from linkrisk.formulations.suppression.unsafe_combinations import (
    CheckedTables,
    by_levels,
    k_anonymity,
    minimal_unsafe,
    unsafe_per_variable,
    up_to_dimension,
)
from linkrisk.solver.measures.keys import measured

MEANINGS = ("own-category", "matches-anything", "alpha=0.25", "safe")
ALL = 1 << 20

codes_of = st.tuples(st.integers(1, 14), st.integers(1, 4)).flatmap(
    lambda shape: arrays.arrays(np.int32, shape, elements=st.integers(-1, 2))
)


def table_of(codes, weights=None):
    return KeyTable(tuple("abcdefgh"[: codes.shape[1]]), codes, weights)


def counted(codes, row, places, meaning, weights=None):
    """Record by record, by the definition."""
    total = 0.0
    for at, other in enumerate(codes):
        mine, theirs = codes[row, places], other[list(places)]
        weight = 1.0 if weights is None else weights[at]
        if (mine == theirs).all():
            total += weight
        elif ((mine == theirs) | (mine < 0) | (theirs < 0)).all():
            total += meaning.alpha * weight
    return total


def minimal_by_definition(codes, row, threshold, meaning):
    keys = codes.shape[1]
    unsafe = {
        places
        for size in range(1, keys + 1)
        for places in combinations(range(keys), size)
        if counted(codes, row, list(places), meaning) <= threshold
        and not (meaning.safe and (codes[row, list(places)] < 0).any())
        and (codes[row, list(places)] >= 0).any()
    }
    return {one for one in unsafe if not any(set(other) < set(one) for other in unsafe)}


# Counting


@pytest.mark.parametrize("said", MEANINGS)
@given(codes=codes_of, chance=st.randoms(use_true_random=False))
def test_combinations_are_counted_record_by_record(said, codes, chance):
    meaning = MissingMeaning.parse(said)
    weights = np.array([chance.choice([0.5, 1.0, 3.0]) for _ in codes])
    types = table_of(codes, weights).types
    found = frequencies(types.codes, types.weight, meaning)[types.of]
    places = list(range(codes.shape[1]))
    for row in range(len(codes)):
        assert found[row] == pytest.approx(counted(codes, row, places, meaning, weights))


def test_row_types_are_the_different_rows_however_many_codes_there_are():
    chance = np.random.default_rng(1)
    wide = chance.integers(-1, 2, (500, 60)).astype(np.int32)
    wide[:, :50] = wide[chance.integers(0, 20, 500), :50]
    wide[:, 0] *= 2_000_000_000  # a large code
    wide[:, 1] *= 2_000_000_000
    np.maximum(wide, -1, out=wide)
    groups, firsts = numbered_rows(wide)
    different, inverse = np.unique(wide, axis=0, return_inverse=True)
    assert len(firsts) == len(different)
    assert len({(ours, theirs) for ours, theirs in zip(groups, inverse.ravel(), strict=True)}) == len(firsts)
    assert (wide[firsts][groups] == wide).all()


@pytest.mark.parametrize("said", [*MEANINGS, "alpha=1", "alpha=0"])
def test_meanings_are_read_as_they_are_written(said):
    meaning = MissingMeaning.parse(said)
    assert MissingMeaning.parse(str(meaning)) == meaning
    assert "missing" in meaning.words


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("alpha=2", "alpha = 2 is not between 0 and 1"),
        ("alpha=x", "alpha=A or code=C, not 'alpha=x'"),
        ("wild", "a missing value is own-category, matches-anything, safe, alpha=A or code=C, not 'wild'"),
    ],
)
def test_meanings_that_there_are_not(said, message):
    with pytest.raises(FormulationError, match=message):
        MissingMeaning.parse(said)


# Minimal unsafe combinations


@pytest.mark.parametrize("said", MEANINGS)
@given(codes=codes_of, threshold=st.integers(1, 4))
def test_minimal_unsafe_combinations_are_those_of_the_definition(said, codes, threshold):
    meaning, table = MissingMeaning.parse(said), table_of(codes)
    found = minimal_unsafe(table.types, k_anonymity(codes.shape[1], threshold + 1), meaning)
    for row in range(len(codes)):
        sets = found.of(table.types.of[row])
        assert {members(int(one)) for one in sets} == minimal_by_definition(codes, row, threshold, meaning)
        assert found.unsafe[table.types.of[row]] == (len(sets) > 0)


def test_the_example_of_the_paper():
    """A municipality, a sex, an occupation: the rare combination, and no part of it that is common."""
    common = [("Urk", "f", "nurse"), ("Urk", "m", "smith"), ("Delft", "f", "smith")]
    rows = [("Urk", "f", "smith"), *common, *common]
    columns = [np.unique(column, return_inverse=True)[1] for column in zip(*rows, strict=True)]
    table = KeyTable(("municipality", "sex", "occupation"), np.column_stack(columns).astype(np.int32))
    found = minimal_unsafe(table.types, by_levels((1, 2, 3), 1), MissingMeaning())
    assert [table.named(int(one)) for one in found.of(table.types.of[0])] == [table.names]
    assert found.of(table.types.of[1]).size == 0


def test_what_is_unsafe_by_variable_and_category():
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 0], [-1, 0]], dtype=np.int32)
    table = table_of(codes)
    found = minimal_unsafe(table.types, k_anonymity(2, 2), MissingMeaning())
    variables, categories = unsafe_per_variable(table, found)
    # (0, 0) as a whole, b = 1 alone, a missing with b = 0.
    assert variables.tolist() == [2, 3]
    assert [one.tolist() for one in categories] == [[1, 0, 1], [2, 1, 0]]


# Tables


def test_tables_by_levels_of_identification():
    """Each has a variable of level 1, another of level 1 or 2, and another of 1 to 3."""
    tables = by_levels((1, 2, 3, 3, 0), 2)
    assert {members(one) for one in tables.thresholds} == {(0, 1, 2), (0, 1, 3)}
    assert {members(one) for one in by_levels((1, 1, 2), 1).thresholds} == {(0, 1), (0, 2), (1, 2)}
    assert {members(one) for one in by_levels((3, 1), 1).thresholds} == {(0, 1)}
    assert {members(one) for one in by_levels((10**20, 1), 1).thresholds} == {(0, 1)}


def test_many_levels_make_tables_and_not_their_orders():
    """One variable of each level or above can be chosen in 2 * 3 * ... * 8 orders; tables are few."""
    tables = by_levels([1 + at // 2 for at in range(14)], 1).thresholds
    assert all(len(members(one)) == 7 for one in tables)
    assert len(tables) == 1430  # a Catalan number
    with pytest.raises(FormulationError, match="are too many; check tables of fewer dimensions"):
        by_levels([1] * 60 + [9], 1)


def test_thresholds_of_tables_up_to_a_dimension_and_of_parts():
    tables = up_to_dimension(4, 2, {1: 5, 2: 1})
    assert len(tables) == 10
    assert tables.parts() == tables.thresholds
    assert {tables.thresholds[1 << at] for at in range(4)} == {5}
    # A part has the largest threshold of its tables.
    tables = CheckedTables({0b011: 2, 0b110: 7}, {})
    assert tables.parts() == {0b001: 2, 0b010: 7, 0b100: 7, 0b011: 2, 0b110: 7}
    assert CheckedTables({0b011: 2}, {1: 9}).parts() == {0b001: 9, 0b010: 9, 0b011: 2}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CheckedTables({}, {}), "no table to check"),
        (lambda: CheckedTables({0: 1}, {}), "has no variables"),
        (lambda: CheckedTables({1: 0.5}, {}), "a threshold of 0.5 finds nothing unsafe; give at least 1"),
        (lambda: CheckedTables({1: float("inf")}, {}), "a threshold of inf"),
        (lambda: k_anonymity(3, 1), "k = 1 asks for nothing; give at least 2"),
        (lambda: by_levels((0, 2), 1), "no variable is of identification level 1; give one"),
        (lambda: by_levels((1, -2), 1), "level of identification -2 is negative"),
        (lambda: up_to_dimension(3, 4, 1), "give 1 to 3"),
        (lambda: up_to_dimension(3, 2, {1: 1}), "no threshold for tables of 2 dimensions"),
        (lambda: up_to_dimension(60, 5, 1), "are too many; check tables of fewer dimensions"),
        (lambda: k_anonymity(30, 3).parts(), "are too many"),
        (lambda: table_of(np.zeros((0, 2), np.int32)), "0 records of 2 key variables"),
        (lambda: table_of(np.zeros((2, 1), np.int32), np.array([1.0, 0.0])), "must be positive and finite"),
    ],
)
def test_what_cannot_be_checked(make, message):
    with pytest.raises(FormulationError, match=message):
        make()


# Least costly suppressions


def cheapest(sets, cost, allowed):
    """By trying everything."""
    keys = len(cost)
    every = (
        sum(1 << at for at in some) for size in range(keys + 1) for some in combinations(range(keys), size)
    )
    good = [one for one in every if not one & ~allowed and all(one & each for each in sets)]
    return min((sum(cost[at] for at in members(one)) for one in good), default=None)


@given(
    sets=st.lists(st.integers(1, 63), min_size=1, max_size=12),
    cost=st.lists(st.integers(0, 6), min_size=6, max_size=6),
    allowed=st.integers(0, 63),
)
def test_a_least_costly_suppression_meets_every_combination(sets, cost, allowed):
    prices = np.array(cost, dtype=np.int64)
    chosen, value, bound = least_hitting(np.array(sets, dtype=np.int64), prices, allowed, ALL)
    best = cheapest(sets, cost, allowed)
    if best is None:
        assert chosen == -1
        return
    assert value == bound == best == sum(cost[at] for at in members(chosen))
    assert not chosen & ~allowed
    assert all(chosen & each for each in sets)


@given(sets=st.lists(st.integers(1, 255), min_size=1, max_size=30))
def test_a_search_cut_short_still_has_an_answer_and_a_bound(sets):
    cost, every = np.ones(8, dtype=np.int64), np.array(sets, dtype=np.int64)
    chosen, value, bound = least_hitting(every, cost, 255, 0)
    assert all(chosen & each for each in sets)
    assert bound <= cheapest(sets, cost.tolist(), 255) <= value == chosen.bit_count()


@given(
    homes=st.lists(st.lists(st.integers(1, 31), max_size=4), min_size=1, max_size=3),
    cost=st.lists(st.integers(1, 5), min_size=5, max_size=5),
    shared=st.integers(0, 31),
)
def test_what_is_taken_from_a_household_is_taken_from_all(homes, cost, shared):
    start = np.concatenate([[0], np.cumsum([len(one) for one in homes])]).astype(np.int64)
    sets = np.array([each for one in homes for each in one], dtype=np.int64)
    chosen = np.empty(len(homes), dtype=np.int64)
    value, bound = solve_household(start, sets, np.array(cost, dtype=np.int64), 31, shared, ALL, chosen)
    best = min(
        len(homes) * sum(cost[at] for at in members(part)) + sum(rest)
        for part in range(32)
        if not part & ~shared
        for rest in [[cheapest([s for s in one if not s & part], cost, 31 & ~shared) for one in homes]]
        if None not in rest
    )
    assert value == bound == best
    assert len({int(one) & shared for one in chosen}) == 1
    assert all(int(one) & each for one, home in zip(chosen, homes, strict=True) for each in home)
    assert value == sum(cost[at] for one in chosen for at in members(int(one)))


DATA = os.environ.get("LINKRISK_DATA")


def one(f, p):
    return float(posterior_risk(np.array([float(f)]), np.array([f / p]))[0])


def test_the_risks_of_the_practice_guide():
    """Table 4.1, to its four digits."""
    file = practice_guide()
    found = measured(key_file(file[GUIDE_KEYS]), file["weight"].to_numpy(float), None)
    published = [0.0054, 0.0054, 0.0251, 0.0126, 0.0282, 0.0126, 0.0290, 0.0251, 0.0074, 0.0074]
    assert found.risk.round(4).tolist() == published
    assert found.expected == pytest.approx(sum(published), abs=5e-4)


@pytest.mark.skipif(DATA is None, reason="needs public data: set LINKRISK_DATA to its folder")
def test_the_example_of_capobianchi_polettini_and_lucarelli():
    """CASC deliverable 1.2-D1, as in the help page of sdcMicro's `indivRisk`."""
    file = pd.read_csv(Path(str(DATA)) / "casc_francdat.csv")
    found = measured(key_file(file[["Key1", "Key2", "Key3", "Key4"]]), file["w"].to_numpy(float), None)
    assert found.frequency.tolist() == [2, 2, 2, 1, 1, 1, 1, 2]
    assert found.population.tolist() == [110.0, 84.5, 84.5, 17.0, 541.0, 8.0, 5.0, 110.0]
    first = [0.01714426, 0.02204233, 0.02204233, 0.17707583, 0.01165448, 0.29706308, 0.40235948, 0.01714426]
    assert found.risk == pytest.approx(first, abs=5e-9)


@given(st.integers(1, 3000), st.floats(1e-6, 1.0))
def test_it_is_the_integral_of_the_hypergeometric_function(f, p):
    """Euler's integral, ``r = p int_0^1 (1-t)^(f-1) / (1 - q t) dt``, with t = 1 - s^(1/f)."""
    value = integrate.quad(
        lambda s: p / f / (p + (1.0 - p) * s ** (1.0 / f)), 0.0, 1.0, epsrel=1e-11, limit=500
    )
    assert one(f, p) == pytest.approx(value[0], rel=1e-6)
    assert p / f * (1.0 - 1e-12) <= one(f, p) <= 1.0 / f


def test_nearly_a_census_is_no_worse_than_a_census():
    """The closed forms cancel there."""
    some = np.array([1.0, 2.0, 3.0, 7.0])
    for weight in (some, some / 3.0):  # weights of 1, and below
        assert posterior_risk(some, weight) == pytest.approx(1.0 / some)
    for f in (1, 2, 3):
        near = [one(f, 1.0 - 10.0**-k) for k in range(1, 16)]
        assert np.all(np.diff(near) >= -1e-15)
        assert near[-1] == pytest.approx(1.0 / f)


def test_households():
    """1 - (1 - 0.1)(1 - 0.2) = 0.28; a certain member makes the household certain."""
    found = household_risk(np.array([0.1, 0.5, 0.2, 1.0, 0.3]), np.array([0, 1, 0, 2, 2]))
    assert found == pytest.approx([0.28, 0.5, 0.28, 1.0, 1.0])
