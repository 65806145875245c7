"""Solving in a process of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest
from backend_problems import (
    INF,
    PATIENCE,
    check_market_split,
    knapsack,
    knows_both,
    make,
    market_split,
    unbounded,
)
from misbehaving_backends import GREED
from scipy import sparse

from linkrisk.formulations.programs import MilpModel, named
from linkrisk.solver.backends import guard, registry
from linkrisk.solver.backends.base import BackendProgress, SolveOptions
from linkrisk.solver.backends.guard import solve_isolated
from linkrisk.solver.backends.registry import available_backends, get_backend
from linkrisk.solver.run import processes
from linkrisk.solver.run.clock import Limit, Status
from linkrisk.solver.run.processes import MemoryMeter, MemoryWatch, peak_of

pytestmark = pytest.mark.usefixtures("fresh_processes")

WATCHED = [name for name in available_backends() if get_backend(name).takes_watcher]
MEGABYTE = 2**20


@pytest.fixture(autouse=True)
def _misbehaving(monkeypatch):
    for name in ("Crashing", "Deaf", "Failing", "Greedy"):
        monkeypatch.setitem(registry.BACKENDS, name.lower(), f"misbehaving_backends:{name}")


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    """On a slow machine an optimiser may take long to notice that it shall end."""
    monkeypatch.setattr(guard, "GRACE", PATIENCE)
    monkeypatch.setattr(guard, "STOP_GRACE", PATIENCE)


def test_same_answer_as_in_process():
    model = replace(knapsack(), column_blocks=(named("items", ["tent", "stove", "rope", "map"]),))
    here = get_backend("cvxpy").solve(model, SolveOptions())
    there = solve_isolated("cvxpy", model, SolveOptions())
    assert there.result.status is Status.OPTIMAL
    assert there.result.objective == here.objective
    assert there.result.bound == pytest.approx(here.bound)
    assert there.result.version == here.version
    assert 40 * MEGABYTE < there.peak_memory_bytes < 250 * MEGABYTE


def vast() -> MilpModel:
    """60 MB of coefficients in rows that allow everything: there is nothing to search for."""
    columns = 50_000
    return replace(
        make([1.0] * columns),
        matrix=sparse.csr_array(np.ones((100, columns))),
        row_lower=np.full(100, -INF),
        row_upper=np.full(100, INF),
    )


def test_larger_models_need_more_memory_and_a_larger_parent_does_not():
    small = solve_isolated("scipy", knapsack(), SolveOptions()).peak_memory_bytes
    large = solve_isolated("scipy", vast(), SolveOptions()).peak_memory_bytes
    assert large > small + 50 * MEGABYTE
    ballast = np.ones(50 * MEGABYTE)  # 400 MB
    again = solve_isolated("scipy", knapsack(), SolveOptions()).peak_memory_bytes
    assert abs(again - small) < 100 * MEGABYTE
    assert ballast[-1] == 1.0


@pytest.fixture
def hungry() -> Iterator[subprocess.Popen[str]]:
    """A program that this process has started and that holds 256 MB, until a line is written to it."""
    script = "x = b'1' * 2**28; print('full', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "full\n"
        yield program
        program.kill()


def test_a_started_program_is_looked_at_while_it_runs(hungry):
    meter = MemoryMeter()
    while meter._started < 2**28:
        time.sleep(0.01)
    hungry.communicate("end\n")
    assert meter.peak() > 2**28 + peak_of("self") * 0.9


@pytest.mark.usefixtures("hungry")
@pytest.mark.parametrize("system", ["Linux", "another"])
def test_another_process_is_watched_on_every_system(system, monkeypatch, tmp_path):
    if system != "Linux":
        monkeypatch.setattr(processes, "PROCESSES", tmp_path)
    watch = MemoryWatch(os.getpid())
    assert 2**28 + 20 * MEGABYTE < watch.look() < 2**40


def test_a_process_that_has_ended_keeps_what_it_was_seen_to_hold(hungry):
    watch = MemoryWatch(hungry.pid)
    seen = watch.look()
    assert seen > 2**28
    hungry.communicate("end\n")
    assert watch.look() == seen


@pytest.mark.parametrize("name", WATCHED[:1])  # what is told between processes is the same code for all
def test_watcher_in_the_parent_sees_the_bounds_and_stops_the_child(name):
    seen: list[BackendProgress] = []

    def watch(progress: BackendProgress) -> bool:
        seen.append(progress)
        return knows_both(progress)

    model = market_split(5, 40)
    result = solve_isolated(name, model, SolveOptions(time_limit=PATIENCE), watch=watch).result
    assert (result.status, result.limit) == (Status.INTERRUPTED, Limit.USER)
    assert result.values is not None
    check_market_split(result, model)
    assert result.bound == pytest.approx(7.0, abs=1e-3)


def test_time_limit_inside():
    """The child ends by itself: a killed one knows no version."""
    model = market_split(5, 40)
    result = solve_isolated("cvxpy", model, SolveOptions(time_limit=0.2)).result
    assert result.limit is Limit.TIME
    assert result.version != "unknown"
    check_market_split(result, model)


class Hands:
    """Stands in for `time` in the parent: time is what the test says."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def hands(monkeypatch) -> Hands:
    monkeypatch.setattr(guard, "time", Hands())
    monkeypatch.setattr(guard, "GRACE", 10.0)
    return guard.time


@pytest.mark.parametrize("name", ["deaf", "greedy"])
def test_overrun_is_killed_from_outside(name, hands):
    """Not before its grace is over, and not later; what it told and was seen to hold is reported."""
    late: list[float] = []

    def watch(progress: BackendProgress) -> bool:
        if progress.objective == 5.0:
            late.append(hands.now)
            hands.now = 110.0 if len(late) > 3 else 109.9
        return False

    answer = solve_isolated(name, knapsack(), SolveOptions(time_limit=100.0), watch=watch)
    result = answer.result
    assert late == [0.0, 109.9, 109.9, 109.9]
    assert (result.status, result.limit, result.solve_seconds) == (Status.NO_SOLUTION, Limit.TIME, 110.0)
    assert (result.objective, result.values) == (None, None)
    assert result.bound == {"deaf": 3.0, "greedy": 1.0}[name]
    held = {"deaf": 0, "greedy": 2 * GREED}[name]
    assert held + 20 * MEGABYTE < answer.peak_memory_bytes < held + 300 * MEGABYTE


def test_a_child_that_does_not_stop_is_killed(monkeypatch, capfd):
    monkeypatch.setattr(guard, "STOP_GRACE", 0.0)
    answer = solve_isolated("deaf", knapsack(), SolveOptions(), watch=lambda seen: seen.bound == 3.0)
    result = answer.result
    assert (result.status, result.limit, result.bound) == (Status.INTERRUPTED, Limit.USER, 3.0)
    assert answer.peak_memory_bytes > 20 * MEGABYTE
    assert capfd.readouterr() == ("", "")


UNBOUNDED = "highs: the model is unbounded, bound every column that has a cost"


@pytest.mark.parametrize(
    ("name", "model", "message"),
    [
        ("crashing", knapsack(), r"backend 'crashing' died: free\(\): invalid pointer"),
        (
            "highs",
            unbounded(integer=True),
            UNBOUNDED,
        ),
        ("failing", knapsack(), "ZeroDivisionError: division by zero"),
    ],
)
def test_failure_of_the_optimiser_comes_back_as_it_is(name, model, message):
    with pytest.raises(RuntimeError, match=f"^{message}$"):
        solve_isolated(name, model, SolveOptions())


def running(words: str) -> list[psutil.Process]:
    """Processes with this in their command that this one has started, and those that they have started."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            found += [process] if words in " ".join(process.cmdline()) else []
    return found


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
@pytest.mark.parametrize(("name", "has_solution"), [("highs", True), ("pulp-cbc", False)])
def test_interrupt_ends_the_child_and_what_it_started(name, has_solution):
    """Pressed when there is something to lose: a solution, or a program that runs by itself."""
    programs: list[psutil.Process] = []

    def watch(progress: BackendProgress) -> bool:
        programs.extend(running("/cbc "))
        if programs or knows_both(progress):
            os.kill(os.getpid(), signal.SIGINT)
        return False

    options = SolveOptions(time_limit=PATIENCE)
    result = solve_isolated(name, market_split(5, 40), options, watch=watch).result
    assert (result.status, result.limit) == (Status.INTERRUPTED, Limit.USER)
    assert (result.values is not None) is has_solution
    assert bool(programs) is (name == "pulp-cbc")
    assert psutil.wait_procs(programs, timeout=PATIENCE)[1] == []
    assert running("multiprocessing.spawn") == []


SUPPORT = Path(__file__).parents[2] / "support"

PRESSED = """
    import os, signal, sys
    from multiprocessing.context import SpawnProcess
    sys.path.insert(0, {folder!r})
    from backend_problems import PATIENCE, market_split
    from linkrisk.solver.backends.base import SolveOptions
    from linkrisk.solver.backends.guard import solve_isolated

    press = lambda *_: os.killpg(os.getpgrp(), signal.SIGINT)
    start = SpawnProcess.start

    if __name__ == "__main__":
        if {early}:
            SpawnProcess.start = lambda process: (start(process), press())
        options = SolveOptions(time_limit=PATIENCE)
        watch = None if {early} else press
        print(solve_isolated("cvxpy", market_split(5, 40), options, watch=watch).result.status)
"""


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
@pytest.mark.parametrize("early", [True, False])
def test_terminal_interrupt_is_quiet(early):
    """Ctrl-C goes to the whole process group, the child's early start included."""
    script = PRESSED.format(folder=str(SUPPORT), early=early)
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
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
            from linkrisk.solver.backends.base import SolveOptions
            from linkrisk.solver.backends.guard import solve_isolated
            print(solve_isolated("scipy", knapsack(), SolveOptions()).result.status.value)
            """
        )
    )
    folders = [str(Path(guard.__file__).parents[2]), str(SUPPORT)]
    run = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (run.stdout, run.stderr) == ("the script runs\noptimal\n", "")
