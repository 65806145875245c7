"""MDAV, with and without an index: the published algorithm word for word, properties, examples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from point_sets import points_and_k

from linkrisk.datasets.masking import mdav as mdav_index
from linkrisk.datasets.masking.mdav import INDEXED_FROM, indexed_partition, mdav_partition, plain_partition
from linkrisk.datasets.masking.microaggregation import Microaggregation
from linkrisk.datasets.masking.microaggregation_kernels import form_groups, no_progress, plant, start_sums


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
