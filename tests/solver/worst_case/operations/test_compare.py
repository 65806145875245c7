"""`compare`: the same rows whoever works, rows that contradict each other, the engine in its process."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import threading
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import psutil
import pytest
from cli_runs import PAIR, run
from fit_runs import frames

from linkrisk import Cancel, compare
from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.block_system import BlockSystem, block_system
from linkrisk.formulations.linkage.pair import make_pair
from linkrisk.solver.backends import guard
from linkrisk.solver.backends.base import BackendProgress, BackendResult
from linkrisk.solver.backends.guard import Job, run_isolated
from linkrisk.solver.engines.base import EngineOptions
from linkrisk.solver.engines.exact.engine import ExactEngine
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.run.clock import Clock, Limit, Status
from linkrisk.solver.run.incumbent import Incumbent
from linkrisk.solver.run.processes import main_module_hidden
from linkrisk.solver.worst_case.contest import BackendRow, EngineJob, disagreements

FILES = frames(3, 40, 3, noise=0.6)
BACKENDS = ["scipy", "exact", "highs"]
OPTIONS = {"aggregator": "weighted-mean", "backends": BACKENDS, "time_limit": None}


@pytest.fixture(scope="module")
def alone():
    return compare(*FILES, **OPTIONS)


def rows(result) -> list[dict]:
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


def test_processes_say_the_same(alone):
    assert rows(compare(*FILES, **OPTIONS, workers=2)) == rows(alone)


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


class Waiting(Job):
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


# ---------------------------------------------------------------- disagreements


def row(name: str, status: str, kept: float | None, bound: float | None, linked: object = None) -> BackendRow:
    backend, both = None if name == "exact" else name, (kept if linked is None else linked, kept)
    engine = "milp" if backend else "exact"
    return BackendRow(engine, backend, status, None, None, *both, bound, None, 1, 1, 1, 0.0, 0.0, None, "1")


MORE = "{} links {}, more than the bound {} of {}"
OTHER = "{} and {} both claim a proof, but of different optima: {} and {}"
DISAGREEMENTS = [
    ([], []),
    ([row("a", "optimal", 5, 5), row("b", "optimal", 5, 5), row("c", "feasible", 4, 7)], []),
    ([row("a", "optimal", 5, 5), row("b", "no_solution", None, 9)], []),
    # Noise of the last digits is no contradiction.
    ([row("a", "optimal", 29 / 3, 29 / 3), row("b", "optimal", 29 / 3 + 1e-9, 29 / 3 + 1e-9)], []),
    # A proof of less than what another backend found.
    (
        [row("a", "optimal", 5, 5), row("b", "optimal", 6, 6)],
        [OTHER.format("a", "b", 5, 6), MORE.format("b", 6, 5, "a")],
    ),
    # A feasible answer can refute a proof, too; and a bound without any solution can be refuted.
    ([row("a", "optimal", 5, 5), row("b", "feasible", 6, 8)], [MORE.format("b", 6, 5, "a")]),
    ([row("a", "no_solution", None, 3), row("b", "feasible", 4, 9)], [MORE.format("b", 4, 3, "a")]),
    # A backend can contradict itself.
    ([row("a", "optimal", 6, 5)], [MORE.format("a", 6, 5, "a")]),
    # Two proofs without a solution that refutes either.
    ([row("a", "optimal", 5, 7), row("b", "optimal", 5, 8)], [OTHER.format("a", "b", 7, 8)]),
    # The exact engine counts links below the margin too: more is no contradiction, fewer is one.
    ([row("exact", "optimal", 5, 6, 6), row("a", "optimal", 5, 5)], []),
    (
        [row("a", "optimal", 5, 5), row("exact", "optimal", 4, 4)],
        [OTHER.format("a", "exact", 5, 4), MORE.format("a", 5, 4, "exact")],
    ),
    # What it links by the margin is held against a backend's bound.
    ([row("exact", "feasible", 6, 8), row("a", "feasible", 4, 5)], [MORE.format("exact", 6, 5, "a")]),
    # Its own bound covers every link, whatever the margin, and all links of a backend.
    ([row("exact", "feasible", 4, 5, 6)], [MORE.format("exact", 6, 5, "exact")]),
    ([row("exact", "failed", None, None), row("a", "optimal", 5, 5)], []),
    ([row("a", "optimal", 5, 5, 6)], []),
    ([row("a", "optimal", 5, 5, 6), row("exact", "feasible", 5, 6)], []),
    ([row("a", "optimal", 5, 5, 6), row("exact", "optimal", 5, 5)], [MORE.format("a", 6, 5, "exact")]),
]


@pytest.mark.parametrize(("rows", "said"), DISAGREEMENTS)
def test_disagreements(rows, said):
    assert disagreements(rows) == said


# ---------------------------------------------------------------- engine process


def noisy_system(records: int, attributes: int, noise: float, aggregator: str) -> BlockSystem:
    generator = np.random.default_rng(5)
    original = generator.standard_normal((records, attributes))
    pair = make_pair(original, original + noise * generator.standard_normal(original.shape))
    return block_system(pair, make_aggregator(aggregator, pair.attributes))


def job(system: BlockSystem, time_limit: float | None) -> EngineJob:
    theta = system.aggregator.equal()
    linked = Evaluator(system.pair).count(system.aggregator.form(theta)).linked_weight
    return EngineJob(system, (theta, linked), EngineOptions(), time_limit)


@pytest.mark.parametrize("aggregator", ["weighted-mean", "choquet", "mahalanobis"])
def test_the_same_interval_as_in_this_process(aggregator):
    system = noisy_system(25, 3, 0.3, aggregator)
    task = job(system, None)
    answer = run_isolated(task)
    evaluator = Evaluator(system.pair)
    theta = system.aggregator.equal()
    linked = evaluator.count(system.aggregator.form(theta)).linked_weight
    incumbent = Incumbent(Clock(None), theta, linked, system.total_weight - system.lost_weight)
    status = ExactEngine().run(system, incumbent, evaluator, EngineOptions()).status
    result = answer.result
    assert result.status is status
    assert result.limit is None
    assert (result.objective, result.bound) == (25 - incumbent.value, 25 - incumbent.bound)
    assert 25 - evaluator.count(system.aggregator.form(result.values)).linked_weight == result.objective
    assert result.solve_seconds > 0
    assert 50e6 < answer.peak_memory_bytes < 1e9


def test_stopping_from_outside_keeps_the_interval(monkeypatch):
    monkeypatch.setattr(guard, "STOP_GRACE", 600.0)  # a slow machine may need long to end a step
    system = noisy_system(300, 6, 0.6, "choquet")
    seen: list[BackendProgress] = []

    def watch(progress: BackendProgress) -> bool:
        seen.append(progress)
        return progress.objective < np.inf and len(seen) > 5

    result = run_isolated(job(system, None), watch).result
    assert (result.status, result.limit) == (Status.INTERRUPTED, Limit.USER)
    last = seen[-1]
    assert 0 <= last.bound <= last.objective <= 300
    assert result.values is not None
    assert last.bound <= result.bound <= result.objective <= last.objective
