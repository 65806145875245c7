"""Every installed backend on standard problems with known answers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from backend_problems import (
    INF,
    SOLVED,
    enumerate_binary,
    infeasible,
    make,
    market_split,
    random_binary,
    unbounded,
)

from linkrisk.formulations.programs import MilpModel
from linkrisk.solver.backends.base import BackendResult, SolveOptions
from linkrisk.solver.backends.registry import available_backends, get_backend
from linkrisk.solver.run.clock import Status

BACKENDS = available_backends()
TOLERANCE = 1e-6

every_backend = pytest.mark.parametrize("name", BACKENDS)


def solve(name: str, model: MilpModel, **options: float) -> BackendResult:
    return get_backend(name).solve(model, SolveOptions(**options))  # type: ignore[arg-type]


def check_proven(result: BackendResult, model: MilpModel, optimum: float) -> None:
    assert result.status is Status.OPTIMAL
    assert result.limit is None
    assert result.values is not None
    assert result.objective is not None
    assert result.objective == pytest.approx(optimum, abs=TOLERANCE)
    assert result.objective == model.value(result.values)
    assert result.bound == pytest.approx(optimum, abs=TOLERANCE)
    assert result.gap <= TOLERANCE
    assert result.values.shape == (model.shape[1],)
    assert model.violation(result.values) <= TOLERANCE
    assert result.build_seconds >= 0
    assert result.solve_seconds >= 0
    assert result.version


@every_backend
@pytest.mark.parametrize(("model", "optimum"), SOLVED.values(), ids=SOLVED)
def test_known_optimum(name, model, optimum):
    check_proven(solve(name, model), model, optimum)


@every_backend
@pytest.mark.parametrize(
    "model", [infeasible(), make([1, 1], [([1, 1], 3, INF), ([1, 1], -INF, 2)], upper=INF, integer=False)]
)
def test_infeasible_is_a_proof_without_a_solution(name, model):
    result = solve(name, model)
    assert result.status is Status.INFEASIBLE
    assert result.limit is None
    assert result.bound == math.inf
    assert result.objective is None
    assert result.values is None


@every_backend
@pytest.mark.parametrize("integer", [False, True])
def test_unbounded_is_an_error_in_one_line(name, integer):
    with pytest.raises(RuntimeError) as error:
        solve(name, unbounded(integer=integer))
    assert str(error.value) == f"{name}: the model is unbounded, bound every column that has a cost"


@every_backend
@pytest.mark.parametrize(
    "rows", [[([0.0, 0.0], 1.0, 2.0)], [([1.0, 1.0], 2.0, 1.0)]], ids=["empty row", "crossed bounds"]
)
def test_rows_that_cannot_hold(name, rows):
    result = solve(name, make([1, 1], rows))
    assert (result.status, result.limit, result.bound) == (Status.INFEASIBLE, None, math.inf)


@every_backend
def test_columns_keep_their_order(name):
    # Twelve columns: sorted by name, x10 comes before x2.
    weights = np.arange(12.0) + 1
    model = make(-weights, [(np.ones(12), -INF, 3)])
    result = solve(name, model)
    np.testing.assert_allclose(result.values, np.arange(12) >= 9, atol=TOLERANCE)


@every_backend
def test_integer_objective_with_a_wide_gap(name):
    model = market_split(2, 12)
    exact = solve(name, model)
    wide = solve(name, model, absolute_gap=0.999)
    assert exact.status is Status.OPTIMAL
    assert wide.status is Status.OPTIMAL
    assert wide.objective == pytest.approx(exact.objective, abs=TOLERANCE)
    assert wide.bound <= wide.objective + TOLERANCE
    assert wide.bound > wide.objective - 1


@every_backend
def test_random_models_agree_with_enumeration(name):
    infeasible_models = 0
    for seed in range(15):
        model = random_binary(seed)
        optimum = enumerate_binary(model)
        result = solve(name, model)
        if optimum == INF:
            infeasible_models += 1
            assert (result.status, result.bound) == (Status.INFEASIBLE, INF), seed
        else:
            assert result.status is Status.OPTIMAL, seed
            assert result.objective == pytest.approx(optimum, abs=TOLERANCE), seed
            assert result.bound == pytest.approx(optimum, abs=TOLERANCE), seed
    assert 2 < infeasible_models < 13


@every_backend
@pytest.mark.parametrize("seed", [618, 751, 888])
def test_two_sided_rows_on_which_preprocessing_fails(name, seed):
    model = random_binary(seed)
    check_proven(solve(name, model), model, enumerate_binary(model))


@every_backend
def test_small_coefficients(name):
    """Only SCIP, which takes what is below its epsilon, 1e-9, for zero, solves another model."""
    # 1e-10 x >= 1 with x <= 1e12 free of charge; without the coefficient y must pay 1.
    model = make([0, 1], [([1e-10, 1.0], 1.0, INF)], upper=[1e12, 5], integer=False)
    without = make([0, 1], [([0.0, 1.0], 1.0, INF)], upper=[1e12, 5], integer=False)
    if name in ("scip", "cvxpy-scip"):
        check_proven(solve(name, model), without, 1.0)
    else:
        check_proven(solve(name, model), model, 0.0)


@every_backend
def test_same_seed_same_solution(name):
    model = market_split(2, 12)
    first, second = solve(name, model, seed=3), solve(name, model, seed=3)
    np.testing.assert_array_equal(first.values, second.values)


@every_backend
def test_thread_counts_can_change_within_a_process(name):
    model = market_split(2, 12)
    optima = {round(solve(name, model, threads=threads).objective or INF, 6) for threads in (1, 2, 1)}
    assert len(optima) == 1
