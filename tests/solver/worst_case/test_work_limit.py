"""A work limit: the same answer on every machine, however busy it is and however many processors it has."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fit_runs import frames, steered
from work_run import files, found

from linkrisk import fit
from linkrisk.solver.commands.program import main
from linkrisk.solver.linkage.operations.evaluate import evaluate
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.work import UNIT

PROGRAM = Path(__file__).parents[2] / "support" / "work_run.py"
RUNS = {"weighted-mean": (150, 0.004), "owa": (150, 0.004), "choquet": (120, 0.15), "mahalanobis": (60, 0.3)}

families = pytest.mark.parametrize("family", RUNS)


@functools.cache
def once(family):
    return found(family, *RUNS[family])


@families
def test_the_same_seed_and_limit_give_the_same_answer(family, monkeypatch):
    counts, _, work, trace = once(family)
    assert counts[2:] == ["feasible", "work"]
    assert work >= RUNS[family][1]
    assert len(trace) > 2
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)))
    assert found(family, *RUNS[family]) == once(family)


def test_nor_does_the_machine_change_it():
    """Another process, with one processor's threads, beside a loop that takes its time."""
    path = [str(PROGRAM.parents[2]), os.environ.get("PYTHONPATH", "")]
    one = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL", "NUMBA")}
    arguments = [str(part) for family, run in RUNS.items() for part in (family, *run)]
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        done = subprocess.run(
            [sys.executable, PROGRAM, *arguments],
            env={**os.environ, **one, "PYTHONPATH": os.pathsep.join(path)},
            capture_output=True,
            text=True,
            check=True,
        )
    finally:
        busy.kill()
        busy.wait()
    assert json.loads(done.stdout) == {family: once(family) for family in RUNS}


@families
def test_more_work_narrows_the_interval_and_enough_ends_it(family):
    records = 24
    low, high = 0, records
    for units in (1e-6, 1e-3, 0.05, 1000.0):
        result = fit(*files(records), aggregator=family, work_limit=units)
        assert low <= result.linked <= result.linked_upper_bound <= high
        low, high = result.linked, result.linked_upper_bound
        assert result.linked == evaluate(*files(records), parameters=result.to_dict()).linked
    assert result.proven
    assert result.limit is None
    assert result.details["work"] < 1000.0
    assert result.interval == fit(*files(records), aggregator=family, time_limit=None).interval


def test_time_limits_nothing_unless_it_is_asked_for():
    both = fit(*files(40), aggregator="mahalanobis", work_limit=1000.0, time_limit=1e-6)
    assert (both.limit, both.details["time_limit"]) == ("time", 1e-6)
    alone = fit(*files(20), work_limit=1000.0)
    assert (alone.limit, alone.details["time_limit"], alone.details["work_limit"]) == (None, None, 1000.0)
    neither = fit(*files(20)).details
    assert neither["time_limit"] == 120.0
    assert not {"work", "work_limit"} & set(neither)


def test_rows_that_grow_are_counted_too():
    grown = steered(most_unreduced=0)
    first = found("mahalanobis", 60, 0.2, steering=grown)
    assert first[0][3] == "work"
    assert found("mahalanobis", 60, 0.2, steering=grown) == first


def test_several_families_share_the_work():
    results = [fit(*frames(0, 40, noise=0.8), aggregator="all", work_limit=0.4) for _ in range(2)]
    first, again = (
        [(r.interval, r.parameters, r.limit, r.details["work"]) for r in result.results.values()]
        for result in results
    )
    assert first == again
    assert len(first) == 4
    assert results[0].details["work_limit"] == 0.4
    assert results[0].details["work"] >= sum(work for *_, work in first) - 1e-5


def test_the_command_line_takes_a_work_limit_and_says_that_it_came(tmp_path, capsys):
    for name, frame in zip(("original", "masked"), files(80), strict=True):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    given = [f"--{name}={tmp_path / name}.csv" for name in ("original", "masked")]
    target = tmp_path / "fit.json"
    report = tmp_path / "fit.html"
    command = ["fit", *given, "--work-limit", "0.001", "--json", str(target), "--report", str(report)]
    assert main(command) == 0
    assert "not proven: the work limit was reached; a larger --work-limit" in capsys.readouterr().out
    content = json.loads(target.read_text(encoding="utf-8"))
    assert (content["limit"], content["work_limit"], content["time_limit"]) == ("work", 0.001, None)
    assert "work limit" in report.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"work_limit": 1.0, "engine": "milp"},
            "the work of the engine milp is done by its optimiser, which is not counted: use engine='exact', "
            "or time_limit",
        ),
    ],
)
def test_work_limits_that_make_no_sense(options, message):
    with pytest.raises(UsageError) as error:
        fit(*files(10), **options)
    assert str(error.value) == message


def test_a_unit_is_what_the_guide_says():
    page = (PROGRAM.parents[2] / "docs" / "guide.md").read_text(encoding="utf-8")
    assert f"{UNIT / 1e6:.0f} million operations" in page
