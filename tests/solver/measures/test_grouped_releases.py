"""Releases of which an intruder can align some: groups of them, attacked together and apart."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from release_runs import files, table, taken, wide
from risk_runs import task_of

from linkrisk import fit
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.inputs.releases import Releases, aligned_groups, spelled_groups
from linkrisk.solver.measures.release_sequences import searched_stages
from linkrisk.solver.measures.releases import SeveralReleases
from linkrisk.solver.run.clock import Clock


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
