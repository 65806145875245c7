"""Time limits, start points, watching and interruption of every installed backend."""

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
    PATIENCE,
    big_m,
    check_market_split,
    knapsack,
    knows_both,
    market_split,
    planted_split,
)

from linkrisk.solver.backends.base import BackendProgress, SolveOptions
from linkrisk.solver.backends.registry import available_backends, get_backend
from linkrisk.solver.run.clock import Limit, Status

BACKENDS = available_backends()
WATCHED = [name for name in BACKENDS if get_backend(name).takes_watcher]
STARTED = [name for name in BACKENDS if get_backend(name).takes_start]


def test_capabilities_are_as_documented():
    assert {"highs", "pulp"} <= set(WATCHED)
    assert {"highs", "pulp", "pulp-cbc"} <= set(STARTED)


@pytest.mark.parametrize("name", BACKENDS)
def test_time_limit_is_never_a_proof(name):
    """However late it is noticed, and whatever has been found until then."""
    model = market_split(5, 40)
    result = get_backend(name).solve(model, SolveOptions(time_limit=1.0))
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


def test_pulp_itself_would_call_a_time_limit_optimal():
    """The reason for reading the solver instead of PuLP's status."""
    import pulp

    from linkrisk.solver.backends.pulp import make_pulp_model

    problem = make_pulp_model(market_split(5, 40)).problem
    for seconds in (0.5 * 2**doubled for doubled in range(10)):
        problem.solve(pulp.HiGHS(msg=False, timeLimit=seconds))
        if problem.variables()[0].varValue is not None:  # it has found a solution in that time
            break
    assert pulp.LpStatus[problem.status] == "Optimal"


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


@pytest.mark.parametrize("name", WATCHED)
def test_stopped_before_anything_is_known(name):
    result = get_backend(name).solve(big_m(), SolveOptions(), watch=lambda _progress: True)
    assert result.status in (Status.OPTIMAL, Status.INTERRUPTED)


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
