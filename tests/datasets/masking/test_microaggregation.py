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
from point_sets import SMALL_GRID, points_and_k

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking import mdav as mdav_index
from linkrisk.datasets.masking.mdav import INDEXED_FROM, indexed_partition, mdav_partition, plain_partition
from linkrisk.datasets.masking.microaggregation import (
    PROTECTIONS,
    Microaggregation,
    OptimalMicroaggregation,
    group_means,
    optimal_partition,
)
from linkrisk.datasets.masking.microaggregation_kernels import form_groups, no_progress, plant, start_sums
from linkrisk.datasets.masking.parameters import AttributeGroup
from linkrisk.datasets.microdata.formats.registry import read_table

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
@settings(max_examples=80, deadline=None, derandomize=True)
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
    both = Microaggregation(groups=(AttributeGroup(("a", "c"), 3), AttributeGroup(("b", "d"), 5))).apply(
        frame
    )
    first = Microaggregation(attributes=("a", "c"), k=3).apply(frame)
    second = Microaggregation(attributes=("b", "d"), k=5).apply(frame)
    pd.testing.assert_frame_equal(both[["a", "c"]], first[["a", "c"]])
    pd.testing.assert_frame_equal(both[["b", "d"]], second[["b", "d"]])
    pd.testing.assert_frame_equal(first[["b", "d"]], frame[["b", "d"]])


def test_a_group_without_k_takes_that_of_the_method():
    frame = pd.DataFrame({"a": np.arange(12.0), "b": np.arange(12.0) ** 2})
    spelled = Microaggregation(groups=(AttributeGroup(("a",), 4), AttributeGroup(("b",), 2)))
    short = Microaggregation(k=4, groups=(AttributeGroup(("a",)), AttributeGroup(("b",), 2)))
    assert short.describe(frame) == "microaggregation (MDAV) of a with k = 4; of b with k = 2"
    pd.testing.assert_frame_equal(short.apply(frame), spelled.apply(frame))


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


def test_group_means_are_exactly_rounded():
    values = np.array([[0.1], [0.2], [0.3], [1e16], [1.0], [-1e16]])
    means = group_means(values, [np.array([0, 1, 2]), np.array([3, 4, 5])])
    assert means.ravel().tolist() == [0.6 / 3] * 3 + [1 / 3] * 3


FRAME = pd.DataFrame({"a": [1.0, 2, 3], "b": [1.0, 5, 3], "t": ["x", "y", "z"]})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Microaggregation(k=1), "k is 1; a group needs at least 2 records"),
        (lambda: OptimalMicroaggregation(k=0), "k is 0; a group needs at least 2 records"),
        (
            lambda: Microaggregation(groups=(AttributeGroup(("a",), 1),)),
            "k is 1; a group needs at least 2 records",
        ),
        (
            lambda: Microaggregation(groups=(AttributeGroup(("a", "b")), AttributeGroup(("b",)))),
            "the attribute 'b' is given twice in groups; give it once",
        ),
        (
            lambda: Microaggregation(attributes=("a",), groups=(AttributeGroup(("b",)),)),
            "give either attributes or groups, not both",
        ),
        *(
            (
                lambda k=k: Microaggregation(
                    k=k, groups=(AttributeGroup(("a",), 3), AttributeGroup(("b",), 3))
                ),
                "k has no effect where every one of groups has its own k; leave k out",
            )
            for k in (3, 4)
        ),
        *(
            (
                lambda k=k: AttributeGroup.parse(f"a,b:{k}"),
                f"'a,b:{k}' has '{k}' for k after the colon, which is not a whole number of at least 2; "
                "write A,B:3, or A,B for the k of k",
            )
            for k in ("x", "3.5", "-1", "", "\u00b2")
        ),
        (
            lambda: AttributeGroup.parse("a,,b:3"),
            "'a,,b' has an empty attribute name; write names separated by single commas",
        ),
        (
            lambda: Microaggregation(k=4).apply(FRAME),
            "the table: k is 4, but there are only 3 records; choose a smaller k",
        ),
        (
            lambda: OptimalMicroaggregation(k=4).apply(FRAME),
            "the table: k is 4, but there are only 3 records; choose a smaller k",
        ),
        (
            lambda: Microaggregation(attributes=("c",)).apply(FRAME),
            "the table has no column 'c' (attribute); there are: a, b, t",
        ),
        (
            lambda: Microaggregation(attributes=("a", "a")).apply(FRAME),
            "the attribute 'a' is given twice in attributes; give it once",
        ),
        (
            lambda: Microaggregation(attributes=("t",), k=2).apply(FRAME),
            "the table, column 't', row 1: 'x' is not a number; fix it or choose other attributes",
        ),
        (
            lambda: Microaggregation(k=2).apply(FRAME[["t"]]),
            "the table has no numeric attribute to mask; name at least one with attributes",
        ),
        (
            lambda: PROTECTIONS["M4-33"].apply(FRAME),
            "the table: M4-33 masks 4 attributes but there are 2 (a, b); name more with attributes or "
            "choose another protection",
        ),
        (
            lambda: Microaggregation(k=2).apply(FRAME, seed=-1),
            "the seed -1 is negative; give a whole number of at least 0",
        ),
    ],
)
def test_bad_parameters(make: Any, message):
    with pytest.raises(DataError) as caught:
        make()
    assert str(caught.value) == message


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


@given(points_and_k())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_optimal_partition_is_never_worse_than_mdav(case):
    points, k = case
    values = points[:, 0]
    optimal, mdav = optimal_partition(values, k), mdav_partition(values[:, np.newaxis], k)
    assert _error(values, optimal) <= _error(values, mdav) * (1 + 1e-9) + 1e-9


def test_optimal_partition_by_hand():
    # 1 2 3 | 10 11 with k = 2: error 2 + 0.5, against 0.5 + 38 for 1 2 | 3 10 11.
    assert [group.tolist() for group in optimal_partition(np.array([10.0, 1, 3, 2, 11]), 2)] == [
        [1, 2, 3],
        [0, 4],
    ]
    # With large offsets a difference of sums of squares would cancel to nothing.
    shifted = optimal_partition(1e9 + np.array([10.0, 1, 3, 2, 11]), 2)
    assert [group.tolist() for group in shifted] == [[1, 2, 3], [0, 4]]


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
@settings(max_examples=150, deadline=None, derandomize=True)
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
@pytest.mark.parametrize("k", [2, 3, 7, 100])
def test_an_index_makes_the_groups_of_a_search_of_all_points(shape, k):
    points = _shapes(700)[shape]
    found, plain = indexed_partition(points, k), plain_partition(points, k)
    assert [group.tolist() for group in found] == [group.tolist() for group in plain]


def test_an_index_looks_at_few_points():
    """With the work of a dozen looks at all points it forms thousands of groups."""
    points = np.random.default_rng(4).normal(size=(20_000, 3))
    progress = no_progress(*points.shape)
    start_sums(points, progress.partials, progress.used)
    tree = plant(points, np.arange(len(points)), mdav_index.LEAF)
    outer = mdav_index._listed(points, progress)
    form_groups(points, 3, tree, outer, progress, len(points) // 2, 12 * len(points))
    assert progress.counts[1] >= 2_000


def test_an_index_that_is_made_anew_at_any_moment_makes_the_same_groups(monkeypatch):
    points = _shapes(400)["tailed"]
    expected = [group.tolist() for group in plain_partition(points, 3)]
    for leaf, work in ((1, 1), (2, 300), (400, 1)):
        monkeypatch.setattr(mdav_index, "LEAF", leaf)
        monkeypatch.setattr(mdav_index, "WORK", work)
        assert [group.tolist() for group in indexed_partition(points, 3)] == expected


def test_a_large_table_is_masked_with_the_index_and_a_small_one_without(monkeypatch):
    rows = np.random.default_rng(9).normal(size=(INDEXED_FROM, 2))
    monkeypatch.setattr(
        "linkrisk.datasets.masking.mdav.indexed_partition", lambda points, k: (len(points), k)
    )
    assert mdav_partition(rows, 3) == (INDEXED_FROM, 3)
    assert len(mdav_partition(rows[1:], 3)) == (INDEXED_FROM - 1) // 3


@given(points_and_k())
@settings(max_examples=150, deadline=None, derandomize=True)
def test_mdav_partitions_into_groups_of_k_to_2k_minus_1(case):
    points, k = case
    groups = mdav_partition(points, k)
    assert sorted(np.concatenate(groups).tolist()) == list(range(len(points)))
    assert all(k <= len(group) <= 2 * k - 1 for group in groups)
    assert sum(len(group) != k for group in groups) <= 1


def test_mdav_by_hand():
    # The centroid of 0, 1, 2, 10, 11, 12, 20 is 8; the farthest from it is 20, and from 20 it is 0.
    points = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [20.0]])
    assert [group.tolist() for group in mdav_partition(points, 2)] == [[5, 6], [0, 1], [2, 3, 4]]


def test_mdav_settles_ties_by_row():
    assert [group.tolist() for group in mdav_partition(np.zeros((11, 2)), 3)] == [
        [0, 1, 2],
        [3, 4, 5],
        [6, 7, 8, 9, 10],
    ]
    corners = np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
    assert [group.tolist() for group in mdav_partition(corners, 2)] == [[0, 1], [2, 3]]


def test_mdav_follows_the_records_not_their_order():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(101, 3)), columns=pd.Index(["a", "b", "c"]))
    order = rng.permutation(101)
    masked = Microaggregation(k=4).apply(frame)
    pd.testing.assert_frame_equal(Microaggregation(k=4).apply(frame.iloc[order]), masked.iloc[order])
