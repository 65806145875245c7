"""What a further release adds: side by side, apart, in groups, and by intersected candidates."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measure_runs import NAMES, files, table, taken, task_of, wide
from refusals import refusal

from linkrisk import fit, risk
from linkrisk.datasets.pairs.file_pair import make_file_pair
from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.comparison import Columns
from linkrisk.formulations.linkage.distances import Standardisation
from linkrisk.formulations.linkage.pair import make_pair
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.inputs.releases import Releases, Way, aligned_groups, spelled_groups
from linkrisk.solver.measures import releases
from linkrisk.solver.measures.release_sequences import (
    ReleaseRisk,
    SearchedRelease,
    embedded,
    intersections,
    marks,
)
from linkrisk.solver.measures.releases import ReleasesRisk, SeveralReleases
from linkrisk.solver.run.clock import Clock


@pytest.fixture(scope="module")
def trio():
    return files(releases=3)


@pytest.fixture(scope="module")
def together(trio):
    return taken(trio[0], trio[1:])


def searched(found, number, families):
    """What a search of some families says is what stands in the rows of a number of releases."""
    for family in families:
        row, result = found.loc[number, family.aggregator], family.result
        assert (row["low"], row["high"]) == (result.linked / 8, result.linked_upper_bound / 8)


def test_together_is_a_fit_of_the_files_side_by_side(trio, together):
    original, *released = trio
    found = table(together)
    for count in (1, 2, 3):
        assert (found.loc[count]["attributes"] == 2 * count).all()
        families = fit(*wide(original, released[:count]), aggregator="all", time_limit=None).families
        searched(found, count, families)


def test_the_rise_is_that_of_the_intervals(together):
    found = table(together)
    for name in found.loc[1].index:
        first, last = found.loc[1, name], found.loc[3, name]
        assert last["rise_low"] == pytest.approx(last["low"] - first["low"])
        assert last["rise_high"] == last["rise"] == last["rise_low"]
        if name != "owa":  # of which one release is no part of several
            assert (found.xs(name, level=1)["low"].diff().dropna() >= 0.0).all()


def test_the_verdict_knows_all_releases(together):
    ends = together["releases"].at_worst
    assert (together.verdict.low, together.verdict.high) == ends
    assert ends[0] > together.worst.interval[0] / 8


@pytest.mark.parametrize("way", ["together", "apart"])
def test_two_identical_releases_give_the_same_risk_as_one(way):
    original, masked = files(seed=5, releases=1)
    alone = risk(original, masked, measures="worst-case", time_limit=None)
    twice = taken(original, [masked, masked.copy()], releases=way)
    found = table(twice)
    for family in alone.worst.families:
        for number in (1, 2):
            ends = found.loc[(number, family.aggregator), ["low", "high", "rise", "rise_low", "rise_high"]]
            assert ends.tolist() == [*(end / 8 for end in family.result.interval), 0.0, 0.0, 0.0]
    assert (twice.verdict.low, twice.verdict.high) == (alone.verdict.low, alone.verdict.high)


def test_without_time_for_all_releases_nothing_is_known_of_them():
    original, *released = files()
    found = risk(original, released, measures="releases", time_limit=1e-9, tolerated=0.99)
    assert list(found.not_measured) == ["releases"]
    assert (found.verdict.answer, found.verdict.high) == ("open", 1.0)
    found = risk(original, released[0], measures="releases", aggregator="owa", time_limit=None)
    assert found.not_measured == {"releases": "there is one release; masked can be given several times"}


def test_a_release_of_other_attributes_is_put_beside():
    original, first, second = files()
    result = taken(original, [first[["A"]], second[["B"]]], attributes=["A", "B"], aggregator="weighted-mean")
    both = pd.concat([first[["A"]], second[["B"]]], axis=1)
    assert table(result).loc[2, "weighted-mean"]["low"] == fit(original, both).linked / 8
    assert table(result)["attributes"].tolist() == [1, 2]


def test_new_records_and_the_records_of_the_first_release():
    """A file released again when two more records had come."""
    original, first, second = (each.assign(id=range(8)) for each in files())
    result = taken(original, [first[:6], second], id="id", aggregator="weighted-mean")
    found = table(result)
    assert found["records"].tolist() == [6, 8]
    last = found.loc[2, "weighted-mean"]
    assert last["first_low"] <= last["first_high"] <= 1.0
    assert last["first_low"] * 6 <= last["low"] * 8
    assert (
        "releases: 2 of 8 released records are not in every release; what a release does not hold of them is "
        "missing, and compared by missing='expected'"
    ) in result.notes


def test_versions_compare_each_release_with_what_it_was_made_of():
    """Values changed: release 2 is exact, but of new values, which only the second version has."""
    original, first, _ = files()
    newer = original + np.random.default_rng(8).normal(size=original.shape)
    versions = taken([original, newer], [first, newer], versions=True, aggregator="weighted-mean")
    assert table(versions).loc[2, "weighted-mean"]["low"] == 1.0
    older = taken(original, [first, newer], aggregator="weighted-mean")
    assert table(older).loc[2, "weighted-mean"]["high"] < 1.0


def test_sources_are_joined_by_id():
    original, first, second = (each.assign(id=range(8)) for each in files())
    sources = [original[["id", "A"]], original[["id", "B"]].iloc[::-1]]
    joined = taken(sources, [first, second], id="id", aggregator="weighted-mean")
    pd.testing.assert_frame_equal(
        table(joined), table(taken(original, [first, second], id="id", aggregator="weighted-mean"))
    )


def test_weights_of_persons_who_came_later():
    """Shares are of the weights of those who are released by then; a schema says what the ids are."""
    weights = np.array([1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 10.0, 20.0])
    original, first, second = (each.assign(id=range(8)) for each in files(noise=0.01))
    schema = {"attributes": [{"name": "id", "role": "record-id"}, {"name": "w", "role": "weight"}]}
    sources = [original.assign(w=weights), original[["id", "B"]]]
    second.loc[6:, NAMES] = second.loc[[7, 6], list(NAMES)].to_numpy()  # the two who came are exchanged
    result = taken(sources, [first[:6], second], schema=schema, aggregator="weighted-mean")
    last = table(result).loc[2, "weighted-mean"]
    assert table(result)["low"].tolist() == pytest.approx([1.0, 12.0 / 42.0])
    assert last["first_low"] == 1.0
    assert last["rise"] == pytest.approx(12.0 / 42.0 - 1.0)


def test_sources_of_one_release():
    original, masked = (each.assign(id=range(8)) for each in files(releases=1))
    sources = [original[["id", "A"]], original[["id", "B"]][2:]]
    found = risk(sources, masked, id="id", measures="worst-case", aggregator="weighted-mean", time_limit=None)
    lacking = original.assign(B=original["B"].where(original["id"] >= 2))
    assert found.worst.linked == fit(lacking, masked, id="id", time_limit=None).linked
    assert "original 1 with original 2: 2 of 8 records are not in every source" in found.notes
    assert refusal(lambda: risk([original[["A"]], original[["B"]]], masked[["A", "B"]])) == (
        "several original files are joined by the ids of their records: name the column with id, or give "
        "one version for each release with versions=True"
    )


def test_two_grouped_releases_give_everybody_away():
    """Four persons in groups of two, paired otherwise in the second release: only intersecting finds them."""
    original = pd.DataFrame({"A": [0.0, 1.0, 0.0, 1.0], "B": [0.0, 0.0, 1.0, 1.0]})
    equal = [0.5, 0.5, 0.5, 0.5 + 1e-9]
    first, second = original[["A"]].assign(B=equal)[["A"]], original[["B"]].assign(A=equal)[["B"]]
    asked = {"releases": "apart", "attributes": ["A", "B"], "row_by_row": True}
    result = taken(original, [first, second], aggregator="weighted-mean", **asked)
    assert table(result)["high"].max() == 0.5, "one of two equal records, by lot"
    assert result.verdict.low == 1.0, "intersecting is an attack, and the verdict knows it"
    assert "Who intersects candidates" in result["releases"].paragraph
    left = result["releases"].candidates_frame().set_index(["times", "number"])
    left = left[["candidates", "alone", "expected", "lost"]]
    assert left.loc[(1.0, 1)].tolist() == [2.0, 0.0, 0.5, 0.0]
    assert left.loc[(1.0, 2)].tolist() == [1.0, 1.0, 1.0, 0.0]


def test_a_family_that_cannot_take_all_attributes_says_so():
    random = np.random.default_rng(0)
    names = list("ABCDEFG")
    original = pd.DataFrame(random.normal(size=(6, 7)), columns=names)
    released = [original + random.normal(size=original.shape) for _ in range(2)]
    result = taken(original, released, aggregator="weighted-mean,choquet", work_limit=2.0, time_limit="auto")
    row = table(result).loc[2, "choquet"]
    assert row["reason"].startswith("a fuzzy measure on 14 attributes has 16,383 non-empty subsets")
    assert np.isnan(row["low"])
    assert any("no worst case of choquet at release 2" in note for note in result.notes)
    # What a group allows is not known then, so neither is by how much the worst of all rises.
    released.append(original + random.normal(size=original.shape))
    result = taken(original, released, aggregator="choquet", releases="1+2,3", work_limit=2.0)
    assert table(result)["low"].isna().tolist() == [False, True, False]
    assert table(result)["rise"].isna().tolist() == [False, True, True]


def test_bounds_hold_when_searches_are_cut_short(trio):
    original, *released = trio
    names = ("weighted-mean", "choquet")
    whole = table(taken(original, released, aggregator=names))
    task = task_of((original, released[-1]), names)
    pairs = tuple(make_problem(original, each, task.first.options).files for each in released)
    task.releases = Releases(pairs, aligned_groups(Way.TOGETHER, 3), task.first.options)
    found = SeveralReleases().take(task, Clock(None, work_limit=1e-2))
    rows = found.to_frame().set_index(["number", "aggregator"]).dropna(subset=["rise"])
    assert len(rows) >= 2
    for at, row in rows.iterrows():
        assert row["low"] <= whole.loc[at, "low"] + 1e-12
        assert row["high"] >= whole.loc[at, "high"] - 1e-12
        assert row["rise_low"] - 1e-12 <= whole.loc[at, "rise"] <= row["rise_high"] + 1e-12


def both(first, second):
    return [first, second]


REFUSED = [
    (both, {"measures": "worst-case"}, "several releases are given, and releases is not among the measures:"),
    (both, {"releases": "alone"}, "unknown way to attack releases 'alone': choose together or apart, or say"),
    *(
        (both, {"releases": way}, f"releases={way!r} must have each of the releases 1 to 2 once: those that")
        for way in ("1+1,2", "1", "1,2+3", "0,1,2")
    ),
    (
        both, {"releases": "apart", "direction": "masked-to-original"},
        "releases='apart' is about persons whom an intruder looks for in every release: leave direction out",
    ),
    (both, {"versions": True}, "versions takes one original for each of several releases, not 1 for 2: give"),
    (both, {"attributes": ["A", "C"]}, "original has no column 'C' (attribute); there are: A, B"),
    (lambda first, second: [first, second[:5]], {}, "original has 8 records and masked 2 has 5; name the"),
    (
        lambda first, second: [first, second.rename(columns={"A": "C"})], {},
        "original does not have columns that masked 2 has: C; choose common columns with attributes",
    ),
    (
        lambda first, second: [first[["A"]], second.rename(columns={"A": "C", "B": "D"})],
        {"attributes": ["A"]},
        "masked 2 has none of the attributes A; name some that it has in attributes, too",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("released", "options", "message"), REFUSED)
def test_what_is_refused(released, options, message):
    original, *made = files()
    assert refusal(lambda: risk(original, released(*made), **options)).startswith(message)


def test_no_bound_is_carried_where_ties_are_shared():
    """Shared links of twins of the first release may be lost with the second one: no rise is promised."""
    original, first, second = files(seed=1, records=6)
    released = [first.round(0), second]
    found = table(taken(original, released, ties="share", aggregator="weighted-mean,choquet"))
    for name, count in itertools.product(("weighted-mean", "choquet"), (1, 2)):
        alone = fit(*wide(original, released[:count]), aggregator=name, ties="share", time_limit=None)
        assert found.loc[(count, name), "low"] == pytest.approx(alone.interval[0] / 6)


def test_a_rise_has_no_upper_end_where_no_bound_was_found():
    ends = {"low": 0.2, "high": 1.0, "rise": 0.1, "rise_low": 0.0, "rise_high": 0.9}
    first = ReleaseRisk(1, "1", "owa", 2, 10, 10, low=0.1, high=1.0)
    late = ReleasesRisk(
        2, "together", ((1, 2),), (first, ReleaseRisk(2, "1+2", "owa", 2, 10, 10, **ends)), (), (), ()
    )
    assert late.paragraph.endswith("by 0.0 % at least, and no bound was found in time on how much more.")
    rise = next(one for one in late.findings if one.key == "rise_owa")
    assert (rise.low, rise.high) == (0.0, None)


def test_guesses_among_what_is_left_are_of_weights_and_of_records():
    size, holds, weight = np.array([1.0, 2.0, 4.0]), np.array([True, True, False]), np.array([1.0, 1.0, 8.0])
    left = releases._left_of("owa", 1.0, 2, (size, holds, weight))
    assert (left.expected, left.alone, left.lost) == pytest.approx((0.15, 0.1, 0.8))
    assert left.unweighted == pytest.approx(0.5)
    found = ReleasesRisk(2, "apart", ((1,), (2,)), (), (left,), (), ())
    assert [one[2:] for one in found.counted_attacks] == [pytest.approx((0.15, 0.5))]


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
        (*random.integers(0, 4, (2, n, 2)).astype(float), random.integers(0, kinds, n)) for _ in range(3)
    ]
    found = intersections([release(*each) for each in releases], never, seed, (1.0, 1.5))
    for (w, width), person in itertools.product(enumerate((1.0, 1.5)), range(n)):
        left = set(range(kinds))
        for at, (original, masked, mark) in enumerate(releases):
            distances = ((original[person] - masked) ** 2).sum(axis=1)
            left &= set(mark[distances <= width**2 * distances.min() + 1e-9].tolist())
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
def mixed(trio):
    return taken(trio[0], trio[1:], releases="1+3,2", aggregator="weighted-mean,choquet")


def test_a_group_is_attacked_together_and_the_groups_apart(trio, mixed):
    original, *released = trio
    found, measured, names = table(mixed), mixed["releases"], "weighted-mean,choquet"
    assert found["attacked"].tolist() == ["1", "1", "2", "2", "1+3", "1+3"]
    for number, some in ((1, released[:1]), (2, released[1:2]), (3, [released[0], released[2]])):
        searched(found, number, fit(*wide(original, some), aggregator=names, time_limit=None).families)
    for name in names.split(","):
        low = found.xs(name, level=1)["low"]
        assert found.loc[(2, name), "rise"] == pytest.approx(max(low[1], low[2]) - low[1])
        assert found.loc[(3, name), "rise"] == pytest.approx(max(low[2], low[3]) - low[1])
    assert measured.at_worst == (found.loc[[2, 3], "low"].max(), found.loc[[2, 3], "high"].max())
    assert (measured.way, measured.groups) == ("1+3,2", ((1, 3), (2,)))
    assert "3 releases, attacked as 1+3 and 2" in measured.paragraph
    assert "the first 2 releases alone allow" in measured.paragraph
    assert "the worst of releases 1+3 and 2" in [finding.words for finding in measured.findings]


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
