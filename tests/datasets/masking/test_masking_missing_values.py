"""Numeric masking where values are missing: they stay missing, and means have k values behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import MaskingMethod
from linkrisk.datasets.masking.mdav import mdav_partition
from linkrisk.datasets.masking.microaggregation import (
    Microaggregation,
    OptimalMicroaggregation,
    partition_by_pattern,
)
from linkrisk.datasets.masking.noise import AdditiveNoise
from linkrisk.datasets.masking.parameters import AttributeGroup
from linkrisk.datasets.masking.rank_swapping import RankSwapping
from linkrisk.datasets.microdata.schema import Schema

METHODS = [
    Microaggregation(k=3),
    Microaggregation(groups=(AttributeGroup(("a", "c"), 2), AttributeGroup(("b",), 4))),
    OptimalMicroaggregation(k=4),
    AdditiveNoise(percent=15),
    AdditiveNoise(percent=15, correlated=True),
    RankSwapping(percent=20),
]
WITHHOLDING = METHODS[:2]
"""Methods that may make a value missing."""
NAN = float("nan")


def _holed(seed, share, records=60):
    """A table in which about a share of the values of a and b is missing."""
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(size=(records, 3)) * [5.0, 100.0, 0.1], 3)
    values[:, :2][rng.random((records, 2)) < share] = np.nan
    return pd.DataFrame(values, columns=["a", "b", "c"])


@pytest.mark.parametrize("method", METHODS, ids=repr)
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), share=st.sampled_from([0.02, 0.2, 0.6]))
def test_what_is_missing_stays_missing(method: MaskingMethod, seed, share):
    frame = _holed(seed, share, records=200)
    masked = method.apply(frame, seed)
    assert masked[frame.isna()].isna().all(axis=None)
    if method not in WITHHOLDING:
        assert masked[frame.notna()].notna().eq(frame.notna()).all(axis=None)


@pytest.mark.parametrize(("method", "k"), [(WITHHOLDING[0], 3), (OptimalMicroaggregation(k=3), 3)], ids=repr)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), share=st.sampled_from([0.05, 0.3, 0.7]))
def test_every_published_mean_is_that_of_k_values(method: MaskingMethod, k, seed, share):
    frame = _holed(seed, share)
    masked = method.apply(frame)
    for name in frame:
        for published, values in frame[name].groupby(masked[name]):
            assert len(values) >= k
            assert values.mean() == pytest.approx(published)


@pytest.mark.parametrize("method", [OptimalMicroaggregation(k=4), RankSwapping(percent=20)], ids=repr)
def test_the_known_values_are_masked_as_if_they_were_all(method: MaskingMethod):
    column = _holed(4, 0.4)[["a"]]
    known = column.dropna()
    pd.testing.assert_frame_equal(method.apply(column, 9).dropna(), method.apply(known, 9))


def test_records_of_one_pattern_form_groups_among_themselves():
    rng = np.random.default_rng(8)
    points = rng.normal(size=(90, 3))
    points[::3, 0], points[1::3, 1:] = np.nan, np.nan
    expected = [
        rows[group]
        for rows, attributes in (
            (np.arange(0, 90, 3), [1, 2]),
            (np.arange(1, 90, 3), [0]),
            (np.arange(2, 90, 3), [0, 1, 2]),
        )
        for group in mdav_partition(points[np.ix_(rows, attributes)], 4)
    ]
    found = partition_by_pattern(points, 4)
    assert [group.tolist() for group in found] == [group.tolist() for group in expected]


def test_a_record_of_a_rare_pattern_joins_the_nearest_group_that_shares_most():
    near, far = [[0.0, 0.0], [0.1, 0.0]], [[9.0, 9.0], [9.1, 9.0]]
    of_one = [[NAN, 4.0], [NAN, 4.1], [NAN, -4.0], [NAN, -4.1]]
    points = np.array([*near, *far, *of_one, [8.0, NAN], [NAN, NAN]])
    groups = {tuple(group.tolist()) for group in partition_by_pattern(points, 2)}
    assert groups == {(0, 1), (2, 3, 8), (4, 5), (6, 7)}


def test_a_value_that_too_few_of_a_group_have_is_withheld():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [NAN, NAN, NAN, 7.0]})
    frame = pd.concat([frame, pd.DataFrame({"a": [NAN] * 2, "b": [5.0, 6.0]})], ignore_index=True)
    masked = Microaggregation(k=3).apply(frame)
    # The patterns: a alone in three records, both in one, b alone in two.
    np.testing.assert_array_equal(masked["a"], [2.5, 2.5, 2.5, 2.5, NAN, NAN])
    assert masked["b"].isna().all()


def test_correlated_noise_follows_the_complete_records():
    frame = _holed(1, 0.2, records=20_000)
    frame["b"] = 3 * frame["a"].where(frame["a"].notna(), 0.0) + 0.1 * frame["b"]
    noise = AdditiveNoise(percent=50, correlated=True).apply(frame, 2) - frame
    np.testing.assert_allclose(noise.corr(), frame.dropna().corr(), atol=0.04)
    np.testing.assert_allclose(noise.std() / frame.std(), 0.5, rtol=0.03)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_declared_missing_codes_stay(method: MaskingMethod):
    frame = _holed(5, 0.0)
    frame.loc[[2, 7, 30], "b"] = -9.0
    declared: Any = {"attributes": [{"name": "b", "missing": ["-9"]}]}
    masked = type(method)(**{**vars(method), "schema": Schema.from_dict(declared)}).apply(frame, 3)
    assert masked.loc[[2, 7, 30], "b"].tolist() == [-9.0] * 3
    without = frame.assign(b=frame["b"].where(frame["b"] != -9.0))
    pd.testing.assert_frame_equal(masked.drop([2, 7, 30]), method.apply(without, 3).drop([2, 7, 30]))


def test_a_code_that_is_text_stays_text():
    frame = pd.DataFrame({"a": ["1", "refused", "3", "5"]})
    schema = Schema.from_dict({"attributes": [{"name": "a", "scale": "numeric", "missing": ["refused"]}]})
    masked = OptimalMicroaggregation(k=3, schema=schema, attributes=("a",)).apply(frame)
    assert masked["a"].tolist() == [3.0, "refused", 3.0, 3.0]


@pytest.mark.parametrize("method", METHODS[:4], ids=repr)
def test_a_column_without_any_value_stays_as_it_is(method: MaskingMethod):
    frame = _holed(6, 0.0).assign(b=NAN)
    masked = method.apply(frame, 1)
    assert masked["b"].isna().all()
    assert (masked["a"] != frame["a"]).any()


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (
            Microaggregation(k=3),
            "the table, column 'b': k is 3, but there are only 2 values; choose a smaller k",
        ),
        (
            OptimalMicroaggregation(k=3),
            "the table, column 'b': k is 3, but there are only 2 values; choose a smaller k",
        ),
        (
            RankSwapping(percent=30),
            "the table, column 'b': percent is 30, less than one of 2 values; it must be at least 50",
        ),
        (
            AdditiveNoise(percent=30, correlated=True),
            "the table: correlated noise needs at least 4 records without missing values, but 2 records have "
            "a value of every attribute; mask fewer attributes together, or leave out correlated",
        ),
    ],
    ids=repr,
)
def test_too_few_values(method: MaskingMethod, message):
    frame = _holed(7, 0.0, records=20)
    frame.loc[2:, "b"] = NAN
    with pytest.raises(DataError) as caught:
        method.apply(frame, 1)
    assert str(caught.value) == message


def test_no_records_with_the_same_values_known():
    frame = pd.DataFrame({"a": [1.0, 2.0, NAN, NAN], "b": [1.0, NAN, 2.0, NAN], "c": [NAN, 1.0, 2.0, 3.0]})
    with pytest.raises(
        DataError, match=r"no 2 records have a value of the same attributes; choose a smaller"
    ):
        Microaggregation(k=2).apply(frame)


def test_one_value_is_not_swapped():
    frame = pd.DataFrame({"a": [1.0, NAN, NAN]})
    with pytest.raises(DataError, match="column 'a': there is only 1 value, and swapping needs two"):
        RankSwapping(percent=100).apply(frame, 1)
