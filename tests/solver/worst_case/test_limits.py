"""Limits of time, memory and work, Ctrl-C and tokens: they end a run with both numbers, and say so."""

from __future__ import annotations

import functools
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
from cli_runs import PAIR, run
from fit_runs import frames, steered
from work_run import found

from linkrisk import Cancel, compare, evaluate, fit, link
from linkrisk.solver.engines.exact.engine import ExactEngine
from linkrisk.solver.engines.growing_rows import GrowingRows
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import CancelledError, UsageError
from linkrisk.solver.run.work import UNIT
from linkrisk.solver.worst_case import search


def pair(n=60):
    return frames(0, n, noise=0.8)


def long_pair(n=200):
    return frames(12, n, 5, noise=1.2)


def valid(result, files):
    assert 0 <= result.linked <= result.linked_upper_bound <= result.records
    assert result.linked == evaluate(*files, parameters=result.to_dict()).linked
    return True


# ---------------------------------------------------------------- memory


@pytest.mark.parametrize(("engine", "aggregator"), [("milp", "weighted-mean"), ("exact", "mahalanobis")])
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


@pytest.mark.parametrize("where", ["problem_system", "attack"])
def test_memory_that_cannot_be_had_ends_the_run_with_an_interval(where, monkeypatch):
    def refuse(*_, **__):
        raise MemoryError

    monkeypatch.setattr(f"linkrisk.solver.worst_case.search.{where}", refuse)
    files = pair()
    result = fit(*files, engine="exact", time_limit=20.0)
    assert result.limit == "memory"
    assert valid(result, files)


# ---------------------------------------------------------------- time


def test_the_first_attack_is_counted_whatever_the_limit(monkeypatch):
    first = search.own_attacks

    def slow(*given):
        time.sleep(0.1)
        return first(*given)

    monkeypatch.setattr(search, "own_attacks", slow)
    monkeypatch.setattr(search, "_FIRST", 60.0)
    files = pair()
    result = fit(*files, time_limit=0.01)
    assert result.linked >= result.details["baselines"]["euclid"] > 0
    assert valid(result, files)


@pytest.mark.parametrize(
    ("aggregator", "grown"),
    [("weighted-mean", True), ("owa", False), ("choquet", True), ("mahalanobis", False)],
)
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
        limits["time_limit"] = 0.5
    elif ending == "memory":
        limits["memory_limit"] = 1e9
        monkeypatch.setattr(
            "linkrisk.solver.run.limits.resident_megabytes", lambda: 2e9 if reached.is_set() else 100.0
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
    files = long_pair(200 if choice["engine"] == "exact" else 80)
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


# ---------------------------------------------------------------- cancel


def test_another_thread_may_end_a_fit_that_runs_outside_the_main_thread():
    cancel, reached, results = Cancel(), threading.Event(), []

    def run():
        told = lambda progress: progress.phase == "branch and cut" and reached.set()  # noqa: E731
        results.append(
            fit(*long_pair(), aggregator="choquet", time_limit=None, on_progress=told, cancel=cancel)
        )

    thread = threading.Thread(target=run)
    thread.start()
    assert reached.wait(600.0)
    cancel.cancel()
    thread.join()
    (result,) = results
    assert (result.status, result.limit) == ("interrupted", "user")
    assert result.linked < result.linked_upper_bound
    assert valid(result, long_pair())


def test_of_several_families_those_not_begun_are_left_out():
    cancel = Cancel()

    def look(progress):
        if progress.phase == "branch and bound":
            cancel.cancel()

    result = fit(
        *long_pair(), aggregator=["owa", "choquet"], time_limit=None, on_progress=look, cancel=cancel
    )
    assert [family.reason for family in result.families] == [None, "stopped before its search began"]
    assert result.results["owa"].limit == "user"


def test_a_certificate_is_not_begun_when_the_token_has_been_used():
    cancel = Cancel()
    cancel.cancel()
    result = fit(*long_pair(60), cancel=cancel, certificate=True)
    assert result.certificate is None
    assert result.details["certificate"]["reason"] == "stopped before it was made"


def test_a_comparison_ends_with_what_has_come_back():
    cancel = Cancel()
    result = compare(
        *frames(0),
        backends=["exact", "highs", "scipy"],
        cancel=cancel,
        on_progress=lambda told: told.about == "highs" and cancel.cancel(),
    )
    assert [row.name for row in result.rows] == ["exact", "highs"]
    assert result.rows[0].status == "optimal"


def test_a_competitor_that_is_running_is_stopped():
    cancel = Cancel()
    result = compare(
        *long_pair(),
        aggregator="choquet",
        backends=["highs"],
        time_limit=None,
        start=False,
        cancel=cancel,
        on_progress=lambda told: told.about == "highs" and cancel.cancel(),
    )
    (row,) = result.rows
    assert (row.status, row.limit) == ("interrupted", "user")


def test_what_has_no_result_before_its_end_is_given_up():
    cancel, files = Cancel(), frames(0)
    learned = fit(*files).to_dict()
    assert evaluate(*files, parameters=learned, cancel=cancel).linked == learned["linked"]
    assert link(*files, method="prl", cancel=cancel).records == learned["records"]
    cancel.cancel()
    with pytest.raises(CancelledError, match=r"^the run was cancelled before there was a result$"):
        evaluate(*files, parameters=learned, cancel=cancel)
    with pytest.raises(CancelledError):
        link(*files, method="prl", cancel=cancel)


def test_a_token_ends_what_is_being_done(monkeypatch):
    cancel, release = Cancel(), threading.Event()

    def endless(*_, **__):
        cancel.cancel()
        release.wait()

    monkeypatch.setattr("linkrisk.solver.linkage.operations.link.linkage_task", endless)
    try:
        with pytest.raises(CancelledError):
            link(*frames(0), method="prl", cancel=cancel)
    finally:
        release.set()


# ---------------------------------------------------------------- work limit


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
    chosen = ("weighted-mean", "mahalanobis")
    arguments = [str(part) for family in chosen for part in (family, *RUNS[family])]
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
    assert json.loads(done.stdout) == {family: once(family) for family in chosen}


@pytest.mark.parametrize("family", ["weighted-mean", "choquet"])
def test_more_work_narrows_the_interval_and_enough_ends_it(family):
    files = frames(5, 24, 4, noise=1.0)
    low, high = 0, 24
    for units in (1e-6, 1e-3, 0.05, 1000.0):
        result = fit(*files, aggregator=family, work_limit=units)
        assert low <= result.linked <= result.linked_upper_bound <= high
        low, high = result.linked, result.linked_upper_bound
        assert result.linked == evaluate(*files, parameters=result.to_dict()).linked
    assert result.proven
    assert result.limit is None
    assert result.details["work"] < 1000.0
    assert result.interval == fit(*files, aggregator=family, time_limit=None).interval


def test_time_limits_nothing_unless_it_is_asked_for():
    both = fit(*frames(5, 40, 4, noise=1.0), aggregator="mahalanobis", work_limit=1000.0, time_limit=1e-6)
    assert (both.limit, both.details["time_limit"]) == ("time", 1e-6)
    alone = fit(*frames(5, 20, 4, noise=1.0), work_limit=1000.0)
    assert (alone.limit, alone.details["time_limit"], alone.details["work_limit"]) == (None, None, 1000.0)
    neither = fit(*frames(5, 20, 4, noise=1.0)).details
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


@pytest.mark.parametrize(
    ("given", "limit", "said"),
    [
        (("--work-limit", "0.001"), "work", "the work limit was reached; a larger --work-limit"),
        (("--memory-limit", "1"), "memory", "memory ran out; a larger --memory-limit"),
    ],
)
@pytest.mark.usefixtures("survey_folder")
def test_the_command_line_takes_a_limit_and_says_that_it_came(given, limit, said, capsys):
    for name, frame in zip(("original", "masked"), frames(5, 80, 4, noise=1.0), strict=True):
        frame.to_csv(f"{name}.csv", index=False)
    assert f"not proven: {said}" in run(
        capsys, "fit", *PAIR, *given, "--json", "fit.json", "--report", "fit.html"
    )
    content = json.loads(Path("fit.json").read_text(encoding="utf-8"))
    assert (content["limit"], content.get("work_limit")) == (limit, 0.001 if limit == "work" else None)
    assert (content["time_limit"] is None) == (limit == "work")
    assert f"{limit} limit" in Path("fit.html").read_text(encoding="utf-8")


def test_work_of_an_optimiser_is_not_counted():
    message = (
        "the work of the engine milp is done by its optimiser, which is not counted: use engine='exact', "
        "or time_limit"
    )
    with pytest.raises(UsageError, match=f"^{message}$"):
        fit(*frames(5, 10, 4, noise=1.0), work_limit=1.0, engine="milp")


def test_a_unit_is_what_the_page_says():
    page = (PROGRAM.parents[2] / "docs" / "how-to" / "large-files.md").read_text(encoding="utf-8")
    assert f"{UNIT / 1e6:.0f} million operations" in page
