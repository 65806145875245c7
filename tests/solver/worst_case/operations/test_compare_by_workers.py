"""`compare` by processes and by a scheduler's workers: the same rows, in the order that was asked for."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import psutil
import pytest
from cli_runs import PAIR, refuse, run
from fit_runs import frames

from linkrisk import Cancel, compare
from linkrisk.solver.backends.base import BackendResult
from linkrisk.solver.backends.guard import Job, run_isolated
from linkrisk.solver.run.pool import Cluster
from linkrisk.solver.run.processes import main_module_hidden

FILES = frames(3, 40, 3, noise=0.6)
BACKENDS = ["scipy", "exact", "highs"]
OPTIONS = {"aggregator": "weighted-mean", "backends": BACKENDS, "time_limit": None}


@pytest.fixture(scope="module")
def alone():
    return compare(*FILES, **OPTIONS)


def rows(result) -> list[dict]:
    """What the rows say, but for time and memory."""
    measured = dict.fromkeys(("build_seconds", "solve_seconds", "peak_memory_mb"))
    return [asdict(replace(row, **measured)) for row in result.rows]


def test_workers_of_a_scheduler_say_the_same(address, alone):
    told = []
    found = compare(*FILES, **OPTIONS, scheduler=address, on_progress=told.append)
    assert rows(found) == rows(alone)
    assert [row.name for row in found.rows] == BACKENDS
    assert all(row.solve_seconds > 0 and row.peak_memory_mb > 20 for row in found.rows)
    assert found.details["workers"] == {"scheduler": address, "asked": None, "at_start": 2}
    assert [progress.work for progress in told[-4:]] == [f"{done} of 3 tasks" for done in range(4)]


@pytest.mark.parametrize("workers", [1, 4])  # fewer than there are tasks, and more
def test_processes_say_the_same(alone, workers):
    assert rows(compare(*FILES, **OPTIONS, workers=workers)) == rows(alone)


def test_a_worker_that_dies_in_the_middle_costs_no_row(address, alone, monkeypatch):
    each, killed = Cluster.each, []

    def deadly(self, *given):
        for answer in each(self, *given):
            yield answer
            if not killed:
                killed.append(min(self.connection.client.run(os.getpid).values()))
                os.kill(killed[0], signal.SIGKILL)

    monkeypatch.setattr(Cluster, "each", deadly)
    assert rows(compare(*FILES, **OPTIONS, scheduler=address)) == rows(alone)
    assert killed


@pytest.mark.parametrize("asked", ["processes", "scheduler"])
def test_a_token_ends_it_with_what_has_come(address, asked):
    cancel = Cancel()
    cancel.cancel()
    way = {"workers": 2} if asked == "processes" else {"scheduler": address}
    assert compare(*FILES, **OPTIONS, **way, cancel=cancel).rows == ()


def solving() -> list[psutil.Process]:
    """Processes that workers, which are children of this one, have started to solve in."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if process.ppid() != os.getpid() and "spawn_main" in " ".join(process.cmdline()):
                found.append(process)
    return found


def until(true: Callable[[], object]) -> None:
    """Wait for something that happens soon; whoever waits in vain hangs, and the suite says where."""
    while not true():
        threading.Event().wait(0.01)


def test_processes_that_workers_have_started_end_with_the_run(address):
    """A choice of weights that no backend is through with before it is ended."""
    cancel, over = Cancel(), threading.Event()

    def end() -> None:
        until(lambda: solving() or over.is_set())
        cancel.cancel()

    thread = threading.Thread(target=end)
    thread.start()
    hard = {"aggregator": "choquet", "backends": ["highs", "scipy"], "time_limit": None, "start": False}
    compare(*frames(3, 250, 6, noise=1.2), **hard, scheduler=address, cancel=cancel)
    over.set()
    thread.join()
    until(lambda: not solving())


@pytest.mark.usefixtures("survey_folder")
def test_the_command_takes_them(capsys):
    options = ["compare", *PAIR, "--backends", "highs,exact", "--json", "out.json"]
    assert "2 of 2 claim a proof" in run(capsys, *options, "--workers", "2")
    result = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert [row["backend"] for row in result["backends"]] == ["highs", None]
    assert result["workers"]["asked"] == 2


@pytest.mark.usefixtures("survey_folder")
def test_a_wrong_scheduler_is_refused_in_one_line(capsys):
    message = "the scheduler must be an address such as tcp://127.0.0.1:8786, not ''"
    refuse(capsys, message, "compare", *PAIR, "--scheduler", "", "--time-limit", "1")


class Waiting(Job):
    """Says who it is, and waits for ever."""

    title, name, time_limit, takes_watcher = "waiting", "waiting", None, False

    def __init__(self, path: str) -> None:
        self._path = path

    def prepare(self) -> None:
        """Nothing."""

    def run(self, watch: object) -> BackendResult:
        """Wait."""
        part = Path(self._path + ".part")
        part.write_text(str(os.getpid()), encoding="utf-8")
        part.rename(self._path)
        threading.Event().wait()
        raise AssertionError(watch)


def _run(path: str) -> None:
    run_isolated(Waiting(path))


def test_what_a_killed_process_has_started_ends(tmp_path):
    """A worker may be killed; nobody is left who waits for the optimiser that it has started."""
    path = tmp_path / "pid"
    # A daemon, as workers of Dask are.
    process = multiprocessing.get_context("spawn").Process(target=_run, args=(str(path),), daemon=True)
    with main_module_hidden():
        process.start()
    while not path.exists():
        assert process.is_alive()
        threading.Event().wait(0.01)
    child = psutil.Process(int(path.read_text(encoding="utf-8")))
    process.kill()
    process.join()
    psutil.wait_procs([child])
    assert not psutil.pid_exists(child.pid) or child.status() == psutil.STATUS_ZOMBIE
