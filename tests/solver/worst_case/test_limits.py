"""Limits of time and memory, and Ctrl-C: they end a run with both numbers and the parameters, and say so."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from aggregator_cases import CASES, LABELS
from fit_runs import check, frames, solve, steered

from linkrisk.solver.commands.program import main
from linkrisk.solver.engines.exact.engine import ExactEngine
from linkrisk.solver.engines.growing_rows import GrowingRows
from linkrisk.solver.linkage.operations.evaluate import evaluate
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.worst_case import search
from linkrisk.solver.worst_case.operations.fit import fit

everywhere = pytest.mark.parametrize("case", CASES, ids=LABELS)


def pair(n=60):
    """Files that keep an engine busy for more than an instant."""
    return frames(0, n, noise=0.8)


def valid(result, files):
    """The numbers are an interval, and the parameters link what is claimed."""
    assert 0 <= result.linked <= result.linked_upper_bound <= result.records
    assert result.linked == evaluate(*files, parameters=result.to_dict()).linked
    return True


# ---------------------------------------------------------------- memory


@pytest.mark.parametrize("engine", ["milp", "exact"])
@pytest.mark.parametrize("aggregator", ["weighted-mean", "mahalanobis"])
@pytest.mark.usefixtures("virtual_time")
def test_a_memory_limit_that_is_reached_at_once(engine, aggregator):
    files = pair()
    result = fit(*files, engine=engine, aggregator=aggregator, memory_limit=1.0, time_limit=20.0)
    assert (result.status, result.limit) == ("feasible", "memory")
    assert not result.proven
    assert valid(result, files)
    assert any("memory limit was reached before all records" in note for note in result.details["notes"])
    assert result.details["seconds"] < 1.0


@pytest.mark.parametrize("engine", ["milp", "exact"])
def test_a_memory_limit_that_is_reached_later(engine, monkeypatch):
    looks = iter(range(10**9))
    monkeypatch.setattr("linkrisk.solver.run.clock._LOOK_AT_MEMORY", 0.0)
    monkeypatch.setattr("linkrisk.solver.run.clock.resident_megabytes", lambda: 100.0 + next(looks))
    files = pair(n=150)
    result = fit(*files, engine=engine, aggregator="choquet", memory_limit=400.0, time_limit=60.0)
    assert result.limit == "memory"
    assert valid(result, files)


def test_a_memory_limit_on_growing_rows():
    files, grown = pair(), steered(most_unreduced=0)
    result = fit(*files, engine="exact", aggregator="mahalanobis", memory_limit=1.0, steering=grown)
    assert result.limit == "memory"
    assert valid(result, files)


@pytest.mark.parametrize(("megabytes", "grown"), [(0.0, True), (1e6, False)])
def test_rows_that_would_not_fit_into_memory_grow_instead(megabytes, grown, monkeypatch):
    estimated = steered(always=0, building_share=math.inf, worth_sampling=0)
    monkeypatch.setattr(Clock, "megabytes_left", property(lambda _: megabytes))
    seen = []
    probe = GrowingRows.probe
    monkeypatch.setattr(GrowingRows, "probe", lambda *given: seen.append(True) or probe(*given))
    files = pair(n=20)
    result = fit(*files, memory_limit=1e7, steering=estimated)
    assert bool(seen) is grown
    assert valid(result, files)


def test_a_limit_that_is_not_reached_changes_nothing():
    files = pair(n=20)
    result = fit(*files, engine="exact", memory_limit=1e7)
    assert result.proven
    assert result.limit is None
    assert result.linked == fit(*files, engine="exact").linked


@pytest.mark.parametrize("where", ["problem_system", "attack"])
def test_memory_that_cannot_be_had_ends_the_run_with_an_interval(where, monkeypatch):
    def refuse(*_, **__):
        raise MemoryError

    monkeypatch.setattr(f"linkrisk.solver.worst_case.search.{where}", refuse)
    files = pair()
    result = fit(*files, engine="exact", time_limit=20.0)
    assert result.limit == "memory"
    assert valid(result, files)


def test_an_engine_without_memory_leaves_the_attack(monkeypatch):
    def refuse(*_, **__):
        raise MemoryError

    monkeypatch.setattr(ExactEngine, "run", refuse)
    files = pair()
    result = fit(*files, engine="exact", time_limit=20.0)
    assert (result.status, result.limit) == ("feasible", "memory")
    assert valid(result, files)


def test_the_command_line_says_that_memory_ran_out(tmp_path, capsys):
    for name, frame in zip(("original", "masked"), pair(), strict=True):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    files = [f"--{name}={tmp_path / name}.csv" for name in ("original", "masked")]
    target = tmp_path / "fit.json"
    assert main(["fit", *files, "--engine", "exact", "--memory-limit", "1", "--json", str(target)]) == 0
    printed = capsys.readouterr().out
    assert "not proven: memory ran out; a larger --memory-limit" in printed
    assert json.loads(target.read_text(encoding="utf-8"))["limit"] == "memory"


# ---------------------------------------------------------------- time


@everywhere
@pytest.mark.usefixtures("virtual_time")
def test_a_tiny_time_limit_gives_a_valid_interval(case):
    files = frames(11, 60, 4, noise=1.0)
    result = solve(case, files, time_limit=1e-6)
    check(result, files)
    assert (result.status, result.limit) == ("feasible", "time")
    assert result.linked < result.linked_upper_bound
    assert result.details["seconds"] < 5.0
    assert result.details["time_limit"] == 1e-6


def test_time_that_is_up_before_all_records_are_compared():
    files = pair()
    result = fit(*files, engine="exact", time_limit=1e-6, steering=steered(moment=0.0))
    assert result.limit == "time"
    assert valid(result, files)
    assert result.details["notes"][0].startswith(
        "the time limit was reached before all records were compared"
    )


def test_the_first_attack_is_counted_whatever_the_limit(monkeypatch):
    first = search.own_attacks

    def slow(*given):
        time.sleep(1.0)
        return first(*given)

    monkeypatch.setattr(search, "own_attacks", slow)
    monkeypatch.setattr(search, "_FIRST", 60.0)
    files = pair()
    result = fit(*files, time_limit=0.01)
    assert result.linked >= result.details["baselines"]["euclid"] > 0
    assert valid(result, files)


def test_no_time_limit():
    result = fit(*frames(0), time_limit=None)
    assert result.proven
    assert result.details["time_limit"] is None


@pytest.mark.parametrize("aggregator", ["weighted-mean", "owa", "choquet", "mahalanobis"])
@pytest.mark.parametrize("grown", [False, True])
def test_an_interval_whenever_time_ends(aggregator, grown, monkeypatch):
    """Whatever is being done at the n-th question to the clock."""
    hasty = steered(blocks_at_once=10, moment=0.0, always=0 if grown else 10**9, most_cells=0)
    files = pair(n=40)
    best, least = 0, 40
    for questions in (1, 10, 128, 512):
        asked = iter(range(10**9))
        with monkeypatch.context() as time:
            time.setattr(
                "linkrisk.solver.run.clock.time.perf_counter", lambda asked=asked: float(next(asked))
            )
            result = fit(
                *files, aggregator=aggregator, time_limit=float(questions), memory_limit=None, steering=hasty
            )
        assert result.linked <= result.linked_upper_bound
        assert (result.status, result.limit) in {("feasible", "time"), ("optimal", None)}
        assert evaluate(*files, parameters=result.to_dict()).linked >= result.linked
        unknown = result.table.to_frame()["linked"].isna().sum()
        assert (unknown > 0) == any("the others count as" in note for note in result.details["notes"])
        best, least = max(best, result.linked), min(least, result.linked_upper_bound)
    assert best <= least  # no answer is refuted by another's bound


def test_records_that_were_not_compared_are_said(monkeypatch):
    stops = iter([False] * 2 + [True] * 10**6)
    monkeypatch.setattr("linkrisk.solver.worst_case.search_state.last_call", lambda _: -1.0)
    monkeypatch.setattr("linkrisk.solver.run.clock.Clock.expired", property(lambda _: next(stops)))
    monkeypatch.setattr(search, "_FIRST", -5.0)
    limits = {"time_limit": 5.0, "memory_limit": None}
    result = fit(
        *pair(), aggregator="weighted-mean", **limits, steering=steered(moment=0.0, blocks_at_once=10)
    )
    frame = result.table.to_frame()
    compared = int(frame["linked"].notna().sum())
    assert compared in {10, 20}
    note = (
        f"{compared} of 60 records were compared before the time limit was reached: the others count as not"
    )
    assert any(text.startswith(note) for text in result.details["notes"])
    assert frame["rank"].isna().all()
    assert result.details["baselines"] == {"euclid": None, "mahalanobis": None}
    json.loads(result.to_json())
    monkeypatch.undo()
    assert result.linked <= fit(*pair(), time_limit=None).linked <= result.linked_upper_bound


def test_the_time_for_the_last_look_at_all_records_is_kept():
    """A file large enough to be estimated: the search ends before the limit, and the table is whole."""
    seen, large = [], steered(most_at_once=0)
    result = fit(*pair(n=80), aggregator="weighted-mean", on_progress=seen.append, steering=large)
    assert any(progress.work.endswith("for a look at all records") for progress in seen)
    assert result.table.to_frame()["rank"].notna().all()


@pytest.mark.parametrize("ending", ["time", "memory", "user"])
def test_a_step_that_does_not_look_at_the_clock_costs_no_answer(ending, monkeypatch):
    """The answer is what was known when the limit came; the step may end when it likes."""
    release, reached = threading.Event(), threading.Event()

    def deaf(_self, _system, record, _evaluator, _options):
        record.tighten(record.bound - 1.0)
        reached.set()
        release.wait()

    monkeypatch.setattr(ExactEngine, "run", deaf)
    monkeypatch.setattr("linkrisk.solver.run.limits.GRACE", 0.01)
    limits = {"time_limit": None, "memory_limit": None}
    if ending == "time":
        limits["time_limit"] = 1.0
    elif ending == "memory":
        limits["memory_limit"] = 1e9
        monkeypatch.setattr(
            "linkrisk.solver.run.limits.resident_megabytes",
            lambda: 2e9 if reached.is_set() else 100.0,
        )
    else:
        threading.Thread(target=lambda: reached.wait() and os.kill(os.getpid(), signal.SIGINT)).start()
    files = pair()
    try:
        result = fit(*files, **limits)
    finally:
        release.set()
    status = "interrupted" if ending == "user" else "feasible"
    assert (result.status, result.limit) == (status, ending)
    assert valid(result, files)


@pytest.mark.parametrize("ending", ["command", "script"])
def test_a_search_that_goes_on_does_not_abort_the_process(ending):
    """Python's end tears it out of compiled code: exit code 134, though the answer had been printed."""
    program = Path(__file__).parents[2] / "support" / "searching_on.py"
    done = subprocess.run(
        [sys.executable, program, ending],
        env={**os.environ, "PYTHONPATH": str(program.parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "the answer\n", "")


def test_what_goes_wrong_in_the_search_is_raised(monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("in the search")

    monkeypatch.setattr(ExactEngine, "run", fail)
    with pytest.raises(ZeroDivisionError, match="in the search"):
        fit(*pair())


# ---------------------------------------------------------------- Ctrl-C


@pytest.mark.parametrize(
    ("choice", "phase"),
    [
        ({"engine": "exact"}, "compare"),
        ({"engine": "exact"}, "branch and cut"),
        ({"engine": "milp", "backend": "highs"}, "solve"),
        ({"engine": "milp", "backend": "scipy"}, "solve"),
    ],
    ids=lambda value: value if isinstance(value, str) else value["engine"],
)
def test_ctrl_c_gives_what_is_known(choice, phase):
    """Early and late; with a backend in this process and with one in a child."""
    files = frames(12, 200, 5, noise=1.2)
    pressed = []

    def press(progress):
        if progress.phase == phase and not pressed:
            pressed.append(True)
            os.kill(os.getpid(), signal.SIGINT)

    result = fit(*files, aggregator="choquet", time_limit=None, on_progress=press, **choice)
    assert pressed
    assert (result.status, result.limit) == ("interrupted", "user")
    assert result.linked < result.linked_upper_bound
    assert valid(result, files)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
