"""Limits, start points, watching and interruption of every backend; what is reported of what it says."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from backend_problems import (
    INF,
    PATIENCE,
    check_market_split,
    knapsack,
    knows_both,
    make,
    market_split,
    planted_split,
)

from linkrisk.errors import MissingExtraError
from linkrisk.solver.backends.base import BackendProgress, BackendResult, SolveOptions
from linkrisk.solver.backends.pulp import last_bound
from linkrisk.solver.backends.registry import available_backends, get_backend
from linkrisk.solver.backends.template import Ending, Outcome, drop_idle_rows, judge, refute
from linkrisk.solver.run.clock import Limit, Status

BACKENDS = available_backends()
WATCHED = [name for name in BACKENDS if get_backend(name).takes_watcher]
STARTED = [name for name in BACKENDS if get_backend(name).takes_start]


@pytest.mark.parametrize("name", BACKENDS)
def test_time_limit_is_never_a_proof(name):
    model = market_split(5, 40)
    result = get_backend(name).solve(model, SolveOptions(time_limit=0.2))
    assert result.limit is Limit.TIME
    assert result.status is not Status.INTERRUPTED
    check_market_split(result, model)
    assert result.build_seconds >= 0
    assert result.solve_seconds >= 0


@pytest.mark.parametrize("name", BACKENDS)
def test_time_spent_before_solving(name):
    result = get_backend(name).solve(market_split(5, 40), SolveOptions(time_limit=0.0))
    assert (result.status, result.limit) == (Status.NO_SOLUTION, Limit.TIME)
    assert (result.objective, result.bound) == (None, -math.inf)


@pytest.mark.parametrize("name", STARTED)
def test_a_start_point_is_used(name):
    """With the perfect split known there is nothing left to do; without it there are hours of work."""
    model, values = planted_split(5, 40)
    result = get_backend(name).solve(model, SolveOptions(time_limit=PATIENCE), starts=[values])
    assert (result.status, result.limit) == (Status.OPTIMAL, None)
    assert result.objective == pytest.approx(7.0)
    np.testing.assert_allclose(result.values, values, atol=1e-6)


@pytest.mark.parametrize("name", BACKENDS)
def test_start_points_never_change_the_optimum(name):
    model = knapsack()
    backend = get_backend(name)
    for start in ([1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0], [0.5, 0.5, 0.5, 0.5]):
        assert backend.solve(model, SolveOptions(), starts=[np.array(start)]).objective == pytest.approx(-23)


@pytest.mark.parametrize("name", WATCHED)
def test_watcher_sees_the_bounds_and_stops_the_solve(name):
    model = market_split(5, 40)
    seen: list[BackendProgress] = []

    def watch(progress: BackendProgress) -> bool:
        seen.append(progress)
        return knows_both(progress) and len(seen) > 5

    result = get_backend(name).solve(model, SolveOptions(time_limit=PATIENCE), watch=watch)
    assert (result.status, result.limit) == (Status.INTERRUPTED, Limit.USER)
    check_market_split(result, model)
    assert result.objective is not None
    assert result.objective <= seen[-1].objective + 1e-6
    assert seen[-1].bound == pytest.approx(7.0, abs=1e-3)
    objectives = [progress.objective for progress in seen]
    assert objectives == sorted(objectives, reverse=True)
    assert not any(knows_both(progress) for progress in seen[5:-1])


@pytest.mark.parametrize("name", WATCHED)
def test_an_exception_of_the_watcher_stops_the_solve_and_is_raised(name):
    def watch(_progress: BackendProgress) -> bool:
        raise LookupError("from the watcher")

    began = time.perf_counter()
    with pytest.raises(LookupError, match="from the watcher"):
        get_backend(name).solve(market_split(5, 40), SolveOptions(time_limit=PATIENCE), watch=watch)
    assert time.perf_counter() - began < PATIENCE


INTERRUPTED = """
    import sys
    sys.path.insert(0, {folder!r})
    from backend_problems import PATIENCE, knows_both, market_split
    from linkrisk.solver.backends.base import SolveOptions
    from linkrisk.solver.backends.registry import get_backend

    def watch(progress):
        if knows_both(progress):
            print("found", flush=True)
        return False

    options = SolveOptions(time_limit=PATIENCE)
    result = get_backend({name!r}).solve(market_split(5, 40), options, watch=watch)
    print(result.status, result.limit, result.objective is not None, result.bound, flush=True)
"""


@pytest.mark.parametrize("name", WATCHED)
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT between processes")
def test_interrupt_returns_the_solution_and_the_bound(name):
    folder = str(Path(__file__).parents[2] / "support")
    script = textwrap.dedent(INTERRUPTED.format(folder=folder, name=name))
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "found\n"
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=PATIENCE)
    assert errors == ""
    status, limit, has_solution, bound = output.replace("found\n", "").split()
    assert (status, limit, has_solution) == ("interrupted", "user", "True")
    assert float(bound) == pytest.approx(7.0, abs=1e-3)
    assert process.returncode == 0


def test_two_solves_at_once_do_not_disturb_each_other():
    from concurrent.futures import ThreadPoolExecutor

    model = market_split(2, 12)
    alone = get_backend("highs").solve(model, SolveOptions()).objective
    with ThreadPoolExecutor(2) as pool:
        solves = [
            pool.submit(get_backend("highs").solve, replace(model), SolveOptions(threads=threads))
            for threads in (1, 2)
        ]
    assert [solve.result().objective for solve in solves] == [alone, alone]


# ---------------------------------------------------------------- judgement


POINT = np.array([1.0, 1.0, 0.0, 0.0])  # worth -23, the optimum
WORSE = np.array([0.0, 0.0, 1.0, 1.0])  # worth -15


def judged(outcome: Outcome, absolute_gap: float = 1e-6) -> BackendResult:
    return judge(outcome, knapsack(), SolveOptions(absolute_gap=absolute_gap), (0.0, 0.0), "b", "1")


@pytest.mark.parametrize(
    ("outcome", "status", "limit"),
    [
        (Outcome(Ending.COMPLETE, POINT, -23.0), Status.OPTIMAL, None),
        (Outcome(Ending.COMPLETE, POINT, -23.0 - 2e-6), Status.FEASIBLE, None),
        (Outcome(Ending.COMPLETE, WORSE, -23.0), Status.FEASIBLE, None),
        (Outcome(Ending.TIME, POINT, -23.0), Status.OPTIMAL, None),
        (Outcome(Ending.TIME, POINT, -24.0), Status.FEASIBLE, Limit.TIME),
        (Outcome(Ending.TIME, POINT), Status.FEASIBLE, Limit.TIME),
        (Outcome(Ending.TIME, None, -24.0), Status.NO_SOLUTION, Limit.TIME),
        (Outcome(Ending.MEMORY, None, -24.0), Status.NO_SOLUTION, Limit.MEMORY),
        (Outcome(Ending.MEMORY, POINT, -24.0), Status.FEASIBLE, Limit.MEMORY),
        (Outcome(Ending.USER, POINT, -24.0), Status.INTERRUPTED, Limit.USER),
        (Outcome(Ending.USER), Status.INTERRUPTED, Limit.USER),
        (Outcome(Ending.INFEASIBLE), Status.INFEASIBLE, None),
    ],
)
def test_status_follows_from_objective_and_bound(outcome, status, limit):
    result = judged(outcome)
    assert (result.status, result.limit) == (status, limit)
    assert result.objective == (None if outcome.values is None else knapsack().value(outcome.values))
    assert result.bound == (math.inf if outcome.ending is Ending.INFEASIBLE else outcome.bound)


@pytest.mark.parametrize(
    ("gap", "status"), [(0.999, Status.OPTIMAL), (0.9, Status.FEASIBLE)], ids=["within", "beyond"]
)
def test_absolute_gap(gap, status):
    assert judged(Outcome(Ending.COMPLETE, POINT, -23.95), absolute_gap=gap).status is status


@pytest.mark.parametrize(
    "claim",
    [Outcome(Ending.INFEASIBLE), Outcome(Ending.COMPLETE, WORSE, -15.0), Outcome(Ending.TIME, None, -22.0)],
    ids=["infeasible", "false proof", "false bound"],
)
def test_a_feasible_start_refutes_false_claims(claim):
    outcome = refute(claim, knapsack(), POINT)
    result = judged(outcome)
    assert result.status is Status.FEASIBLE
    assert result.bound == -math.inf
    np.testing.assert_array_equal(result.values, POINT)


def test_claims_that_a_start_does_not_refute():
    claim = Outcome(Ending.COMPLETE, POINT, -23.0)
    assert refute(claim, knapsack(), None) is claim
    assert refute(claim, knapsack(), WORSE) is claim
    assert refute(claim, knapsack(), POINT) is claim
    assert refute(claim, knapsack(), np.ones(4)) is claim  # infeasible: worth nothing


def test_idle_rows_are_dropped_and_others_kept():
    rows = [([0.0, 0.0], -1.0, 0.0), ([1.0, 0.0], -INF, INF), ([1.0, 2.0], -INF, 2.0), ([0.0, 1.0], 0.5, INF)]
    reduced = drop_idle_rows(make([1, 1], rows))
    assert reduced is not None
    np.testing.assert_array_equal(reduced.matrix.toarray(), [[1, 2], [0, 1]])
    np.testing.assert_array_equal(reduced.row_lower, [-INF, 0.5])
    np.testing.assert_array_equal(reduced.row_upper, [2.0, INF])
    model = make([1, 1], rows[2:])
    assert drop_idle_rows(model) is model


CBC_LOG = """\
Cbc0010I After 0 nodes, 1 on tree, 28 best solution, best possible 0.5 (0.10 seconds)
Cbc0010I After 2000 nodes, 137 on tree, 6 best solution, best possible 1911366.5 (2.64 seconds)
Cbc0020I Exiting on maximum time
Cbc0005I Partial search - best objective 1944379 (best possible 1911370.25), took 17987 iterations
"""


def test_bound_of_a_cbc_log_is_the_last_one_rounded_down():
    bound = last_bound(CBC_LOG)
    assert bound < 1911370.25
    assert bound == pytest.approx(1911370.25, rel=1e-6)
    assert last_bound("nothing here") == -math.inf
    assert last_bound("(best possible -1e+50), took") == -math.inf


# ---------------------------------------------------------------- backend registry


def test_the_backends_that_linkrisk_depends_on_are_available():
    assert {"highs", "pulp", "pulp-cbc", "cvxpy", "scipy"} <= set(available_backends())


def test_listing_imports_no_optimiser():
    script = (
        "import sys\n"
        "from linkrisk.solver.backends.registry import available_backends\n"
        "assert len(available_backends()) >= 5\n"
        "from linkrisk.solver.backends.registry import optimisers\n"
        "print(sorted((optimisers() | {'scipy.optimize'}) & set(sys.modules)))"
    )
    listed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert listed.stdout.strip() == "[]"


def test_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    assert "scip" not in available_backends()
    with pytest.raises(MissingExtraError) as error:
        get_backend("scip")
    assert str(error.value) == "backend 'scip' needs the extra 'scip': pip install 'linkrisk[scip]'"
