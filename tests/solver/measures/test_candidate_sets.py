"""Intersecting candidates over releases, by hand and by sets of Python."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.datasets.pairs.file_pair import make_file_pair
from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.comparison import Columns
from linkrisk.formulations.linkage.distances import Standardisation
from linkrisk.formulations.linkage.pair import make_pair
from linkrisk.solver.measures.release_sequences import SearchedRelease, intersections, marks


def release(original, masked, mark=None, weights=None, aggregator="weighted-mean"):
    """Values as they are, row by row."""
    original, masked = (
        np.asarray(each, dtype=np.float64).reshape(len(each), -1) for each in (original, masked)
    )
    names = tuple("ABC"[: original.shape[1]])
    pair = make_pair(original, masked, columns=Columns(names=names), standardisation=Standardisation.NONE)
    family = make_aggregator(aggregator, names)
    theta = family.equal() if weights is None else np.asarray(weights, dtype=np.float64)
    return SearchedRelease(
        pair, family.form(theta), np.arange(len(masked)) if mark is None else np.array(mark)
    )


def never():
    return False


def test_groups_of_two_paired_otherwise():
    """Releases of the square: by its rows, and by its columns. Each alone leaves two, both leave one."""
    square = [[0, 0], [0, 1], [1, 0], [1, 1]]
    rows, columns = [[0, 0.5], [0, 0.5], [1, 0.5], [1, 0.5]], [[0.5, 0], [0.5, 1], [0.5, 0], [0.5, 1]]
    found = intersections([release(square, rows), release(square, columns)], never, 0, (1.0,))
    assert found.size.tolist() == [[[2] * 4, [1] * 4]]
    assert found.holds.all()


def test_confidential_values_agree_before_persons_do():
    """Candidates with two illnesses in the first release; the second rules one out, once wrongly."""
    persons = [0.0, 10.0, 20.0]
    first = release(persons, [5.0, 5.0, 20.0], mark=[0, 1, 2])
    second = release(persons, [4.0, 30.0, 20.0], mark=[0, 2, 2])
    found = intersections([first, second], never, 0, (1.0,))
    assert found.size[0].T.tolist() == [[2, 1], [2, 1], [1, 1]]
    assert found.holds[0].T.tolist() == [[True, True], [True, False], [True, True]]


@pytest.mark.parametrize("aggregator", ["weighted-mean", "mahalanobis"])
def test_how_far_candidates_are_kept(aggregator):
    """From 0 the masked values are 1, 2 and 4 away; twice as far is that, although forms take squares."""
    one = release([0.0, 50.0, 60.0], [1.0, 2.0, 4.0], aggregator=aggregator)
    found = intersections([one], never, 0, (1.0, 1.9, 2.0, 4.0))
    assert found.size[:, 0, 0].tolist() == [1, 1, 2, 3]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_intersections_by_sets_of_python(seed):
    random = np.random.default_rng(seed)
    n, kinds = int(random.integers(2, 9)), int(random.integers(1, 5))
    releases = [
        (random.integers(0, 4, (n, 2)).astype(float), random.integers(0, 4, (n, 2)).astype(float),
         random.integers(0, kinds, n))
        for _ in range(3)
    ]  # fmt: skip
    found = intersections([release(*each) for each in releases], never, seed, (1.0, 1.5))
    for w, width in enumerate((1.0, 1.5)):
        for person in range(n):
            left = set(range(kinds))
            for at, (original, masked, mark) in enumerate(releases):
                distances = [sum((original[person] - other) ** 2) for other in masked]
                left &= {
                    int(m)
                    for m, d in zip(mark, distances, strict=True)
                    if d <= width**2 * min(distances) + 1e-9
                }
                assert found.size[w, at, person] == len(left)
                assert found.holds[w, at, person] == (int(mark[person]) in left)


def test_whoever_runs_out_of_time_has_looked_at_some(monkeypatch):
    monkeypatch.setattr("linkrisk.solver.measures.release_sequences._MEGABYTES", 1e-9)
    one = release(np.arange(20.0), np.arange(20.0))
    asked = iter([False, False, True])
    found = intersections([one], lambda: next(asked), 0, (1.0,))
    assert (~np.isnan(found.size)).sum() == 3


def test_marks_are_values_or_persons():
    original = pd.DataFrame({"id": list("abc"), "A": [1.0, 2.0, 3.0], "ill": ["x", "y", "y"]})
    first, second = original.iloc[:2], original.iloc[::-1].assign(ill=["y", "y", "z"])
    files = [make_file_pair(original, each, id="id", attributes=["A"]) for each in (first, second)]
    apart = [[each] for each in files]
    assert [each.tolist() for each in marks(apart, ())] == [[0, 1], [2, 1, 0]]
    assert [each.tolist() for each in marks(apart, ("ill",))] == [[0, 1], [1, 1, 2]]
    assert [each.tolist() for each in marks(apart, ("ill", "id"))] == [[0, 1], [2, 1, 3]]
    # Of a group: its persons in their order, each by the last release that has him.
    mixed = [files, files[:1]]
    assert [each.tolist() for each in marks(mixed, ())] == [[0, 1, 2], [0, 1]]
    assert [each.tolist() for each in marks(mixed, ("ill",))] == [[0, 1, 1], [2, 1]]


def test_a_candidate_that_is_impossible_is_none():
    table = np.array([[0.0, np.inf], [1.0, 0.0]])
    first, second = np.array([[0.0], [1.0]]), np.array([[1.0], [1.0]])
    pair = make_pair(
        first, second, columns=Columns(names=("A",), tables=[table]), standardisation=Standardisation.NONE
    )
    form = make_aggregator("weighted-mean", ("A",)).form(np.ones(1))
    found = intersections([SearchedRelease(pair, form, np.arange(2))], never, 0, (1.0,))
    assert found.size[0, 0].tolist() == [0, 2]
