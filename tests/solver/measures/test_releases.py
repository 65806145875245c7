"""What a further release adds: against files put side by side by hand, and against one release."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import brute_force
import brute_optimum
import numpy as np
import pandas as pd
import pytest
from measure_runs import NAMES, files, table, taken, task_of, wide

from linkrisk import fit, risk
from linkrisk.errors import LinkriskError
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.inputs.releases import Releases, Way, aligned_groups
from linkrisk.solver.measures import releases
from linkrisk.solver.measures.base import Kind
from linkrisk.solver.measures.release_sequences import ReleaseRisk
from linkrisk.solver.measures.releases import ReleasesRisk, SeveralReleases
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.worst_case.families import search_families


@pytest.fixture(scope="module")
def trio():
    return files(releases=3)


@pytest.fixture(scope="module")
def together(trio):
    return taken(trio[0], trio[1:])


def test_together_is_a_fit_of_the_files_side_by_side(trio, together):
    original, *released = trio
    found = table(together)
    for count in (1, 2, 3):
        for family in fit(*wide(original, released[:count]), aggregator="all", time_limit=None).families:
            row = found.loc[count, family.aggregator]
            assert row["attributes"] == 2 * count
            assert (row["low"], row["high"]) == (
                family.result.linked / 8,
                family.result.linked_upper_bound / 8,
            )


def test_together_is_the_optimum_of_brute_force():
    original, *released = files(seed=11, records=6)
    result = taken(original, released, aggregator="weighted-mean,choquet")
    reference = brute_force.records(*(each.to_numpy() for each in wide(original, released)))
    families = {
        "weighted-mean": brute_optimum.weighted_mean_family(4),
        "choquet": brute_optimum.choquet_family(4),
    }
    for name, family in families.items():
        row = table(result).loc[2, name]
        assert row["low"] == row["high"] == brute_optimum.optimum(reference, family) / 6


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


def test_json_and_findings(together):
    measured = together["releases"]
    read = json.loads(measured.to_json())
    assert read["way"] == "together"
    assert len(read["risks"]) == 12
    keys = [finding.key for finding in measured.findings]
    assert keys == [
        "first_release",
        "all_releases",
        "rise_weighted_mean",
        "rise_owa",
        "rise_choquet",
        "rise_mahalanobis",
    ]
    assert all(finding.kind is Kind.CERTAIN for finding in measured.findings)
    assert "3 releases, attacked together" in measured.paragraph


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


@pytest.mark.parametrize("way", Way)
def test_that_holds_for_searches_that_were_cut_short(way):
    """Nothing rises for certain and by nothing at most, although the worst case itself is not known."""
    task = task_of(files(seed=5, releases=1))
    cut = search_families(task.first, task.problems, task.request, Clock(1e-9))
    assert not cut.proven
    releases = Releases((task.files, task.files), aligned_groups(way, 2), task.first.options)
    found = SeveralReleases().take(replace(task, worst=cut, releases=releases, _attacks={}), Clock(None))
    assert [(risk.rise_low, risk.rise_high) for risk in found.risks] == [(0.0, 0.0)] * 2
    assert found.at_worst == tuple(end / 8 for end in cut.interval)


def test_without_time_for_all_releases_nothing_is_known_of_them():
    original, *released = files()
    found = risk(original, released, measures="releases", time_limit=1e-9, tolerated=0.99)
    assert list(found.not_measured) == ["releases"]
    assert (found.verdict.answer, found.verdict.high) == ("open", 1.0)


def test_identical_releases_in_another_order_of_records():
    original, masked = (each.assign(id=range(8)) for each in files(seed=5, releases=1))
    result = taken(original, [masked, masked.iloc[::-1]], id="id")
    found = table(result)
    assert (found["low"] == found["high"]).all()
    assert found["rise_low"].tolist() == found["rise_high"].tolist() == [0.0] * 8
    assert "releases: release 2 holds nothing that those before it do not hold" in result.notes


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


def test_apart_takes_the_worst_release(trio):
    original, *released = trio
    result = taken(original, released, releases="apart")
    found = table(result)
    for number, masked in enumerate(released, start=1):
        for family in fit(original, masked, aggregator="all", time_limit=None).families:
            assert found.loc[(number, family.aggregator), "low"] == family.result.linked / 8
    for name in found.loc[1].index:
        lows = found.xs(name, level=1)["low"]
        assert found.loc[(3, name), "rise"] == pytest.approx(lows.max() - lows[1])
    assert result["releases"].at_worst[0] == found["low"].max()
    left = result["releases"].candidates_frame()
    assert (left["alone"] <= left["expected"] + 1e-12).all()
    for _, group in left.groupby(["aggregator", "times"]):
        assert (group["candidates"].diff().dropna() <= 0.0).all(), "an intersection grows"
    assert "Who intersects candidates" in result["releases"].paragraph


def test_two_grouped_releases_give_everybody_away():
    """Four persons in groups of two, paired otherwise in the second release: only intersecting finds them."""
    original = pd.DataFrame({"A": [0.0, 1.0, 0.0, 1.0], "B": [0.0, 0.0, 1.0, 1.0]})
    rows = pd.DataFrame({"A": [0.0, 1.0, 0.0, 1.0], "B": [0.5, 0.5, 0.5, 0.5 + 1e-9]})
    columns = pd.DataFrame({"A": [0.5, 0.5, 0.5, 0.5 + 1e-9], "B": [0.0, 0.0, 1.0, 1.0]})
    first, second = rows[["A"]], columns[["B"]]
    result = taken(
        original,
        [first, second],
        releases="apart",
        attributes=["A", "B"],
        aggregator="weighted-mean",
        row_by_row=True,
    )
    assert table(result)["high"].max() == 0.5, "one of two equal records, by lot"
    assert result.verdict.low == 1.0, "intersecting is an attack, and the verdict knows it"
    left = result["releases"].candidates_frame().set_index(["times", "number"])
    assert left.loc[(1.0, 1), ["candidates", "alone", "expected", "lost"]].tolist() == [2.0, 0.0, 0.5, 0.0]
    assert left.loc[(1.0, 2), ["candidates", "alone", "expected", "lost"]].tolist() == [1.0, 1.0, 1.0, 0.0]


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


def test_one_release_has_nothing_to_rise():
    original, masked = files(releases=1)
    found = risk(original, masked, measures="releases", aggregator="owa", time_limit=None)
    assert found.not_measured == {"releases": "there is one release; masked can be given several times"}


def test_bounds_hold_when_searches_are_cut_short(trio):
    """What is said then is never refuted by a search that was not cut short."""
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


REFUSED = [
    (
        {"measures": "worst-case"},
        "several releases are given, and releases is not among the measures: add it, or give the last "
        "release alone",
    ),
    (
        {"releases": "alone"},
        "unknown way to attack releases 'alone': choose together or apart, or say which can be aligned, as "
        "in 1+2,3",
    ),
    *(
        (
            {"releases": way},
            f"releases={way!r} must have each of the releases 1 to 2 once: those that can be aligned "
            "joined by +, the groups by commas",
        )
        for way in ("1+1,2", "1", "1,2+3", "0,1,2")
    ),
    (
        {"releases": "apart", "direction": "masked-to-original"},
        "releases='apart' is about persons whom an intruder looks for in every release: leave direction out",
    ),
    (
        {"versions": True},
        "versions takes one original for each of several releases, not 1 for 2: give original as often "
        "as masked",
    ),
    ({"attributes": ["A", "C"]}, "original has no column 'C' (attribute); there are: A, B"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_what_is_refused(options, message):
    original, *released = files()
    with pytest.raises(LinkriskError) as caught:
        risk(original, released, **options)
    assert str(caught.value) == message


UNFIT = [
    (
        lambda first, second: [first, second[:5]],
        {},
        "original has 8 records and masked 2 has 5; name the column",
    ),
    (
        lambda first, second: [first, second.rename(columns={"A": "C"})],
        {},
        "original does not have columns that masked 2 has: C; choose common columns with attributes",
    ),
    (
        lambda first, second: [first[["A"]], second.rename(columns={"A": "C", "B": "D"})],
        {"attributes": ["A"]},
        "masked 2 has none of the attributes A; name some that it has in attributes, too",
    ),
]


@pytest.mark.parametrize(("released", "options", "message"), UNFIT)
def test_releases_that_do_not_fit(released, options, message):
    original, *made = files()
    with pytest.raises(LinkriskError) as caught:
        risk(original, released(*made), **options)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_sources_without_an_id():
    original, first = files(releases=1)
    with pytest.raises(LinkriskError) as caught:
        risk([original[["A"]], original[["B"]]], first)
    assert str(caught.value) == (
        "several original files are joined by the ids of their records: name the column with id, or "
        "give "
        "one version for each release with versions=True"
    )


@pytest.mark.parametrize("ties", ["strict", "share"])
def test_no_bound_is_carried_where_ties_are_shared(ties):
    """Shared links of twins of the first release may be lost with the second one: no rise is promised."""
    original, first, second = files(seed=1, records=6)
    released = [first.round(0), second]
    found = table(taken(original, released, ties=ties, aggregator="weighted-mean,choquet"))
    for name, count in itertools.product(("weighted-mean", "choquet"), (1, 2)):
        alone = fit(*wide(original, released[:count]), aggregator=name, ties=ties, time_limit=None)
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
