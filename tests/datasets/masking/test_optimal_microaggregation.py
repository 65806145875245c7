"""Optimal univariate microaggregation: against every partition, against MDAV, by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from point_sets import SMALL_GRID, points_and_k

from linkrisk.datasets.masking.mdav import mdav_partition
from linkrisk.datasets.masking.microaggregation import OptimalMicroaggregation, optimal_partition


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
