"""The operation risk, its choices and its JSON."""

from __future__ import annotations

import json
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_runs import PAIR, refuse, run
from fit_runs import frames as random_frames
from key_tasks import GUIDE_KEYS, practice_guide
from key_tasks import task_of as key_task
from measure_runs import pair_task, task_of
from refusals import refusal
from small_files import NAMES, grouped, noisy, survey

from linkrisk import Cancel, fit, risk
from linkrisk.solver.inputs.releases import given_releases
from linkrisk.solver.measures.base import Finding, Kind, MeasureResult, jsonable
from linkrisk.solver.measures.keys import IndividualRiskOfKeys
from linkrisk.solver.measures.population_uniqueness import PopulationUniques, uniques_risk
from linkrisk.solver.measures.registry import MEASURES
from linkrisk.solver.measures.risk import page_seconds
from linkrisk.solver.measures.task import MeasureChoices
from linkrisk.solver.measures.verdict_findings import Known, verdict_of
from linkrisk.solver.report.findings import number_of, written
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.result import plain
from linkrisk.solver.worst_case import families
from linkrisk.solver.worst_case.families import search_families

TIES = ({"ties": "strict"}, {"ties": "share"}, {})
api_risk = sys.modules["linkrisk.solver.measures.risk"]

BEFORE = ("worst-case", "references")


def frames(make=noisy):
    rows = survey()
    return (pd.DataFrame(each, columns=list(NAMES)) for each in (rows, make(rows)))


@pytest.fixture(scope="module")
def result():
    return risk(*frames(), measures=BEFORE, time_limit=None)


def test_an_open_verdict_says_so():
    task = task_of(frames(), ["weighted-mean"])
    cut = search_families(task.first, task.problems, task.request, Clock(1e-9))
    low, high = (end / 30 for end in cut.interval)
    known = Known(replace(task, worst=cut, _attacks={}), {}, {}, high - 0.01)
    found = verdict_of(known)
    assert low < high
    assert (found.answer, found.high) == ("open", high)
    assert found.low >= low  # a baseline may link more
    assert "a longer time limit may tell" in found.sentence
    assert ("no bound was found in time" in found.sentence) == (high == 1.0)


def test_the_worst_cases_are_those_of_fit_and_json_is_strict(result):
    found = result["worst-case"].to_frame().set_index("aggregator")
    for family in fit(*frames(), aggregator="all", time_limit=None).families:
        row, alone = found.loc[family.aggregator], family.result
        assert (row["linked"], row["most"]) == (alone.linked, alone.linked_upper_bound)
        assert row["proven"]
    read = json.loads(result.to_json())
    assert (list(read["measures"]), read["records"]) == (list(BEFORE), 30)
    for name in BEFORE:
        head = {"format": "linkrisk-measure", "version": 1}
        assert json.loads(result[name].to_json()) == {**head, **read["measures"][name]}
        assert type(result[name]).__repr__ is MeasureResult.__repr__, "the dataclass needs repr=False"
        assert result[name].paragraph in repr(result)


def test_a_run_that_is_cancelled_says_what_it_left_out():
    cancel = Cancel()

    def stop(progress):
        if progress.phase == "measures":
            cancel.cancel()

    found = risk(*frames(), measures=BEFORE, time_limit=None, cancel=cancel, on_progress=stop)
    assert found.not_measured == {"references": "stopped before it was begun"}
    assert list(found.measures) == ["worst-case"]


def test_shared_ties_count_expected_links():
    asked = {"measures": "worst-case", "aggregator": "weighted-mean", "time_limit": None}
    strict, shared, usual = (risk(*frames(grouped), **asked, **ties) for ties in TIES)
    assert strict["worst-case"].families[0].linked == 0
    assert shared["worst-case"].families[0].linked == shared.worst.worst.details["expected_links"] > 0
    assert usual.verdict == shared.verdict, "where candidates are equal, guessing among them is an attack"
    assert strict.verdict.low == pytest.approx(shared.verdict.low) or strict.verdict.answer == "above"
    assert strict.verdict.high >= shared.verdict.high
    by_key = {one.key: one for one in shared.verdict.findings}
    assert (by_key["without_lots"].low, by_key["without_lots"].high) == (0.0, 0.0)
    twins = strict.worst.worst.details["tied"]["with_twins"]
    assert twins > 0
    assert f"worst case: {twins} records are nearest to several identical records" in strict.notes[-1]
    assert not usual["worst-case"].notes


def test_cheap_measures_come_first_and_are_shown_in_their_place():
    began, names = [], ("references", "uniqueness", "information-loss")

    def note(progress):
        if progress.phase == "measures":
            began.append(progress.about)

    found = risk(*frames(), measures=names, aggregator="owa", time_limit=None, on_progress=note)
    assert began == ["uniqueness", "information-loss", "references"]
    assert list(found.measures) == list(found.details["measure_seconds"]) == list(names)


def test_what_takes_no_time_is_measured_where_none_is_left():
    names = ("worst-case", "information-loss", "uniqueness", "membership")
    found = risk(*frames(), measures=names, aggregator="owa", time_limit=1e-3)
    assert {"information-loss", "uniqueness"} <= set(found.measures)


@pytest.mark.parametrize("limit", [1e6, None])
def test_what_surely_takes_longer_than_is_left_is_not_begun(limit, monkeypatch):
    monkeypatch.setattr(MEASURES["uniqueness"].__class__, "growth", 1e15)
    names = ("uniqueness", "information-loss")
    found = risk(*frames(), measures=names, aggregator="owa", time_limit=limit)
    if limit is None:
        assert list(found.measures) == list(names)
        return
    assert list(found.measures) == ["information-loss"]
    reason = "no time was left for it; a longer time_limit would take it too"
    assert found.not_measured == {"uniqueness": reason}


def test_what_one_measure_cannot_take_costs_no_other():
    """Probabilistic linkage compares at most 21 attributes."""
    rows = survey(24)
    wide = pd.DataFrame({f"V{at}": [row[at % 3] + at * row[0] % 7 for row in rows] for at in range(22)})
    asked = ["simple-attacks", "link-reliability"]
    found = risk(wide, wide, measures=asked, aggregator="weighted-mean", time_limit=None, row_by_row=True)
    assert list(found.measures) == ["simple-attacks"]
    assert found.not_measured["link-reliability"].startswith(
        "probabilistic linkage compares at most 21 attributes"
    )
    reasons = {one.key: one.reason for one in found["simple-attacks"].attacks}
    assert reasons["probabilistic"] == found.not_measured["link-reliability"]


def test_a_measure_that_does_not_end_is_left_behind(monkeypatch):
    """It ends when the others have been taken: whoever waited for it would wait for ever."""
    over, began = threading.Event(), []

    def endless(self, task, clock):
        del self, task, clock
        began.append(True)
        assert over.wait(600.0)

    monkeypatch.setattr(type(MEASURES["uniqueness"]), "take", endless)
    monkeypatch.setattr(type(MEASURES["uniqueness"]), "cost", 0.0)
    asked = {"measures": ["worst-case", "uniqueness"], "aggregator": "weighted-mean"}
    try:
        found = risk(*frames(), **asked, time_limit=0.7)
    finally:
        over.set()
    assert began
    assert "worst-case" in found.measures
    reason = "it had not ended when its time was over; a longer time_limit would take it too"
    assert found.not_measured["uniqueness"] == reason


def test_reading_is_inside_the_limit_and_a_part_is_left_to_certificates(virtual_time, monkeypatch):
    """Of 100 seconds 20 are left to certificates, and 30 have passed while files were read."""
    clocks = []

    def slow(*given, **named):
        while virtual_time.asked < 3_000:
            virtual_time.perf_counter()
        return given_releases(*given, **named)

    def noting(first, problems, request, clock):
        clocks.append(clock)
        return families.search_families(first, problems, request, clock)

    monkeypatch.setattr(api_risk, "given_releases", slow)
    monkeypatch.setattr(api_risk, "search_families", noting)
    asked = {"measures": "worst-case", "aggregator": "weighted-mean", "certificates": True}
    found = risk(*frames(), **asked, time_limit=100.0)
    assert clocks[0].time_limit == pytest.approx(0.5 * (100.0 - 20.0 - 30.0), abs=1.0)
    assert found.details["seconds"] > 30.0


def test_a_report_leaves_time_to_its_page_by_what_it_lists():
    """Of 20,000 records it takes more than a share of the limit for all sizes: 28 s of 15 once."""
    assert page_seconds(500, 60.0) < page_seconds(20_000, 60.0) < page_seconds(100_000, 60.0)
    assert page_seconds(200_000, 60.0) < page_seconds(500, 60.0)  # which lists none of them
    assert all(page_seconds(records, 10.0) <= 3.5 for records in (500, 20_000, 200_000))


WEIGHTED = {"attributes": [{"name": "A", "role": "key"}, {"name": "w", "role": "weight"}]}
QUICK = {"measures": "records", "aggregator": "weighted-mean", "time_limit": None, "row_by_row": True}


def regional_survey():
    original, masked = random_frames(5, 30, attributes=1, noise=0.1)
    original["region"] = ["north", "south", None] * 10
    original["w"] = np.where(np.arange(30) % 2, 2.0, 10.0)
    return original, masked


def test_shares_are_of_what_records_stand_for():
    original, masked = regional_survey()
    found = risk(original, masked, schema=WEIGHTED, groups=["region"], **QUICK)["records"]
    linked, weight = found.attacks[0].linked, original["w"].to_numpy()
    assert 0 < linked.sum() < 30
    for _, row in found.to_groups().iterrows():
        of = (original["region"].fillna("missing") == row["category"]).to_numpy()
        assert row["population"] == weight[of].sum()
        assert row["share"] == pytest.approx(weight[of & linked].sum() / weight[of].sum())
        assert (row["records"], row["linked"]) == (10, (of & linked).sum())
    by = np.array([attack.linked for attack in found.attacks])
    shares = {one.key: one.value for one in found.findings}
    assert shares["linked_by_any"] == pytest.approx(np.average(by.any(axis=0), weights=weight))
    assert shares["linked_by_all"] == pytest.approx(np.average(by.all(axis=0), weights=weight))
    assert shares["out_of_reach"] == pytest.approx(np.average(found.never, weights=weight))
    assert json.loads(found.to_json())["weight"] == weight.tolist()


def test_a_fraction_serves_the_measures_of_keys():
    guide = practice_guide()
    columns = {"attributes": GUIDE_KEYS, "nominal": GUIDE_KEYS}
    task = key_task(guide, guide, **columns, row_by_row=True)
    task.choices = MeasureChoices(fraction=0.01)
    by_fraction = IndividualRiskOfKeys().take(task, Clock(None))
    assert by_fraction.weighted
    assert by_fraction.population.tolist() == (100.0 * by_fraction.frequency).tolist()
    uniques = pair_task(guide, guide, **columns, choices=MeasureChoices(fraction=0.01))
    assert PopulationUniques().lacking(uniques) is None
    found = PopulationUniques().take(uniques, Clock(None))
    assert found.original.chosen == uniques_risk(guide, GUIDE_KEYS, 0.01).chosen


def test_a_fraction_beside_weights_is_refused():
    assert refusal(lambda: risk(*regional_survey(), schema=WEIGHTED, fraction=0.1, **QUICK)) == (
        "the sampling weights (column w of the schema) say what is sampled: leave fraction out, or the "
        "role weight"
    )


@pytest.mark.usefixtures("survey_folder")
def test_the_command_line(capsys):
    quick = ["risk", *PAIR, "--aggregator", "weighted-mean", "--time-limit", "none"]
    text = run(
        capsys, *quick, "--measures", "records,membership", "--groups", "hours,age", "--fraction", "0.05",
        "--json", "risk.json", "--table", "findings.csv",
    )  # fmt: skip
    assert "Targets of the population, who may not be in the file" in text
    assert "  Journalist: target of the population " in text
    read = json.loads(Path("risk.json").read_text(encoding="utf-8"))["measures"]
    columns = [row["column"] for row in read["records"]["groups"]]
    assert list(dict.fromkeys(columns)) == ["hours", "age"]
    assert read["membership"]["population"] == 600
    assert ",persons," in Path("findings.csv").read_text(encoding="utf-8")
    refuse(
        capsys, "the original file has no column 'hour' (--groups); did you mean 'hours'?", *quick,
        "--groups", "hour", "--json", "new.json",
    )  # fmt: skip


def test_shares_and_intervals_do_not_look_like_ends():
    assert written(0.0004, "share") == "0.04 %"
    assert written(0.9996, "share") == "99.96 %"
    assert written(12345.0, "persons") == "12,345 persons"
    counted = Finding("worst", "worst case", 0.976, low=0.9731, kind=Kind.CONFIDENCE)
    assert number_of(jsonable(counted)).interval == "97.3 % or more, 95 % confidence"


FLOATS = [0.5, -0.0, 3.0, np.nan, np.inf, -np.inf, 1e300, 2.0**70, -7.0, 1e-9]


@pytest.mark.parametrize(
    "values",
    [
        np.array(FLOATS).reshape(5, 2),
        np.array([0.5, np.nan, 3.0, -np.inf], dtype=np.float32),
        np.array([], dtype=np.float64),
        np.arange(6).reshape(2, 3),
        np.array([True, False]),
        np.array(4.0),
        np.array(["a", None, 2.0], dtype=object),
    ],
)
def test_an_array_is_written_as_each_of_its_values(values):
    def each(value):
        return [each(one) for one in value] if isinstance(value, list) else plain(value)

    found = jsonable(values)
    assert found == each(values.tolist())
    assert json.dumps(found, allow_nan=False) == json.dumps(each(values.tolist()), allow_nan=False)


def test_a_frame_is_written_as_each_of_its_cells():
    frame = pd.DataFrame(
        {"a": [1.0, np.nan], "b": pd.array([1, None], dtype="Int64"), "c": ["x", None], "d": [True, False]}
    )
    assert jsonable(frame) == {
        "columns": ["a", "b", "c", "d"],
        "rows": [[1, 1, "x", True], [None, None, None, False]],
    }


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (np.linalg.LinAlgError("Singular matrix"), "(LinAlgError: Singular matrix)"),
        (ZeroDivisionError(), "(ZeroDivisionError)"),
        (MemoryError(), "memory ran out"),
    ],
)
def test_what_fails_costs_no_other(error, said, monkeypatch):
    def fails(*_, **__):
        raise error

    def one_fails(problem, *rest, **named):
        return (fails if problem.aggregator.name == "owa" else fit_one)(problem, *rest, **named)

    fit_one = families.fit_one
    monkeypatch.setattr(families, "fit_one", one_fails)
    monkeypatch.setattr(type(MEASURES["references"]), "take", fails)
    found = risk(*frames(), measures=BEFORE, aggregator="weighted-mean,owa", time_limit=None)
    assert list(found.measures) == ["worst-case"]
    assert found.not_measured["references"].endswith(said)
    first, second = found["worst-case"].families
    assert first.proven
    assert second.linked is None
    assert second.reason.endswith(said)
