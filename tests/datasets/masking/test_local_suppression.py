"""Local suppression: k-anonymous by a count of all pairs, nothing in vain, cases by hand, bad parameters."""

from __future__ import annotations

import hashlib
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.greedy_suppression import MISSING, greedy_suppression
from linkrisk.datasets.masking.local_suppression import LocalSuppression, optimal_suppression
from linkrisk.datasets.masking.registry import masking_method
from linkrisk.datasets.microdata.schema import Attribute, Role, Scale, Schema
from linkrisk.datasets.public.embedded import load_wdbc

Codes = NDArray[np.int32]


def frequencies(codes: Codes, others: Codes):
    """How many of `others` agree with each record, where a missing value fits any: by the definition."""
    return [
        sum(
            all(x == MISSING or y in (x, MISSING) for x, y in zip(one, other, strict=True))
            for other in others.tolist()
        )
        for one in codes.tolist()
    ]


def suppressed(codes: Codes, k, importance: NDArray[np.int64], *, mutual):
    """The codes without the values that the heuristic takes out."""
    return np.where(greedy_suppression(codes, k, importance, mutual=mutual), MISSING, codes).astype(np.int32)


@st.composite
def files(draw: st.DrawFn):
    records, variables = draw(st.integers(1, 9)), draw(st.integers(1, 4))
    values = draw(st.integers(1, 4))
    cells = st.integers(MISSING if draw(st.booleans()) else 0, values)
    rows = draw(
        st.lists(st.lists(cells, min_size=variables, max_size=variables), min_size=records, max_size=9)
    )
    importance = draw(st.lists(st.integers(0, variables), min_size=variables, max_size=variables))
    k = draw(st.integers(1, len(rows)))
    return np.array(rows, dtype=np.int32), k, np.array(importance, dtype=np.int64)


@pytest.mark.parametrize("mutual", [False, True])
@given(given_file=files())
@settings(max_examples=80, deadline=None)
def test_every_record_has_k_like_it_and_no_value_is_taken_in_vain(mutual, given_file):
    codes, k, importance = given_file
    masked = suppressed(codes, k, importance, mutual=mutual)
    others = masked if mutual else codes
    assert min(frequencies(masked, others)) >= k
    assert min(frequencies(masked, masked)) >= k  # whatever is counted, the release is k-anonymous
    if not mutual:
        assert not (masked != codes)[np.array(frequencies(codes, codes)) >= k].any()
    gone = np.argwhere(masked != codes)
    for row, column in gone:
        again = masked.copy()
        again[row, column] = codes[row, column]
        assert min(frequencies(again, again if mutual else codes)) < k


def _table():
    return pd.DataFrame(
        {"sex": ["m", "m", "f", "f", "f"], "age": [30, 30, 30, 30, 51], "town": ["A", "A", "A", "A", "A"]}
    )


def test_by_hand():
    # Two women of 30, two men of 30, one woman of 51. Without her age she is like three women.
    masked = LocalSuppression(k=2).apply(_table())
    assert masked["age"].tolist()[:4] == [30, 30, 30, 30]
    assert masked["age"].isna().tolist() == [False] * 4 + [True]
    assert str(masked["age"].dtype) == "Int64"  # 30, not 30.0
    assert masked["sex"].equals(_table()["sex"])
    # With k = 3 the women of 30 lack one, too: sex could go as well as age, and the last one goes. In the
    # output they lack none: the men, who can only lose their sex, then count as women.
    inside = LocalSuppression(k=3).apply(_table())
    assert inside["sex"].isna().tolist() == [True] * 2 + [False] * 3
    assert inside["age"].isna().tolist() == [False] * 2 + [True] * 3
    outside = LocalSuppression(k=3, count="output").apply(_table())
    assert outside["sex"].isna().tolist() == [True] * 2 + [False] * 3
    assert outside["age"].isna().tolist() == [False] * 4 + [True]


def test_the_least_important_goes_first():
    frame = pd.DataFrame({"a": ["x", "x", "y"], "b": ["u", "v", "v"]})
    # Record 2 is one value from either of the others; they are two values from each other.
    for spared, loses in (("a", "b"), ("b", "a")):
        masked = LocalSuppression(k=2, importance=(spared,)).apply(frame)
        assert masked[spared].isna().tolist()[1] is False
        assert masked[loses].isna().tolist()[1] is True


def test_k_minus_one_empty_records_are_enough_in_the_output_only():
    codes = np.arange(30, dtype=np.int32).reshape(10, 3)
    importance = np.zeros(3, dtype=np.int64)
    assert (greedy_suppression(codes, 3, importance, mutual=True)).sum() == 6
    assert greedy_suppression(codes, 3, importance, mutual=False).all()


def test_gaps_fit_any_and_declared_codes_are_values_that_readers_see():
    frame = pd.DataFrame({"age": [30.0, 30.0, None, 45.0], "sex": ["m", "m", "m", None]})
    schema = Schema((Attribute("age", role=Role.KEY, scale=Scale.NUMERIC, missing=("99",)), Attribute("sex")))
    method = LocalSuppression(k=2, attributes=("age", "sex"), schema=schema)
    # The record of 45 agrees with the one whose age is not known: both have two.
    pd.testing.assert_frame_equal(method.apply(frame), frame)
    masked = LocalSuppression(k=3, attributes=("age", "sex"), schema=schema).apply(frame)
    assert masked["age"].isna().tolist() == [False, False, True, True]
    coded = method.apply(frame.fillna({"age": 99.0}))
    assert coded["age"].isna().tolist() == [False, False, True, True]


def test_all_key_variables_of_the_schema_are_masked_and_nothing_else():
    frame = pd.DataFrame(
        {
            "id": range(6),
            "age": [1.5, 2.5, 3.5, 1.5, 2.5, 9.0],
            "size": pd.Categorical(list("abcabc")),
            "married": [True, False, True, True, False, True],
            "health": list("uvwxyz"),
        },
        index=list("ABCDEF"),
    )
    schema = Schema(
        (
            Attribute("age", role=Role.KEY, scale=Scale.NUMERIC),
            Attribute("size", role=Role.KEY, scale=Scale.NOMINAL),
            Attribute("married", role=Role.KEY, scale=Scale.NOMINAL),
        )
    )
    method = LocalSuppression(k=2, schema=schema)
    before = frame.copy()
    assert method.masked_attributes(frame) == ("age", "size", "married")
    masked = method.apply(frame)
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(masked[["id", "health"]], frame[["id", "health"]])
    # A and D are the same, and so are B and E; C and F differ in age only.
    assert masked["age"].isna().tolist() == [False, False, True, False, False, True]
    pd.testing.assert_frame_equal(masked[["size", "married"]], frame[["size", "married"]])
    emptied = LocalSuppression(k=3, schema=schema).apply(frame)
    assert emptied["married"].tolist() == [True, pd.NA, True, True, pd.NA, True]
    assert emptied["size"].dtype == frame["size"].dtype
    assert LocalSuppression(k=2).masked_attributes(frame[["age", "size"]]) == ("age", "size")
    assert method.describe(frame) == "local suppression to k = 2 of age, size, married"
    spared = masking_method("local-suppression k=2 importance=size attributes=age,size count=output")
    said = "local suppression to k = 2 of age, size, sparing size, counted in the output"
    assert spared.describe(frame) == said


@given(given_file=files())
@settings(max_examples=60, deadline=None)
def test_the_optimal_choice_is_the_best_of_all(given_file: tuple[Codes, int, NDArray[np.int64]]):
    codes, k, importance = given_file
    if k < 2:
        return
    cost = importance + 1
    taken = optimal_suppression(codes, k, cost)
    masked = np.where(taken, MISSING, codes).astype(np.int32)
    assert not (taken & (codes == MISSING)).any()
    assert min(frequencies(masked, codes)) >= k
    keys = range(codes.shape[1])
    for row, mine in zip(codes, masked, strict=True):  # of each record by itself, everything is tried
        every = (
            (sum(int(cost[at]) for at in gone if row[at] != MISSING), np.isin(keys, gone))
            for size in range(len(keys) + 1)
            for gone in combinations(keys, size)
        )
        least = min(
            price
            for price, gone in every
            if frequencies(np.where(gone, MISSING, row)[None].astype(np.int32), codes)[0] >= k
        )
        assert int(cost[(mine == MISSING) & (row != MISSING)].sum()) == least


def test_the_same_table_on_every_machine():
    frame = load_wdbc().iloc[:60, 1:6].round(0)
    found = LocalSuppression(k=4).apply(frame)
    assert found.equals(LocalSuppression(k=4).apply(frame, 7))
    assert not LocalSuppression.chance
    digest = hashlib.sha256(found.to_csv(index=False).encode()).hexdigest()
    assert digest == "d33fedffcfd272f67cc47274342604ded367f03f6b6636da05f60d43b0d4cd86"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the masking method is empty; write for example: top-coding categories=3"),
        ("local-suppression choice=optimal count=output", "local-suppression: the optimal choice counts"),
        ("local-suppression importance=sex,sex", "local-suppression: the attribute 'sex' is given twice in"),
        ("local-suppression attributes=age importance=sex", "importance names 'sex', which is not masked;"),
    ],
)
def test_what_does_not_fit(text, message):
    with pytest.raises(DataError) as caught:
        masking_method(text).apply(_table())
    assert message in str(caught.value)
