"""Trees of boxes: every record in one place, boxes as tight as can be, halves where they are said to be."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.formulations.linkage.box_tree import ALL, KNOWN, SOME, TOGETHER, box_tree, place_of


def check(records, importance=None, categories=None):
    """All that the docstring says of a tree, box by box."""
    many, n = records.shape
    tree = box_tree(records, np.ones(n) if importance is None else importance, categories)
    assert sorted(tree.order.tolist()) == list(range(many))
    assert tree.low.shape == tree.high.shape == (2 << tree.levels, n)
    lacking = np.isnan(records)
    assert tree.lacking.shape == (tree.low.shape if lacking.any() else (1, 0))
    for level in range(tree.levels + 1):
        boxes = range(1 << level, 2 << level)
        firsts = [(box - 2**level) * many // 2**level for box in (*boxes, 2 << level)]
        assert firsts == [place_of(box, level, many) for box in (*boxes, 2 << level)]
        assert (firsts[0], firsts[-1]) == (0, many)
        for box, (first, last) in zip(boxes, pairwise(firsts), strict=True):
            inside = tree.order[first:last]
            assert inside.size > 0
            held = np.where(lacking[inside], math.inf, records[inside])
            np.testing.assert_array_equal(tree.low[box], held.min(axis=0))
            held = np.where(lacking[inside], -math.inf, records[inside])
            np.testing.assert_array_equal(tree.high[box], held.max(axis=0))
            unknown = lacking[inside].sum(axis=0)
            expected = np.where(unknown == 0, KNOWN, np.where(unknown == inside.size, ALL, SOME))
            if tree.lacking.size:
                np.testing.assert_array_equal(tree.lacking[box], expected)
            for k in np.flatnonzero([] if categories is None else categories):
                assert int(tree.codes[box, k]) == sum({1 << int(code) for code in records[inside, k]})
            if level == tree.levels:
                assert inside.size <= TOGETHER
    return tree


def halves(tree, records):
    """The values of the records on either side of the first cut."""
    middle = place_of(2, 1, len(records)), place_of(3, 1, len(records))
    return records[tree.order[middle[0] : middle[1]]], records[tree.order[middle[1] :]]


@given(
    seed=st.integers(0, 10_000),
    many=st.one_of(st.sampled_from([1, 2, 16, 17, 32, 33, 64, 65, 257]), st.integers(1, 400)),
    n=st.integers(1, 4),
    values=st.sampled_from(["real", "whole", "alike", "far"]),
    missing=st.sampled_from([0.0, 0.0, 0.1, 0.9, 1.0]),
)
def test_boxes_hold_their_records_exactly(seed, many, n, values, missing):
    random = np.random.default_rng(seed)
    records = random.normal(size=(many, n))
    if values == "whole":
        records = np.round(records)
    elif values == "alike":
        records[:] = records[0]
    elif values == "far":
        records *= 10.0 ** random.integers(-300, 301, size=(many, 1))
    records[random.random(records.shape) < missing] = np.nan
    importance = random.exponential(size=n) * random.integers(0, 2, size=n)
    check(records, importance)


@given(seed=st.integers(0, 10_000), many=st.integers(1, 120), missing=st.booleans())
def test_categories_among_numbers(seed, many, missing):
    random = np.random.default_rng(seed)
    counts = random.integers(1, 6, size=3)
    records = np.column_stack([random.normal(size=many), random.integers(0, counts, size=(many, 3))])
    if missing:
        records[random.random(many) < 0.3, 0] = np.nan
    check(records, categories=np.array([0, *counts]))


@pytest.mark.parametrize(("many", "levels"), [(1, 0), (2, 0), (16, 0), (17, 1), (32, 1), (33, 2), (1025, 7)])
def test_boxes_are_halved_until_few_are_left_together(many, levels):
    tree = check(np.arange(many, dtype=float)[:, None])
    assert tree.levels == levels
    # By a single attribute, each box follows the one before it.
    last = range(1 << levels, 2 << levels)
    assert all(tree.high[box, 0] < tree.low[box + 1, 0] for box in last[:-1])


def test_columns_without_a_value_and_constant_ones_do_not_halve():
    random = np.random.default_rng(1)
    records = np.column_stack([np.full(50, np.nan), np.full(50, 7.0), 0.01 * random.normal(size=50)])
    tree = check(records)
    near, far = halves(tree, records)
    assert near[:, 2].max() < far[:, 2].min()
    assert (tree.lacking[1:, 0] == ALL).all()
    assert (tree.lacking[1:, 1:] == KNOWN).all()
    assert (tree.low[1:, 0] == np.inf).all()
    assert (tree.high[1:, 0] == -np.inf).all()


def test_who_lacks_a_value_comes_last():
    records = np.arange(40.0)[:, None]
    records[::2] = np.nan
    tree = check(records)
    near, far = halves(tree, records)
    assert not np.isnan(near).any()
    assert np.isnan(far).all()
    assert tree.lacking[:4, 0].tolist()[1:] == [SOME, KNOWN, ALL]


def test_the_attribute_that_counts_most_is_halved_first():
    """A variance of 100 against 1, once as it is and once weighted down; unimportant ones never."""
    random = np.random.default_rng(2)
    records = random.normal(size=(60, 2)) * [10.0, 1.0]
    for importance, k in (([1.0, 1.0], 0), ([1e-4, 1.0], 1), ([0.0, 1.0], 1), ([1.0, 0.0], 0)):
        near, far = halves(check(records, np.array(importance)), records)
        assert near[:, k].max() < far[:, k].min()


def test_many_categories_vary_by_one_half_at_most():
    random = np.random.default_rng(3)
    for deviation, k in ((0.5, 0), (0.9, 1)):
        records = np.column_stack([np.arange(64) % 32, deviation * random.normal(size=64)]).astype(float)
        near, far = halves(check(records, categories=np.array([32, 0])), records)
        assert near[:, k].max() <= far[:, k].min()


def test_overflowing_variances_do_no_harm():
    random = np.random.default_rng(4)
    records = random.choice([-1e300, 1e300, -1.7e308, 1.7e308, 0.0], size=(100, 2))
    check(records)
    check(records, np.zeros(2))
