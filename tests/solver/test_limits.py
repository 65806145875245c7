"""Limits of time and memory: they end a run with both numbers and the parameters, and say so."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from solver.cli import main
from solver.engines.base import Clock, resident_megabytes
from solver.engines.exact.engine import ExactEngine
from solver.errors import UsageError
from solver.evaluation import evaluate
from solver.fitting import fit


def frames(seed=0, n=60, attributes=3, noise=0.8):
    random = np.random.default_rng(seed)
    original = random.normal(size=(n, attributes))
    masked = original + noise * random.normal(size=(n, attributes))
    return [pd.DataFrame(values, columns=["A", "B", "C"][:attributes]) for values in (original, masked)]


def valid(result, files):
    """The numbers are an interval, and the parameters link what is claimed."""
    assert 0 <= result.linked <= result.linked_upper_bound <= result.records
    assert result.linked == evaluate(*files, parameters=result.to_dict()).linked
    return True


def test_the_clock_looks_at_the_memory_of_the_process(monkeypatch):
    held = resident_megabytes()
    assert 20.0 < held < 100_000.0
    assert not Clock(None, 1e9).expired
    assert Clock(None, held / 2).expired
    assert Clock(None, held / 2).limit.value == "memory"
    monkeypatch.setattr("solver.engines.base._LOOK_AT_MEMORY", 0.0)
    clock = Clock(None, 500.0)
    for megabytes, expired in ((100.0, False), (501.0, True), (100.0, True)):
        monkeypatch.setattr("solver.engines.base.resident_megabytes", lambda megabytes=megabytes: megabytes)
        assert clock.expired is expired  # for good: freed memory would be taken again
    clock.stop()
    assert clock.limit.value == "user"


@pytest.mark.parametrize("engine", ["milp", "exact"])
@pytest.mark.parametrize("aggregator", ["weighted-mean", "mahalanobis"])
def test_a_memory_limit_that_is_reached_at_once(engine, aggregator):
    files = frames()
    result = fit(*files, engine=engine, aggregator=aggregator, memory_limit=1.0, time_limit=20.0)
    assert (result.status, result.limit) == ("feasible", "memory")
    assert not result.proven
    assert valid(result, files)
    assert any("memory limit came before all records" in note for note in result.details["notes"])
    assert result.details["seconds"] < 10.0


@pytest.mark.parametrize("engine", ["milp", "exact"])
def test_a_memory_limit_that_is_reached_later(engine, monkeypatch):
    looks = iter(range(10**9))
    monkeypatch.setattr("solver.engines.base._LOOK_AT_MEMORY", 0.0)
    monkeypatch.setattr("solver.engines.base.resident_megabytes", lambda: 100.0 + next(looks))
    files = frames(n=150)
    result = fit(*files, engine=engine, aggregator="choquet", memory_limit=400.0, time_limit=60.0)
    assert result.limit == "memory"
    assert valid(result, files)


def test_a_memory_limit_on_growing_rows(monkeypatch):
    monkeypatch.setattr("solver.fitting.MOST_UNREDUCED", 0)
    files = frames()
    result = fit(*files, engine="exact", aggregator="mahalanobis", memory_limit=1.0)
    assert result.limit == "memory"
    assert valid(result, files)


def test_a_limit_that_is_not_reached_changes_nothing():
    files = frames(n=20)
    result = fit(*files, engine="exact", memory_limit=1e7)
    assert result.proven
    assert result.limit is None
    assert result.linked == fit(*files, engine="exact").linked


@pytest.mark.parametrize("where", ["problem_system", "attack"])
def test_memory_that_cannot_be_had_ends_the_run_with_an_interval(where, monkeypatch):
    def refuse(*_, **__):
        raise MemoryError

    monkeypatch.setattr(f"solver.fitting.{where}", refuse)
    files = frames()
    result = fit(*files, engine="exact", time_limit=20.0)
    assert result.limit == "memory"
    assert valid(result, files)


def test_an_engine_without_memory_leaves_the_attack(monkeypatch):
    def refuse(*_, **__):
        raise MemoryError

    monkeypatch.setattr(ExactEngine, "run", refuse)
    files = frames()
    result = fit(*files, engine="exact", time_limit=20.0)
    assert (result.status, result.limit) == ("feasible", "memory")
    assert valid(result, files)


def test_time_that_is_up_before_all_records_are_compared(monkeypatch):
    monkeypatch.setattr("solver.fitting._BUILDING_SECONDS", 0.0)
    files = frames()
    result = fit(*files, engine="exact", time_limit=1e-6)
    assert result.limit == "time"
    assert valid(result, files)
    assert result.details["notes"][0].startswith("the time limit came before all records were compared")


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
        fit(*frames(), memory_limit=limit)
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
    for name, frame in zip(("original", "masked"), frames(), strict=True):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    files = [f"--{name}={tmp_path / name}.csv" for name in ("original", "masked")]
    target = tmp_path / "fit.json"
    assert main(["fit", *files, "--engine", "exact", "--memory-limit", "1", "--json", str(target)]) == 0
    printed = capsys.readouterr().out
    assert "not proven: memory ran out first; a larger --memory-limit" in printed
    assert json.loads(target.read_text(encoding="utf-8"))["limit"] == "memory"
