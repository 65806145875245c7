"""The benchmark of engines: which cases, what outlives a stop, and what the tables conclude from runs."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from engine_cases import QUICK, Case, Choice, Known, best_known, cases, make_pair, resampled
from engine_runs import Ledger, Run, measure
from engine_tables import case_table, growth_table, ratios, verdicts

RUN = Run(
    "census", "M4-33_400_s0", 400, "original-to-masked", "weighted-mean", "exact", 60.0, "optimal",
    linked=370, bound=370, seconds=2.0, attack_seconds=1.0, peak_mb=300.0, commit="abc",
)  # fmt: skip
CASE = Case("census", RUN.pair, 400, RUN.direction, RUN.aggregator, Path("o.csv"), Path("m.csv"))
OPEN = replace(RUN, pair="M5-38_400_s0", status="feasible", limit="time", bound=374, seconds=60.0)


def other(method: str, run: Run = RUN, **changes: object) -> Run:
    return replace(run, method=method, **changes)


def keys(choice: Choice) -> list[tuple[str, str, str]]:
    return [(case.pair, case.direction, case.aggregator) for case in cases(choice, Path("p"), Path("none"))]


# Cases


def test_the_census_part_has_36_cases_of_each_size():
    both = keys(Choice(parts=("census",)))
    assert len(both) == len(set(both)) == 72
    assert keys(Choice(parts=("census",), records=(400,))) == both[:36]
    assert {pair for pair, _, _ in both[36:]} == {
        f"{kind}_1080_s0" for kind in ("M4-33", "M4-28", "M4-82", "M5-38", "M6-385", "M6-853")
    }


def test_a_choice_narrows_every_side():
    choice = Choice(("hard",), ("noise-20-6",), None, ("choquet",), ("masked-to-original",))
    assert keys(choice) == [("noise-20-6_400_s0", "masked-to-original", "choquet")]
    assert keys(replace(choice, kinds=("M4-33",))) == []
    assert len(keys(replace(QUICK, parts=("census", "hard")))) == 8


@pytest.mark.skipif(
    "LINKRISK_DATA" not in os.environ, reason="needs public data: set LINKRISK_DATA to its folder"
)
def test_growing_files_are_the_same_every_time_and_have_no_twins(tmp_path):
    make_pair(tmp_path / "a", "growth", 300)
    make_pair(tmp_path / "b", "growth", 300)
    for name in ("growth_original.csv", "growth_masked.csv"):
        first, second = (tmp_path / folder / name for folder in "ab")
        assert first.read_bytes() == second.read_bytes()
    values = resampled(3000, 0).to_numpy()
    assert values.shape == (3000, 6)
    assert all(len(np.unique(column)) == 3000 for column in values.T)
    assert not (values == resampled(3000, 1).to_numpy()).any()


def test_best_known_figures_may_be_absent(tmp_path):
    assert best_known(tmp_path / "nothing.csv") == {}
    file = tmp_path / "known.csv"
    file.write_text(
        "pair,direction,aggregator,records,euclid,linked,linked_upper_bound\np,d,a,400,1,2,3\n",
        encoding="utf-8",
    )
    assert best_known(file) == {("p", "d", "a"): Known(2, 3)}


# The ledger


def test_runs_outlive_a_stop_and_the_later_line_counts(tmp_path):
    file = tmp_path / "runs.csv"
    ledger = Ledger(file)
    slow = replace(RUN, seconds=3.25, note='with "quotes", commas')
    failed = other("milp", status="failed", linked=None, bound=None, note="no memory")
    for run in (RUN, slow, failed):
        ledger.add(run)
    with file.open("a", encoding="utf-8") as stream:
        stream.write("census,M4-33_400_s0,400,original-to-mas")  # stopped while writing
    again = Ledger(file)
    limits = {"census": {"exact": 60.0, "milp": 60.0}}
    assert again.runs([CASE], limits) == [slow, failed]
    assert (CASE, "exact", 60.0) in again
    assert (CASE, "exact", 10.0) not in again
    assert (CASE, "milp", 60.0) not in again  # what failed is run again
    done = other("milp", status="optimal")
    again.add(done)
    assert Ledger(file).runs([CASE], limits) == [slow, done]


@pytest.mark.parametrize(
    "method",
    [
        "exact",
        "pulp-paper-c",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("milp", "pulp-valid-c", "pulp-bare")),
    ],
)
@pytest.mark.usefixtures("survey_folder")
def test_a_run_in_a_process_of_its_own(method):
    case = replace(CASE, original=Path("original.csv"), masked=Path("masked.csv"), records=30)
    run = measure(case, method, 3000.0)
    assert (run.status, run.limit, run.linked, run.bound) == ("optimal", "", 23, 23)
    assert 0 <= run.attack_seconds <= run.seconds
    assert 50 < run.peak_mb < 1000
    assert (run.needed_c is not None) == method.startswith("pulp")


@pytest.mark.usefixtures("survey_folder")
def test_a_run_that_fails_says_why():
    run = measure(CASE, "exact", 30.0)
    assert (run.status, run.linked, run.gap) == ("failed", None, None)
    assert run.note.startswith("DataError: ")


def test_a_run_that_does_not_end_is_killed(monkeypatch):
    monkeypatch.setattr("engine_runs.GRACE", -30.0)  # no time at all
    run = measure(CASE, "exact", 30.0)
    assert (run.status, run.linked, run.gap) == ("killed", None, None)
    assert "1 without an answer" in verdicts([RUN, replace(run, pair="b")], {})[0]


# The tables


def test_only_cases_that_both_prove_enter_the_ratio():
    runs = [
        RUN, replace(RUN, pair="b"), replace(RUN, pair="c"), OPEN,
        other("milp", seconds=4.0), other("milp", replace(RUN, pair="b"), seconds=16.0),
        other("milp", replace(RUN, pair="c"), status="feasible", limit="time", bound=371, seconds=75.0),
        other("milp", OPEN, status="optimal", bound=370, limit="", seconds=5.0),
    ]  # fmt: skip
    lines = ratios(runs)
    assert lines[1] == "  both prove: 4.0 in the geometric mean of 2 cases (2.0 to 8.0)"
    assert lines[2].endswith("6.7 in the geometric mean of 2 cases (3.0 to 15.0)")
    assert lines[3].endswith("so at least: 30.0 in the geometric mean of 1 case (30.0 to 30.0)")
    assert lines[4].endswith("1\n    M5-38_400_s0 o-m weighted-mean")


def test_a_constant_that_cuts_off_proves_nothing():
    """Its model may be solved to the end; that is neither a proof nor a stop, and is said by itself."""
    cut = other("pulp-paper-c", status="feasible", bound=380, needed_c=12.5, seconds=40.0)
    lines = ratios([RUN, cut])
    assert lines[1] == "  both prove: no case"
    assert lines[3].endswith("so at least: no case")
    assert lines[4].endswith("solved to the end: 20.0 in the geometric mean of 1 case (20.0 to 20.0)")
    assert ">=370, solved, C too small" in case_table([RUN, cut], {})[1]
    valid = replace(cut, needed_c=9.5)
    assert "370..380" in case_table([RUN, valid], {})[1]


def test_links_below_the_margin_are_named():
    assert ratios([RUN, other("milp", linked=369, bound=369)])[-1].endswith(
        "1\n    M4-33_400_s0 o-m weighted-mean"
    )


def test_what_cannot_be_right_is_listed():
    good = verdicts([RUN, OPEN], {RUN.key: Known(370, 370), OPEN.key: Known(370, 378)})
    assert good[0] == "exact: 1 of 2 proven, 1 of them within 60 s; 0 without an answer"
    assert good[1].startswith("worst gap 1.00 percentage points (M5-38_400_s0 o-m weighted-mean)")
    assert good[2] == (
        "  weighted-mean: 1 of 2 proven, worst gap 1.00; gaps of 1.00 in all where 2.00 were known, at most "
        "half of the known gap in 1 of 1 open cases"
    )
    assert [line.endswith(": none") for line in good[-3:]] == [True, True, True]
    low = verdicts([RUN], {RUN.key: Known(371, 371)})
    assert low[-3:] == [
        "answers below best_known.csv: 1\n    M4-33_400_s0 o-m weighted-mean: 370 < 371",
        "answers above the bound of best_known.csv: none",
        "bounds that some answer refutes: 1\n"
        "    M4-33_400_s0 o-m weighted-mean: at most 370, but 371 are linked",
    ]
    high = verdicts([RUN], {RUN.key: Known(360, 369)})
    assert high[-2].endswith("1\n    M4-33_400_s0 o-m weighted-mean: 370 > 369")
    refuted = verdicts([RUN, other("milp", linked=372, bound=372)], {})
    assert refuted[-1].endswith("at most 370, but 372 are linked")


def test_runs_without_an_answer_are_counted_and_shown():
    failed = replace(RUN, pair="b", status="failed", linked=None, bound=None, note="UsageError: too large")
    assert verdicts([RUN, failed], {})[0].endswith("1 of them within 60 s; 1 without an answer")
    assert verdicts([failed], {}) == ["exact: no answer"]
    assert growth_table([failed])[1].endswith("UsageError: too large")
