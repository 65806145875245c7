"""Benchmarks on a few records: what they print, what outlives a stop, and what they conclude."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import certificates
import compiling
import engines
import linkers
import measures
import microdata
import numpy as np
import pandas as pd
import pytest
import reading
import scale
from engines import (
    QUICK,
    Case,
    Known,
    Run,
    case_table,
    cases,
    growth_table,
    latest,
    measure,
    ratios,
    verdicts,
)
from harness import Ledger
from passes import CHANGED, LACKING, MANY, PASSES, draw_persons, figures
from scale_cases import CASES, NOMINAL, make_files

from linkrisk.datasets.masking.base import standardised

with_data = pytest.mark.skipif(
    "LINKRISK_DATA" not in os.environ, reason="needs public data: set LINKRISK_DATA to its folder"
)

RUN = Run(
    "census", "M4-33_400_s0", 400, "original-to-masked", "weighted-mean", "exact", 60.0, "optimal",
    linked=370, bound=370, seconds=2.0, peak_mb=300.0, commit="abc",
)  # fmt: skip
CASE = Case("census", RUN.pair, 400, RUN.direction, RUN.aggregator, Path("o.csv"), Path("m.csv"))
OPEN = replace(RUN, pair="M5-38_400_s0", status="feasible", limit="time", bound=374, seconds=60.0)


def other(method, run=RUN, **changes):
    return replace(run, method=method, **changes)


# Engines


def test_cases_of_engines():
    def keys(**wanted):
        return [
            (case.pair, case.direction, case.aggregator) for case in cases(Path(), Path("none"), **wanted)
        ]

    both = keys(parts=("census",))
    assert len(both) == len(set(both)) == 72
    assert keys(parts=("census",), records=(400,)) == both[:36]
    one = {"parts": ("hard",), "aggregators": ("choquet",), "directions": ("masked-to-original",)}
    assert keys(**one, kinds=("noise-20-6",)) == [("noise-20-6_400_s0", "masked-to-original", "choquet")]
    assert keys(**one, kinds=("M4-33",)) == []
    assert len(keys(**QUICK, parts=("census", "hard"))) == 8


def test_runs_outlive_a_stop_and_the_later_line_counts(tmp_path, monkeypatch):
    file = tmp_path / "runs.csv"
    ledger = Ledger(file, Run)
    slow = replace(RUN, seconds=3.25, note='with "quotes", commas')
    failed = other("milp", status="failed", linked=None, bound=None, note="no memory")
    for run in (RUN, slow, failed):
        ledger.add(run)
    with file.open("a", encoding="utf-8") as stream:
        stream.write("census,M4-33_400_s0,400,original-to-mas")  # stopped while writing
    again = Ledger(file, Run)
    limits = {"exact": 60.0, "milp": 60.0}
    assert latest(again, [CASE], limits) == [slow, failed]
    assert latest(again, [CASE], {"exact": 10.0}) == []
    done = other("milp", status="optimal")
    monkeypatch.setattr(engines, "measure", lambda *asked: done if asked == (CASE, "milp", 60.0) else None)
    monkeypatch.setattr(engines, "alone", lambda *_: None)
    engines.run_missing([CASE], {"census": limits}, again, ())  # what failed is run again, and that alone
    assert latest(Ledger(file, Run), [CASE], limits) == [slow, done]


@pytest.mark.parametrize("method", ["exact", "pulp-bare", pytest.param("milp", marks=pytest.mark.slow)])
@pytest.mark.usefixtures("survey_folder")
def test_a_run_in_a_process_of_its_own(method):
    run = measure(replace(CASE, original=Path("original.csv"), masked=Path("masked.csv")), method, 3000.0)
    assert (run.status, run.limit, run.linked, run.bound) == ("optimal", "", 23, 23)
    assert 50 < run.peak_mb < 1000


def test_a_run_that_fails_or_does_not_end(monkeypatch):
    failed = measure(CASE, "exact", 30.0)
    assert (failed.status, failed.linked, failed.gap) == ("failed", None, None)
    assert failed.note.startswith("DataError: ")
    said = verdicts([RUN, replace(failed, pair="b")], {})[0]
    assert said.endswith("1 of them within 60 s; 1 without an answer")
    assert verdicts([failed], {}) == ["exact: no answer"]
    assert "DataError: " in growth_table([failed])
    assert case_table([failed], {}).splitlines()[1].split()[3:] == ["-", "failed", "-", "-", "0"]
    monkeypatch.setattr(engines, "GRACE", -30.0)  # no time at all
    assert measure(CASE, "exact", 30.0).status == "killed"


def test_only_cases_that_both_prove_enter_the_ratio():
    runs = [
        RUN, replace(RUN, pair="b"), replace(RUN, pair="c"), OPEN,
        other("milp", seconds=4.0), other("milp", replace(RUN, pair="b"), seconds=16.0, linked=369),
        other("milp", replace(RUN, pair="c"), status="feasible", limit="time", bound=371, seconds=75.0),
        other("milp", OPEN, status="optimal", bound=370, limit="", seconds=5.0),
    ]  # fmt: skip
    lines = ratios(runs)
    assert lines[1] == "  both prove: 4.0 in the geometric mean of 2 cases (2.0 to 8.0)"
    assert lines[2].endswith("so at least: 30.0 in the geometric mean of 1 case (30.0 to 30.0)")
    assert lines[3].endswith("1\n    M5-38_400_s0 o-m weighted-mean")
    assert lines[4].endswith("margin: 1\n    b o-m weighted-mean")
    head, first, *_, last = [
        line.split() for line in case_table(runs, {OPEN.key: Known(370, 378)}).splitlines()
    ]
    assert head == [
        "pair",
        "way",
        "aggregator",
        "known",
        "exact",
        "exact,",
        "s",
        "milp",
        "milp,",
        "s",
        "gap",
        "pp",
        "MB",
    ]
    assert first[3:] == ["-", "370", "2", "370", "4", "0", "300"]
    assert last[3:] == ["370..378", "370..374", "60", "370", "5", "1", "300"]


def test_what_cannot_be_right_is_listed():
    good = verdicts([RUN, OPEN], {RUN.key: Known(370, 370), OPEN.key: Known(370, 378)})
    assert good[0] == "exact: 1 of 2 proven, 1 of them within 60 s; 0 without an answer"
    assert good[1].startswith("worst gap 1.00 percentage points (M5-38_400_s0 o-m weighted-mean)")
    assert good[2] == (
        "  weighted-mean: 1 of 2 proven, worst gap 1.00; gaps of 1.00 in all where 2.00 were known, at most "
        "half of the known gap in 1 of 1 open cases"
    )
    assert [line.endswith(": none") for line in good[-3:]] == [True, True, True]
    below, above, refuted = verdicts([RUN], {RUN.key: Known(371, 371)})[-3:]
    assert below.endswith("best_known.csv: 1\n    M4-33_400_s0 o-m weighted-mean: 370 < 371")
    assert above.endswith(": none")
    assert refuted.endswith("1\n    M4-33_400_s0 o-m weighted-mean: at most 370, but 371 are linked")
    assert verdicts([RUN], {RUN.key: Known(360, 369)})[-2].endswith(": 370 > 369")
    found = verdicts([RUN, other("milp", linked=372, bound=372)], {})
    assert found[-1].endswith("at most 370, but 372 are linked")


def test_certificates_are_measured(tmp_path, capsys):
    random = np.random.default_rng(3)
    original = random.normal(size=(25, 3))
    for case in certificates.CASES:
        for side, values in (("original", original), ("masked", original + 0.8 * np.sin(99 * original))):
            file = tmp_path / f"{case.pair}_{side}.csv"
            pd.DataFrame(values, columns=["A", "B", "C"]).to_csv(file, index=False)
    certificates.main(["--pairs", str(tmp_path)])
    head, _, *rows = [
        [cell.strip() for cell in row.strip("|").split("|")] for row in capsys.readouterr().out.splitlines()
    ]
    assert [row[0].split(", ")[2] for row in rows] == [
        "weighted-mean", "weighted-mean", "owa", "choquet", "3-additive", "choquet", "mahalanobis",
    ]  # fmt: skip
    assert all(len(row) == len(head) for row in rows)
    assert all(0 < int(row[2]) <= int(row[1]) <= 25 for row in rows)


# Linkers


def test_learning_is_measured(tmp_path):
    lines = list(linkers.prl_size(200, 6))
    assert lines[0] == "200 x 200 records, 6 attributes: categories compared by equality"
    assert any("numbers compared as usual" in line for line in lines)
    linked = [int(line.split(": ")[1].split()[0]) for line in lines if line.endswith("linked")]
    assert len(linked) == 2
    assert all(number > 100 for number in linked)
    claims = linkers.accuracy(np.array([0, -1, 1]), np.array([0, 1, 2]))
    assert claims == "1 of 3 links found, precision 0.5000"
    assert next(linkers.febrl4(tmp_path, sys.executable)).startswith("left out: no febrl4a.csv")


def test_drawn_categories_agree_as_often_as_they_should():
    first, second = linkers.drawn_categories(4000, 7)
    both = first.notna() & second.notna()
    agree = [float((first[name] == second[name])[both[name]].mean()) for name in first]
    found = linkers.errors({"attributes": [{"m": [1 - m, m], "u": [0, 0]} for m in agree]})
    assert found[0] < 0.02


def test_persons_have_as_many_errors_as_they_should():
    first, second = draw_persons(2000, 3)
    assert sorted(first["rec_id"]) == sorted(second["rec_id"])
    assert first["rec_id"].tolist() != second["rec_id"].tolist()
    twin = second.set_index("rec_id").loc[first["rec_id"]].reset_index()
    differ = (first != twin).drop(columns="rec_id")
    expected = sum((at + 1) * share for at, share in enumerate(MANY))
    # What a first file lacks differs too, and some errors hit another attribute as well.
    assert expected * 0.9 < differ.to_numpy().sum(axis=1).mean() < expected + sum(LACKING.values()) + 0.3
    assert list(differ.columns) == list(CHANGED)
    assert (differ.mean() > 0.02).all()


@pytest.mark.parametrize("leave", [False, True])
def test_figures_of_a_few_persons(leave):
    lines = list(figures(300, 2, {"linked_leave": leave}, process=False))
    assert lines[0].startswith("300 x 300 persons, seed 2: ")
    assert [line.split()[0] for line in lines[2:5]] == list(PASSES)
    assert float(lines[6].split("recall ")[1]) > 0.93


# Files, measures, masking


@with_data
@pytest.mark.parametrize("name", measures.KEY_MEASURES)
def test_every_measure_of_keys_is_printed(name):
    assert measures.one_key_measure(name, 300).split()[:2] == [name, "300"]


def test_another_grouping_is_an_error(capsys, monkeypatch):
    points = standardised(np.random.default_rng(5).normal(size=(300, 3)))
    assert microdata.mdav(points, plain=True)
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()] == ["indexed", "plain"]
    monkeypatch.setattr(microdata, "indexed_partition", lambda points, _: [np.arange(len(points))])
    assert not microdata.mdav(points, plain=True)
    assert capsys.readouterr().out.endswith("the groups differ\n")


@pytest.mark.parametrize(("given", "many"), [([], 5), (["--numbers", "3", "--formats", ".csv", "--peak"], 7)])
def test_a_line_for_each_format(given, many, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["reading.py", "--records", "50", *given])
    reading.main()
    first, _, *lines = capsys.readouterr().out.splitlines()
    assert first == f"50 records, {3 if given else 20} columns; seconds"
    formats = [".csv", ".parquet", ".feather", ".xlsx", ".sav", ".dta", ".xpt", ".rds", ".rda"]
    assert [line.split()[0] for line in lines] == formats[: 1 if given else None]
    assert all(len(line.split()) == many for line in lines)


@with_data
@pytest.mark.parametrize("case", CASES)
def test_files_of_the_size_asked_for(tmp_path, case):
    original, masked = (pd.read_parquet(path) for path in make_files(tmp_path, case, 60))
    assert original.shape == masked.shape == (60, 6)
    assert list(original) == list(masked)
    assert not original.equals(masked)
    assert (case == "mixed") == set(NOMINAL).issubset(original)


@with_data
@pytest.mark.slow
@pytest.mark.parametrize("part", ["dask", "growth"])
def test_counts_of_large_files(part, tmp_path, monkeypatch, capsys):
    if part == "dask":
        pytest.importorskip("distributed", reason="needs Dask: pip install 'linkrisk[dask]'")
    picture = tmp_path / "growth.svg"
    given = ["", "--part", part, "--cases", "M6-385", "--records", "500", "--folder", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", [*given, "--picture", str(picture)])
    scale.main()
    *runs, last = capsys.readouterr().out.splitlines()
    if part == "dask":
        assert [run.split()[0] for run in runs] == ["threads", "dask"] * 2
        assert len({run.split()[2] for run in runs}) == 1
        assert last.startswith("dask/threads, the best of each: ")
    else:
        assert last.startswith("M6-385 ")
        assert picture.read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("fit choquet", 130),
        pytest.param("fit weighted-mean", 170, marks=pytest.mark.slow),
    ],
)
def test_a_first_run_compiles_no_more_functions_than_it_did(name, most, tmp_path):
    """Of numba itself too: a sort, an assignment to a slice or a message with numbers brings up to ten."""
    compiling.make_files(tmp_path)
    found = compiling.first_run(compiling.commands()[name], tmp_path)
    assert 50 < len(found) <= most, sorted(found, reverse=True)
