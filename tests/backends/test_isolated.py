"""Solving in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from backend_problems import infeasible, knapsack, market_split, unbounded

from solver.backends import isolated, registry
from solver.backends.base import BackendProgress, SolveOptions, Status
from solver.backends.isolated import solve_isolated
from solver.backends.memory import MemoryMeter, peak_of
from solver.backends.registry import available_backends, get_backend
from solver.clock import Limit
from solver.errors import UsageError

WATCHED = [name for name in available_backends() if get_backend(name).takes_watcher]
MEGABYTE = 2**20


@pytest.fixture(autouse=True)
def _misbehaving(monkeypatch):
    for name in ("Crashing", "Deaf", "Failing"):
        monkeypatch.setitem(registry.BACKENDS, name.lower(), f"misbehaving_backends:{name}")


@pytest.mark.parametrize("name", available_backends())
def test_same_answer_as_in_process(name):
    model = replace(knapsack(), name_maker=lambda _model: ([], []))  # a lambda cannot be pickled
    here = get_backend(name).solve(model, SolveOptions())
    there = solve_isolated(name, model, SolveOptions())
    assert there.result.status is Status.OPTIMAL
    assert there.result.objective == here.objective
    assert there.result.bound == pytest.approx(here.bound)
    assert there.result.version == here.version
    assert 40 * MEGABYTE < there.peak_memory_bytes < 250 * MEGABYTE


def test_infeasible():
    result = solve_isolated("highs", infeasible(), SolveOptions()).result
    assert (result.status, result.limit, result.bound) == (Status.NO_SOLUTION, None, float("inf"))


def test_larger_models_need_more_memory_and_a_larger_parent_does_not():
    small = solve_isolated("scipy", knapsack(), SolveOptions()).peak_memory_bytes
    large = solve_isolated("scipy", market_split(30, 20000), SolveOptions(time_limit=0.5)).peak_memory_bytes
    assert large > small + 50 * MEGABYTE
    ballast = np.ones(50 * MEGABYTE)  # 400 MB
    again = solve_isolated("scipy", knapsack(), SolveOptions()).peak_memory_bytes
    assert abs(again - small) < 20 * MEGABYTE
    assert ballast[-1] == 1.0


def test_memory_of_a_started_program_is_counted():
    meter = MemoryMeter()
    subprocess.run([sys.executable, "-c", "import time; x = b'1' * 2**28; time.sleep(0.5)"], check=True)
    assert meter.peak() > 2**28 + peak_of("self") * 0.9


@pytest.mark.parametrize("name", WATCHED)
def test_watcher_in_the_parent_sees_the_bounds_and_stops_the_child(name):
    seen: list[BackendProgress] = []

    def watch(progress: BackendProgress) -> bool:
        seen.append(progress)
        return progress.objective < 100 and len(seen) > 5

    result = solve_isolated(name, market_split(5, 40), SolveOptions(time_limit=30), watch=watch).result
    assert (result.status, result.limit) == (Status.INTERRUPTED, Limit.USER)
    assert result.values is not None
    assert result.bound == pytest.approx(7.0, abs=1e-3)
    assert seen[-1].bound == pytest.approx(7.0, abs=1e-3)
    assert result.solve_seconds < 10


def test_time_limit_inside():
    result = solve_isolated("cvxpy", market_split(5, 40), SolveOptions(time_limit=0.5)).result
    assert (result.status, result.limit) == (Status.FEASIBLE, Limit.TIME)


def test_overrun_is_killed_from_outside(monkeypatch):
    monkeypatch.setattr(isolated, "GRACE", 0.5)
    began = time.monotonic()
    result = solve_isolated("deaf", knapsack(), SolveOptions(time_limit=0.5)).result
    assert time.monotonic() - began < 10
    assert (result.status, result.limit) == (Status.NO_SOLUTION, Limit.TIME)
    assert (result.objective, result.bound, result.values) == (None, 3.0, None)


def test_a_child_that_does_not_stop_is_killed(monkeypatch, capfd):
    monkeypatch.setattr(isolated, "STOP_GRACE", 0.5)
    result = solve_isolated("deaf", knapsack(), SolveOptions(), watch=lambda seen: seen.bound == 3.0).result
    assert (result.status, result.limit, result.bound) == (Status.INTERRUPTED, Limit.USER, 3.0)
    assert capfd.readouterr() == ("", "")


def test_crash_is_an_error_with_its_last_line():
    with pytest.raises(RuntimeError) as error:
        solve_isolated("crashing", knapsack(), SolveOptions())
    assert str(error.value) == "backend 'crashing' died: free(): invalid pointer"


def test_failure_of_the_optimiser_comes_back_as_it_is():
    with pytest.raises(
        RuntimeError, match=r"^highs: the model is unbounded, bound every column that has a cost$"
    ):
        solve_isolated("highs", unbounded(integer=True), SolveOptions())
    with pytest.raises(RuntimeError, match=r"^ZeroDivisionError: division by zero$"):
        solve_isolated("failing", knapsack(), SolveOptions())


def test_unknown_backend():
    with pytest.raises(UsageError, match="unknown backend"):
        solve_isolated("nothing", knapsack(), SolveOptions())


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
@pytest.mark.parametrize(("name", "has_solution"), [("highs", True), ("pulp-cbc", False)])
def test_interrupt_ends_the_child_and_what_it_started(name, has_solution):
    timer = threading.Timer(2.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    result = solve_isolated(name, market_split(5, 40), SolveOptions(time_limit=60)).result
    timer.join()
    assert (result.status, result.limit) == (Status.INTERRUPTED, Limit.USER)
    assert (result.values is not None) is has_solution
    assert result.solve_seconds < 20
    processes = subprocess.run(["ps", "-A", "-o", "stat,args"], capture_output=True, text=True, check=True)
    alive = [line for line in processes.stdout.splitlines() if not line.startswith("Z")]
    assert not [line for line in alive if "solver/cbc" in line or "solverdir/cbc" in line]


def test_terminal_interrupt_is_quiet():
    """Ctrl-C goes to the whole process group, the child's early start included."""
    script = f"""
        import os, signal, sys, threading
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from backend_problems import market_split
        from solver.backends.base import SolveOptions
        from solver.backends.isolated import solve_isolated

        if __name__ == "__main__":
            threading.Timer(0.3, os.killpg, (os.getpgrp(), signal.SIGINT)).start()
            print(solve_isolated("cvxpy", market_split(5, 40), SolveOptions(time_limit=60)).result.status)
    """
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=30,
        start_new_session=True,
        check=False,
    )
    assert (ended.stdout, ended.stderr, ended.returncode) == ("interrupted\n", "", 0)


def test_a_script_without_a_main_guard_runs_once(tmp_path):
    """`multiprocessing` imports the main module in a process that it spawns."""
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            print("the script runs")
            from backend_problems import knapsack
            from solver.backends.base import SolveOptions
            from solver.backends.isolated import solve_isolated
            print(solve_isolated("scipy", knapsack(), SolveOptions()).result.status.value)
            """
        )
    )
    folders = [str(Path(isolated.__file__).parents[2]), str(Path(__file__).parent)]
    run = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (run.stdout, run.stderr) == ("the script runs\noptimal\n", "")
