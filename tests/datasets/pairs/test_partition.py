"""Attributes divided between two files: spanning trees against brute force, chance by seed."""

from __future__ import annotations

import os
from itertools import combinations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.pairs.partition import (
    correlations,
    random_partition,
    related_attributes,
    spanning_tree,
    spanning_tree_partition,
)
from linkrisk.datasets.public.registry import load

NAMES = "abcdef"


@st.composite
def tables(draw):
    """Whole numbers: some correlations are equal, some columns constant."""
    attributes = draw(st.integers(2, 5))
    cells = draw(st.lists(st.integers(0, 3), min_size=6 * attributes, max_size=6 * attributes))
    return pd.DataFrame(np.array(cells).reshape(6, attributes), columns=list(NAMES[:attributes]))


THRESHOLDS = st.sampled_from([-np.inf, -0.3, 0.0, 0.31, 0.7])


def largest_forest_weight(matrix, threshold):
    """Number of edges and total weight of the best of all forests of strong edges with most edges."""
    edges = [edge for edge in combinations(range(len(matrix)), 2) if matrix[edge] >= threshold]
    best = (0, 0.0)
    for count in range(len(matrix)):
        for chosen in combinations(edges, count):
            graph = nx.Graph(chosen)
            if not chosen or nx.is_forest(graph):
                best = max(best, (count, sum(float(matrix[edge]) for edge in chosen)))
    return best


@given(tables(), THRESHOLDS)
def test_no_forest_weighs_more(frame, threshold):
    matrix = correlations(frame, list(frame))
    edges = spanning_tree(matrix, threshold)
    count, weight = largest_forest_weight(matrix, threshold)
    assert len(edges) == count
    assert sum(matrix[edge] for edge in edges) == pytest.approx(weight, abs=1e-9)
    assert all(a < b for a, b in edges)
    assert (np.diff([matrix[edge] for edge in edges]) <= 0).all()


@given(tables(), THRESHOLDS)
def test_strongly_correlated_attributes_are_separated(frame, threshold):
    matrix = correlations(frame, list(frame))
    edges = spanning_tree(matrix, threshold)
    if not edges:
        with pytest.raises(DataError, match="no correlation reaches the threshold"):
            spanning_tree_partition(frame, list(frame), threshold)
        return
    first, second = spanning_tree_partition(frame, list(frame), threshold)
    used = {NAMES[node] for edge in edges for node in edge}
    assert sorted(first + second) == sorted(used)
    assert all((NAMES[a] in first) != (NAMES[b] in first) for a, b in edges)
    assert list(first) == sorted(first)
    assert list(second) == sorted(second)


def test_attributes_that_do_not_vary_have_no_edge():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [5, 5, 5], "c": [2, 4, 7]})
    assert spanning_tree_partition(frame, ["a", "b", "c"], -np.inf) == (("a",), ("c",))


@given(st.integers(2, 6), st.integers(0, 50))
def test_random_partitions_are_balanced(size, seed):
    names = tuple(NAMES[:size])
    first, second = random_partition(names, seed)
    assert sorted(first + second) == list(names)
    assert abs(len(first) - len(second)) <= 1
    assert (first, second) == random_partition(names, seed)
    assert list(first) == sorted(first)


def test_related_attributes():
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "b": [1, 2, 3, 5], "c": [4, 3, 2, 1], "d": [1, -1, 1, -1]})
    assert related_attributes(frame, ["a"], ["d", "c", "b"]) == ("b",)
    assert related_attributes(frame, ["a"], ["d", "c", "b"], -np.inf) == ("d", "c", "b")
    assert related_attributes(frame, ["d"], ["a", "c"]) == ()


@pytest.mark.skipif(
    "LINKRISK_DATA" not in os.environ, reason="needs public data: set LINKRISK_DATA to its folder"
)
def test_what_smith_says_of_public_data():
    """All seven sizes of an abalone at 0.7, and 5 of 14 attributes of housing (2016, section 6.2)."""
    abalone = load("abalone").select_dtypes("number")
    first, second = spanning_tree_partition(abalone, list(abalone))
    assert sorted(first + second) == sorted(set(abalone) - {"Rings"})
    housing = load("boston-housing")
    first, second = spanning_tree_partition(housing, list(housing))
    assert (housing.shape[1], len(first + second)) == (14, 5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: correlations(f, ["a", "x"]), "the table has no column 'x'"),
        (lambda f: correlations(f, ["a", "a"]), "the attribute 'a' is given twice"),
        (lambda f: correlations(f, ["a", "s"]), "attribute 's' is not numeric and has no correlations"),
        (lambda f: spanning_tree_partition(f, ["a", "b"], 0.9), "no correlation reaches the threshold 0.9"),
        (lambda _: random_partition(("a",), 0), "a partition needs at least two attributes"),
        (lambda _: random_partition(("a", "a"), 0), "the attribute 'a' is given twice"),
        (lambda _: random_partition(("a", "b"), -1), "the seed -1 is negative"),
    ],
)
def test_bad_input(call, message):
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [3, 1, 2], "s": ["x", "y", "z"]})
    with pytest.raises(DataError) as caught:
        call(frame)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
