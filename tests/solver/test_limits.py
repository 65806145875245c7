"""Limits of time and memory, and Ctrl-C: they end a run with both numbers and the parameters, and say so."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from aggregator_cases import CASES, LABELS
from fit_runs import check, frames, solve

from solver.cli import main
from solver.engines.exact.engine import ExactEngine
from solver.errors import UsageError
from solver.evaluation import evaluate
from solver.fitting import fit

everywhere = pytest.mark.parametrize("case", CASES, ids=LABELS)
ROOT = Path(__file__).resolve().parents[2]


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
def test_a_memory_limit_that_is_reached_at_once(engine, aggregator):
    files = pair()
    result = fit(*files, engine=engine, aggregator=aggregator, memory_limit=1.0, time_limit=20.0)
    assert (result.status, result.limit) == ("feasible", "memory")
    assert not result.proven
    assert valid(result, files)
    assert any("memory limit came before all records" in note for note in result.details["notes"])
    assert result.details["seconds"] < 10.0


@pytest.mark.parametrize("engine", ["milp", "exact"])
def test_a_memory_limit_that_is_reached_later(engine, monkeypatch):
    looks = iter(range(10**9))
    monkeypatch.setattr("solver.clock._LOOK_AT_MEMORY", 0.0)
    monkeypatch.setattr("solver.clock.resident_megabytes", lambda: 100.0 + next(looks))
    files = pair(n=150)
    result = fit(*files, engine=engine, aggregator="choquet", memory_limit=400.0, time_limit=60.0)
    assert result.limit == "memory"
    assert valid(result, files)


def test_a_memory_limit_on_growing_rows(monkeypatch):
    monkeypatch.setattr("solver.searching.MOST_UNREDUCED", 0)
    files = pair()
    result = fit(*files, engine="exact", aggregator="mahalanobis", memory_limit=1.0)
    assert result.limit == "memory"
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

    monkeypatch.setattr(f"solver.searching.{where}", refuse)
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


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        (0, "the memory limit must be a positive number of megabytes, not 0"),
        (-4.0, "the memory limit must be a positive number of megabytes, not -4"),
        (float("nan"), "the memory limit must be a positive number of megabytes, not nan"),
        (True, "the memory limit must be a positive number of megabytes, not True"),
        ("4 GB", "the memory limit must be a positive number of megabytes, not '4 GB'"),
    ],
)
def test_memory_limits_that_make_no_sense(limit, message):
    with pytest.raises(UsageError) as error:
        fit(*pair(), memory_limit=limit)
    assert str(error.value) == message


@pytest.mark.parametrize("text", ["0", "-1", "4 GB", "inf"])
def test_memory_limits_of_the_command_line_are_checked_before_the_files_are_read(text, capsys):
    with pytest.raises(SystemExit) as error:
        raise SystemExit(main(["fit", "--original", "no.csv", "--masked", "no.csv", "--memory-limit", text]))
    captured = capsys.readouterr()
    assert error.value.code == 2
    assert "memory" in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_the_command_line_says_that_memory_ran_out(tmp_path, capsys):
    for name, frame in zip(("original", "masked"), pair(), strict=True):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    files = [f"--{name}={tmp_path / name}.csv" for name in ("original", "masked")]
    target = tmp_path / "fit.json"
    assert main(["fit", *files, "--engine", "exact", "--memory-limit", "1", "--json", str(target)]) == 0
    printed = capsys.readouterr().out
    assert "not proven: memory ran out first; a larger --memory-limit" in printed
    assert json.loads(target.read_text(encoding="utf-8"))["limit"] == "memory"


# ---------------------------------------------------------------- time


@everywhere
def test_a_tiny_time_limit_gives_a_valid_interval(case):
    files = frames(11, 60, 4, noise=1.0)
    result = solve(case, files, time_limit=1e-6)
    check(result, files)
    assert (result.status, result.limit) == ("feasible", "time")
    assert result.linked < result.linked_upper_bound
    assert result.details["seconds"] < 5.0
    assert result.details["time_limit"] == 1e-6


def test_time_that_is_up_before_all_records_are_compared(monkeypatch):
    monkeypatch.setattr("solver.searching._MOMENT", 0.0)
    files = pair()
    result = fit(*files, engine="exact", time_limit=1e-6)
    assert result.limit == "time"
    assert valid(result, files)
    assert result.details["notes"][0].startswith("the time limit came before all records were compared")


def test_no_time_limit():
    result = fit(*frames(0), time_limit=None)
    assert result.proven
    assert result.details["time_limit"] is None


@pytest.mark.parametrize("limit", [0.0, -1.0, float("inf"), float("nan")])
def test_time_limits_that_leave_no_time(limit):
    with pytest.raises(UsageError) as error:
        fit(*frames(0), time_limit=limit)
    assert str(error.value) == f"the time limit must be a positive number of seconds, not {limit:g}"


@pytest.mark.parametrize("limit", ["5", True, [5.0]])
def test_time_limits_that_are_no_numbers(limit):
    with pytest.raises(UsageError) as error:
        fit(*frames(0), time_limit=limit)
    assert str(error.value) == f"the time limit must be a positive number of seconds, not {limit!r}"


# ---------------------------------------------------------------- Ctrl-C

INTERRUPT = """
import os, signal, sys, threading, time
from solver.cli import main

def press():
    while signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        time.sleep(0.01)
    time.sleep(float(sys.argv.pop(1)))
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=press, daemon=True).start()
time.sleep(0.05)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="needs the signals of a Unix system")
@pytest.mark.parametrize(
    ("choice", "late", "wait"),
    [
        (["--engine", "exact"], "hitting sets", 0.05),
        (["--engine", "exact"], "hitting sets", 4.0),
        (["--backend", "highs"], "solve", 0.05),
        (["--backend", "highs"], "solve", 4.0),
        (["--backend", "scipy"], "solve", 4.0),
    ],
    ids=lambda value: value[1] if isinstance(value, list) else None,
)
def test_ctrl_c_gives_what_is_known(tmp_path, choice, late, wait):
    """During the attack and later; with a backend in this process and with one in a child."""
    files = frames(12, 200, 5, noise=1.2)
    names = [str(tmp_path / name) for name in ("original.csv", "masked.csv", "fit.json")]
    for frame, name in zip(files, names[:2], strict=True):
        frame.to_csv(name, index=False)
    arguments = [
        "fit", "--original", names[0], "--masked", names[1], "--aggregator", "choquet",
        "--time-limit", "10", *choice, "--json", names[2],
    ]  # fmt: skip
    script = INTERRUPT.replace("float(sys.argv.pop(1))", str(wait))
    answer = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    content = json.loads(Path(names[2]).read_text(encoding="utf-8"))
    assert (content["status"], content["limit"]) == ("interrupted", "user")
    assert content["baselines"]["euclid"] <= content["linked"] < content["linked_upper_bound"]
    assert content["seconds"] < 9.0
    assert evaluate(*files, parameters=content).linked == content["linked"]
