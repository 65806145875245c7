"""Sequences of releases: embedded parameters, stages, intersected candidates."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measure_runs import files, table, taken, task_of, wide

from linkrisk import fit
from linkrisk.datasets.pairs.file_pair import make_file_pair
from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.comparison import Columns
from linkrisk.formulations.linkage.distances import Standardisation
from linkrisk.formulations.linkage.pair import make_pair
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.inputs.releases import Releases, aligned_groups, spelled_groups
from linkrisk.solver.measures.release_sequences import (
    SearchedRelease,
    embedded,
    intersections,
    marks,
    searched_stages,
)
from linkrisk.solver.measures.releases import SeveralReleases
from linkrisk.solver.run.clock import Clock


@pytest.mark.parametrize("name", ["weighted-mean", "choquet", "mahalanobis"])
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_the_distance_stays(name, seed):
    random = np.random.default_rng(seed)
    n, m = sorted(random.integers(1, 6, 2).tolist())
    positions = random.permutation(m)[:n].tolist()
    smaller, larger = (make_aggregator(name, tuple("ABCDEF"[:size])) for size in (n, m))
    theta = smaller.domain.sample(1, random)[0]
    found = embedded(smaller, larger, positions, theta)
    differences = np.abs(random.normal(size=(7, m)))
    distances = smaller.form(theta)(differences[:, positions]), larger.form(found)(differences)
    np.testing.assert_allclose(distances[0], distances[1], atol=1e-12)
    np.testing.assert_allclose(larger.domain.exact(found), found, atol=1e-12)


def test_families_that_have_no_such_distance():
    owa = [make_aggregator("owa", names) for names in (("A",), ("A", "B"))]
    assert embedded(*owa, [0], np.ones(1)) is None
    additive = [make_aggregator("choquet", tuple("ABC")[:n], k_additive=2) for n in (2, 3)]
    assert embedded(*additive, [0, 1], additive[0].equal()) is None
    other = make_aggregator("weighted-mean", ("A",)), make_aggregator("choquet", ("A", "B"))
    assert embedded(*other, [0], np.ones(1)) is None


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


@pytest.fixture(scope="module")
def trio():
    return files(releases=3)


@pytest.fixture(scope="module")
def mixed(trio):
    return taken(trio[0], trio[1:], releases="1+3,2", aggregator="weighted-mean,choquet")


def test_a_group_is_attacked_together_and_the_groups_apart(trio, mixed):
    """Against fits of files that are put side by side by hand."""
    original, *released = trio
    found, measured = table(mixed), mixed["releases"]
    assert found["attacked"].tolist() == ["1", "1", "2", "2", "1+3", "1+3"]
    searched = {1: released[:1], 2: released[1:2], 3: [released[0], released[2]]}
    for number, some in searched.items():
        for family in fit(
            *wide(original, some), aggregator="weighted-mean,choquet", time_limit=None
        ).families:
            row = found.loc[number, family.aggregator]
            assert (row["low"], row["high"]) == (
                family.result.linked / 8,
                family.result.linked_upper_bound / 8,
            )
    for name in ("weighted-mean", "choquet"):
        low = found.xs(name, level=1)["low"]
        assert found.loc[(2, name), "rise"] == pytest.approx(max(low[1], low[2]) - low[1])
        assert found.loc[(3, name), "rise"] == pytest.approx(max(low[2], low[3]) - low[1])
    assert measured.at_worst == (found.loc[[2, 3], "low"].max(), found.loc[[2, 3], "high"].max())
    assert (measured.way, measured.groups) == ("1+3,2", ((1, 3), (2,)))
    assert "3 releases, attacked as 1+3 and 2" in measured.paragraph
    assert "the first 2 releases alone allow" in measured.paragraph
    words = [finding.words for finding in measured.findings]
    assert "the worst of releases 1+3 and 2" in words


def test_groups_are_intersected_as_sets_of_python(trio):
    """Distances of the learned weights by hand, candidates as sets, person by person."""
    original, *released = trio
    task = task_of((original, released[-1]))
    pairs = tuple(make_problem(original, each, task.first.options).files for each in released)
    releases = Releases(pairs, aligned_groups("1+3,2", 3), task.first.options)
    stages = searched_stages(task, releases, Clock(None))
    task.releases = releases
    left = SeveralReleases().take(task, Clock(None)).candidates_frame().set_index(["times", "number"])

    def near(numbers, width):
        """For every person, the candidates that are near in some releases side by side."""
        theirs = [[released[number - 1] for number in numbers]]
        sides = [each.to_numpy() for each in wide(original, theirs[0])]
        first, second = ((side - side.mean(axis=0)) / side.std(axis=0) for side in sides)
        weights = stages[numbers[-1] - 1].results["weighted-mean"].parameters["weights"]
        squares = ((first[:, None] - second) ** 2) @ np.array(list(weights.values()))
        return [set(np.flatnonzero(np.sqrt(row) <= width * np.sqrt(row.min()) + 1e-9)) for row in squares]

    for width in (1.0, 1.5):
        one, two = near((1, 3), width), near((2,), width)
        for number, sets in ((1, one), (2, [a & b for a, b in zip(one, two, strict=True)])):
            row = left.loc[(width, number)]
            assert row["candidates"] == pytest.approx(np.mean([len(each) for each in sets]))
            guessed = [1 / len(each) if at in each else 0 for at, each in enumerate(sets)]
            assert row["expected"] == pytest.approx(np.mean(guessed))
            assert row["lost"] == pytest.approx(np.mean([at not in each for at, each in enumerate(sets)]))


@pytest.mark.parametrize(("way", "words"), [("1+2", "together"), (" 2 , 1 ", "apart")])
def test_both_words_are_groups(way, words):
    original, *released = files()
    spelled, by_word = (
        taken(original, released, releases=each, aggregator="weighted-mean")["releases"]
        for each in (way, words)
    )
    assert spelled.way == words
    assert spelled.to_json() == by_word.to_json()


def test_identical_releases_in_a_group_or_in_two_are_one(trio):
    original, first, second, _ = trio
    options = {"aggregator": "weighted-mean,choquet"}
    once = taken(original, [first, second], releases="apart", **options)
    for released, way in (([first, first, second], "1+2,3"), ([first, second, first], "1+3,2")):
        again = taken(original, released, releases=way, **options)
        assert again["releases"].at_worst == once["releases"].at_worst
        assert table(again).loc[3]["rise"].tolist() == table(once).loc[2]["rise"].tolist()
        assert any("holds nothing that those before it do not hold" in note for note in again.notes)
        ends = [
            each["releases"].candidates_frame().set_index(["aggregator", "times", "number"])
            for each in (once, again)
        ]
        pd.testing.assert_frame_equal(*ends)


@given(st.permutations(range(1, 6)), st.lists(st.sampled_from("+,"), min_size=4, max_size=4))
def test_groups_are_spelled_as_they_are_read(order, joints):
    way = "".join(f"{number}{joint}" for number, joint in zip(order, [*joints, ""], strict=True))
    groups = aligned_groups(way, 5)
    assert {frozenset(group) for group in groups} == {
        frozenset(map(int, group.split("+"))) for group in way.split(",")
    }
    assert aligned_groups(spelled_groups(groups), 5) == groups
