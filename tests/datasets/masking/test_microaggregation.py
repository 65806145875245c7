"""Microaggregation: by MDAV, optimal, its groups, and the protections of D11.2."""

from __future__ import annotations

import itertools
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking import mdav as mdav_index
from linkrisk.datasets.masking.base import MaskingMethod
from linkrisk.datasets.masking.mdav import indexed_partition, mdav_partition, plain_partition
from linkrisk.datasets.masking.microaggregation import (
    PROTECTIONS,
    Microaggregation,
    OptimalMicroaggregation,
    optimal_partition,
    partition_by_pattern,
)
from linkrisk.datasets.masking.noise import AdditiveNoise
from linkrisk.datasets.masking.parameters import AttributeGroup
from linkrisk.datasets.masking.rank_swapping import RankSwapping
from linkrisk.datasets.microdata.formats.registry import read_table
from linkrisk.datasets.microdata.schema import Schema

SMALL_GRID = st.integers(-3, 3).map(float)  # few different values, so that ties are common


@st.composite
def points_and_k(draw: st.DrawFn) -> tuple[np.ndarray, int]:
    rows, columns = draw(st.integers(2, 40)), draw(st.integers(1, 4))
    elements = draw(st.sampled_from([SMALL_GRID, st.floats(-1e6, 1e6)]))
    points = draw(arrays(np.float64, (rows, columns), elements=elements))
    return points, draw(st.integers(2, min(rows, 8)))


FOLDER = os.environ.get("LINKRISK_DATA")
PAIRS = Path(FOLDER).parent / "bench" / "pairs" if FOLDER else Path("no folder of pairs")


def test_masking_does_not_depend_on_units():
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=pd.Index(["a", "b"]))
    masked = Microaggregation().apply(frame)
    scaled = Microaggregation().apply(frame.assign(b=frame["b"] * 1024))
    assert scaled["a"].to_list() == masked["a"].to_list()
    assert (scaled["b"] / 1024).to_list() == masked["b"].to_list()


@given(points_and_k())
@settings(max_examples=40, deadline=None, derandomize=True)
def test_masked_values_are_group_means_and_keep_the_mean(case):
    points, k = case
    names = [f"x{number}" for number in range(points.shape[1])]
    frame = pd.DataFrame(points, columns=pd.Index(names))
    masked = Microaggregation(attributes=tuple(names), k=k).apply(frame).to_numpy()
    scale = max(1.0, np.abs(points).max())
    np.testing.assert_allclose(masked.mean(axis=0), points.mean(axis=0), atol=1e-12 * scale)
    _, sizes = np.unique(masked, axis=0, return_counts=True)
    assert sizes.min() >= k
    # The total variance is the variance between groups and within them.
    within = ((points - masked) ** 2).sum()
    between = ((masked - points.mean(axis=0)) ** 2).sum()
    total = ((points - points.mean(axis=0)) ** 2).sum()
    np.testing.assert_allclose(within + between, total, rtol=1e-9, atol=1e-9 * scale**2)


def test_groups_of_attributes_are_masked_by_themselves():
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(rng.normal(size=(50, 4)), columns=pd.Index(list("abcd")))
    both = Microaggregation(groups=groups("a,c:3", "b,d:5")).apply(frame)
    first = Microaggregation(attributes=("a", "c"), k=3).apply(frame)
    second = Microaggregation(attributes=("b", "d"), k=5).apply(frame)
    pd.testing.assert_frame_equal(both[["a", "c"]], first[["a", "c"]])
    pd.testing.assert_frame_equal(both[["b", "d"]], second[["b", "d"]])
    pd.testing.assert_frame_equal(first[["b", "d"]], frame[["b", "d"]])


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("a,b:3", AttributeGroup(("a", "b"), 3)),
        ("a, b", AttributeGroup(("a", "b"))),
        ("odd:name:12", AttributeGroup(("odd:name",), 12)),
        ("odd:name,b", AttributeGroup(("odd:name", "b"))),
    ],
)
def test_groups_as_text(text, group: AttributeGroup):
    assert AttributeGroup.parse(text) == group


@pytest.mark.skipif(
    not PAIRS.is_dir(), reason="needs the bench pairs beside the public data: set LINKRISK_DATA"
)
@pytest.mark.parametrize("name", PROTECTIONS)
@pytest.mark.parametrize("records", [400, 1080])
def test_protections_reproduce_files_masked_by_other_code(name, records):
    original = read_table(PAIRS / f"{name}_{records}_s0_original.csv")
    masked = read_table(PAIRS / f"{name}_{records}_s0_masked.csv")
    made = PROTECTIONS[name].apply(original)
    # The other code sums in another order; the groups are the same.
    np.testing.assert_allclose(made.to_numpy(), masked.to_numpy(), rtol=2e-14)


def test_protections_are_those_of_d11_2():
    frame = pd.DataFrame(np.arange(70.0).reshape(10, 7) % 11, columns=pd.Index(list("abcdefg")))
    assert [protection.describe(frame) for protection in PROTECTIONS.values()] == [
        "M4-33, microaggregation (MDAV) of a, b with k = 3; of c, d with k = 3",
        "M4-28, microaggregation (MDAV) of a, b with k = 2; of c, d with k = 8",
        "M4-82, microaggregation (MDAV) of a, b with k = 8; of c, d with k = 2",
        "M5-38, microaggregation (MDAV) of a, b, c with k = 3; of d, e with k = 8",
        "M6-385, microaggregation (MDAV) of a, b with k = 3; of c, d with k = 8; of e, f with k = 5",
        "M6-853, microaggregation (MDAV) of a, b with k = 8; of c, d with k = 5; of e, f with k = 3",
    ]
    assert PROTECTIONS["M4-33"].masked_attributes(frame) == ("a", "b", "c", "d")


FRAME = pd.DataFrame({"a": [1.0, 2, 3], "b": [1.0, 5, 3], "t": ["x", "y", "z"]})


def groups(*texts):
    return tuple(map(AttributeGroup.parse, texts))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Microaggregation(k=1), "k is 1; a group needs at least 2 records"),
        (lambda: Microaggregation(groups=groups("a,b", "b")), "the attribute 'b' is given twice in groups;"),
        (lambda: Microaggregation(attributes=("a",), groups=groups("b")), "give either attributes or"),
        (lambda: Microaggregation(k=3, groups=groups("a:3", "b:3")), "k has no effect where every one of"),
        (lambda: Microaggregation(k=4, groups=groups("a:3", "b:3")), "k has no effect where every one of"),
        (lambda: groups("a,b:x"), "'a,b:x' has 'x' for k after the colon, which is not a whole number of at"),
        (lambda: groups("a,b:-1"), "'a,b:-1' has '-1' for k after the colon, which is not a whole number of"),
        (lambda: Microaggregation(k=4).apply(FRAME), "the table: k is 4, but there are only 3 records;"),
        (lambda: Microaggregation(attributes=("c",)).apply(FRAME), "the table has no column 'c'"),
        (lambda: Microaggregation(k=2).apply(FRAME[["t"]]), "the table has no numeric attribute to mask;"),
        (lambda: PROTECTIONS["M4-33"].apply(FRAME), "the table: M4-33 masks 4 attributes but there are 2"),
    ],
)
def test_bad_parameters(make: Any, message):
    with pytest.raises(DataError) as caught:
        make()
    assert message in str(caught.value)


def _error(values: np.ndarray, groups):
    return float(sum(((values[rows] - values[rows].mean()) ** 2).sum() for rows in groups))


def _all_partitions(rows, k):
    """Every partition of rows into sets of at least k."""
    if not rows:
        yield []
        return
    first, rest = rows[0], rows[1:]
    for size in range(k - 1, len(rest) + 1):
        for chosen in itertools.combinations(rest, size):
            for others in _all_partitions([row for row in rest if row not in chosen], k):
                yield [[first, *chosen], *others]


@given(
    arrays(np.float64, st.integers(2, 9), elements=st.one_of(SMALL_GRID, st.floats(-100, 100))),
    st.integers(2, 4),
)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_optimal_partition_is_the_best_of_all(values: np.ndarray, k):
    k = min(k, len(values))
    groups = optimal_partition(values, k)
    assert sorted(np.concatenate(groups).tolist()) == list(range(len(values)))
    assert all(k <= len(group) <= 2 * k - 1 for group in groups)
    best = min(_error(values, groups) for groups in _all_partitions(list(range(len(values))), k))
    assert _error(values, groups) == pytest.approx(best, rel=1e-9, abs=1e-9)


def test_optimal_microaggregation_masks_each_attribute_by_itself():
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(rng.normal(size=(40, 2)), columns=pd.Index(["a", "b"]), index=pd.Index(range(5, 45)))
    masked = OptimalMicroaggregation(k=3).apply(frame)
    for name in ("a", "b"):
        alone = OptimalMicroaggregation(k=3, attributes=(name,)).apply(frame)
        assert alone[name].to_list() == masked[name].to_list()
        assert masked[name].value_counts().between(3, 5).all()
    assert masked.index.tolist() == frame.index.tolist()
    assert OptimalMicroaggregation().describe(frame) == (
        "optimal univariate microaggregation with k = 3, each attribute by itself, of a, b"
    )


def _literal_mdav(points: np.ndarray, k):
    """MDAV word for word as published, in plain Python, ties to the lowest row."""

    def distance(first: Any, second: Any):
        return sum((a - b) * (a - b) for a, b in zip(first, second, strict=True))

    def centroid(rows):
        return [math.fsum(column) / len(rows) for column in points[rows].T.tolist()]

    def farthest(rows, centre: Any):
        return max(rows, key=lambda row: (distance(points[row], centre), -row))

    def take(rows, row):
        group = sorted(rows, key=lambda other: (distance(points[other], points[row]), other))[:k]
        for member in group:
            rows.remove(member)
        return sorted(group)

    left, groups = list(range(len(points))), []
    while len(left) >= 3 * k:
        r = farthest(left, centroid(left))
        s_candidates = list(left)
        groups.append(take(left, r))
        s_candidates = [row for row in s_candidates if row in left]
        s = farthest(s_candidates, points[r])
        groups.append(take(left, s))
    if len(left) >= 2 * k:
        groups.append(take(left, farthest(left, centroid(left))))
    return [*groups, left]


@pytest.mark.parametrize("partition", [plain_partition, indexed_partition])
@given(case=points_and_k())
@settings(max_examples=80, deadline=None, derandomize=True)
def test_mdav_is_the_published_algorithm(partition: Any, case):
    points, k = case
    assert [group.tolist() for group in partition(points, k)] == _literal_mdav(points, k)


def _shapes(records):
    """Points of kinds that an index could get wrong: ties, twins, few values, long tails, tiny numbers."""
    rng = np.random.default_rng(records)
    normal = rng.normal(size=(records, 5))
    return {
        "normal": normal,
        "tailed": np.exp(2 * normal[:, :3]) * np.sign(normal[:, 2:]),
        "grid": rng.integers(-3, 4, size=(records, 3)).astype(float),
        "line": rng.integers(0, records // 4, size=(records, 1)).astype(float),
        "ring": np.stack([np.cos(at := np.arange(records) * 6.25 / records), np.sin(at)], axis=1),
        "twins": np.repeat(normal[: records // 2], 2, axis=0),
        "equal": np.ones((records, 2)),
        "one far away": np.where(np.arange(records)[:, np.newaxis] == 7, 1e12, normal),
        "one attribute rules": normal * [1e9, 1.0, 1e-9, 0.0, 1.0],
        "squares vanish": normal * 1e-170,
        "squares nearly vanish": normal * 1e-150,
        "no attribute that varies but one": normal * [0.0, 0.0, 0.0, 1.0, 0.0] + 1e6,
    }


@pytest.mark.parametrize("shape", _shapes(8))
@pytest.mark.parametrize("k", [2, 7, 100])
def test_an_index_makes_the_groups_of_a_search_of_all_points(shape, k):
    points = _shapes(700)[shape]
    found, plain = indexed_partition(points, k), plain_partition(points, k)
    assert [group.tolist() for group in found] == [group.tolist() for group in plain]


def test_an_index_that_is_made_anew_at_any_moment_makes_the_same_groups(monkeypatch):
    points = _shapes(400)["tailed"]
    expected = [group.tolist() for group in plain_partition(points, 3)]
    for leaf, work in ((1, 1), (2, 300), (400, 1)):
        monkeypatch.setattr(mdav_index, "LEAF", leaf)
        monkeypatch.setattr(mdav_index, "WORK", work)
        assert [group.tolist() for group in indexed_partition(points, 3)] == expected


# Numeric masking where values are missing: they stay missing, and means have k values behind them


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
    expected = []
    for first, attributes in enumerate(([1, 2], [0], [0, 1, 2])):
        rows = np.arange(first, 90, 3)
        made = mdav_partition(points[np.ix_(rows, attributes)], 4)
        expected += [rows[group].tolist() for group in made]
    assert [group.tolist() for group in partition_by_pattern(points, 4)] == expected


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
        (Microaggregation(k=3), "the table, column 'b': k is 3, but there are only 2 values; choose a"),
        (RankSwapping(percent=30), "the table, column 'b': percent is 30, less than one of 2 values; it"),
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
    assert message in str(caught.value)
