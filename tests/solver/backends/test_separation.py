"""Models with rows that only a separator knows: the same optimum as with all rows written down."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from backend_problems import INF, PATIENCE, knapsack, make, solve_here

from linkrisk.formulations.programs import Cuts, MilpModel
from linkrisk.solver.backends.base import SolveOptions
from linkrisk.solver.backends.guard import solve_isolated
from linkrisk.solver.backends.registry import available_backends, get_backend
from linkrisk.solver.run.clock import Limit, Status

everywhere = pytest.mark.parametrize("name", available_backends())


@dataclass
class Hidden:
    """Some rows, told when they are violated, at most so many at a time."""

    rows: Cuts
    most: int = 1
    fractional: bool = False
    asked: int = 0

    def __call__(self, x: np.ndarray) -> Cuts:
        self.asked += 1
        activity = self.rows.matrix @ x
        by = np.maximum(self.rows.lower - activity, activity - self.rows.upper)
        worst = np.argsort(-by)[: self.most]
        worst = worst[by[worst] > 1e-7]
        return Cuts(self.rows.matrix[worst], self.rows.lower[worst], self.rows.upper[worst])


def split(model: MilpModel, kept: np.ndarray, **how) -> MilpModel:
    hidden = Cuts(model.matrix[~kept], model.row_lower[~kept], model.row_upper[~kept])
    return replace(
        model,
        matrix=model.matrix[kept],
        row_lower=model.row_lower[kept],
        row_upper=model.row_upper[kept],
        separator=Hidden(hidden, **how),
    )


def covering(seed: int, columns: int = 12, rows: int = 14) -> MilpModel:
    """Random covers and packings with whole costs; now and then there is no solution."""
    random = np.random.default_rng(seed)
    matrix = (random.random((rows, columns)) < 0.35).astype(float)
    packing = random.random(rows) < 0.3
    size = matrix.sum(axis=1)
    limits = [
        (row, -INF, max(1.0, total - 1.0)) if pack else (row, 1.0, INF)
        for row, pack, total in zip(matrix, packing, size, strict=True)
        if total > 0
    ]
    return make(random.integers(1, 9, columns).astype(float), limits, constant=2.5)


@everywhere
@pytest.mark.parametrize("fractional", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_optimum_is_that_of_all_rows(name, fractional, seed):
    whole = covering(seed)
    kept = np.random.default_rng(seed).random(whole.shape[0]) < 0.3
    model = split(whole, kept, most=1 + seed % 3, fractional=fractional)
    expected, result = (get_backend(name).solve(each, SolveOptions()) for each in (whole, model))
    assert result.status is expected.status
    assert result.objective == pytest.approx(expected.objective)
    if result.values is not None:
        assert whole.violation(result.values) <= 1e-6
        assert result.bound == pytest.approx(expected.objective, abs=1e-5)


@everywhere
def test_rows_are_counted_and_go_to_another_process(name):
    whole = covering(1)
    model = split(whole, np.zeros(whole.shape[0], dtype=bool))
    best = get_backend("highs").solve(whole, SolveOptions()).objective
    # What is read from another process is the same code for all, and starting one takes a second.
    solve = solve_isolated if name in ("highs", "scip", "pulp-cbc") else solve_here
    result = solve(name, model, SolveOptions()).result
    assert result.objective == pytest.approx(best)
    assert result.cuts > 0
    assert get_backend(name).solve(knapsack(), SolveOptions()).cuts == 0


@everywhere
def test_a_bound_is_left_when_time_is_up_between_two_rounds(name, monkeypatch):
    """What was found violates rows, so there is no solution; the bound of fewer rows is a bound."""
    whole = covering(1)
    model = split(whole, np.zeros(whole.shape[0], dtype=bool))
    backend, best = get_backend(name), get_backend(name).solve(whole, SolveOptions()).objective
    rounds = iter([False] + [True] * 10**6)
    monkeypatch.setattr("linkrisk.solver.run.clock.Clock.expired", property(lambda _: next(rounds)))
    result = backend.solve(model, SolveOptions(time_limit=PATIENCE))
    if result.status is Status.OPTIMAL:  # its rows were separated inside the tree
        assert result.objective == pytest.approx(best)
    else:
        assert (result.status, result.limit) == (Status.NO_SOLUTION, Limit.TIME)
        assert 2.5 <= result.bound <= best + 1e-6


@pytest.mark.parametrize("name", ["highs", "pulp"])
def test_who_watches_is_told_of_every_round_and_can_stop_between_two(name):
    whole = covering(1)
    told = []

    def watch(progress):
        if progress.point is not None:
            told.append(progress)
        return len(told) == 2

    model = split(whole, np.zeros(whole.shape[0], dtype=bool))
    result = get_backend(name).solve(model, SolveOptions(), watch=watch)
    assert (result.status, result.limit, result.values) == (Status.INTERRUPTED, Limit.USER, None)
    assert [model.separator(progress.point).count for progress in told] == [1, 1]
    assert all(progress.objective == math.inf for progress in told)
    assert told[0].bound <= told[1].bound <= result.bound


@everywhere
def test_a_point_that_violates_hidden_rows_is_no_start_and_refutes_nothing(name):
    whole = knapsack()
    model = split(whole, np.array([False]))
    result = get_backend(name).solve(model, SolveOptions(), starts=[np.ones(4)])
    assert result.objective == pytest.approx(-23.0)


@dataclass
class Noting:
    ask: Hidden
    fractional: bool
    seen: list[bool]

    def __call__(self, x: np.ndarray) -> Cuts:
        self.seen.append(bool(np.abs(x - np.round(x)).max() > 1e-6))
        return self.ask(x)


@pytest.mark.parametrize("fractional", [False, True])
@pytest.mark.parametrize("name", [name for name in ("highs", "scip") if name in available_backends()])
def test_fractional_points_are_asked_about_only_if_they_may_be(name, fractional):
    """To cover the roads of a triangle by cities: half of each in the relaxation, two of them in truth."""
    whole = make([1, 1, 1], [([1, 1, 0], 1, INF), ([1, 0, 1], 1, INF), ([0, 1, 1], 1, INF)])
    ask = split(whole, np.zeros(3, dtype=bool), most=3).separator
    separator = Noting(ask, fractional, [])
    result = get_backend(name).solve(replace(whole, separator=separator), SolveOptions())
    assert result.objective == pytest.approx(2.0)
    assert any(separator.seen) is fractional


@everywhere
def test_a_separator_that_fails_is_not_swallowed(name):
    class Failing:
        fractional = False

        def __call__(self, x):
            raise ZeroDivisionError(str(x.shape))

    with pytest.raises(ZeroDivisionError):
        get_backend(name).solve(replace(knapsack(), separator=Failing()), SolveOptions())


# ---------------------------------------------------------------- starts and gaps


@everywhere
def test_a_relative_gap_is_enough(name):
    """A gap of all of it: the first solution will do, and is called optimal within that gap."""
    result = get_backend(name).solve(covering(3, 30, 40), SolveOptions(relative_gap=0.5))
    assert result.status is Status.OPTIMAL
    assert result.objective - result.bound <= 0.5 * abs(result.objective) + 1e-6
