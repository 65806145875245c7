"""Models with rows that only a separator knows: the same optimum as with all rows written down."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pytest
from backend_problems import INF, PATIENCE, knapsack, make, solve_here
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from linkrisk.formulations.programs import Cuts, MilpModel, Separator, no_cuts
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


@dataclass(frozen=True)
class Subtours:
    """Of a tour through all cities: two chosen roads at least leave each group that hangs together."""

    cities: int
    fractional: bool = True

    def __call__(self, x: np.ndarray) -> Cuts:
        roads = list(combinations(range(self.cities), 2))
        chosen = [road for road, value in zip(roads, x, strict=True) if value > 1e-6]
        graph = sparse.coo_array(
            (np.ones(len(chosen)), tuple(np.array(chosen, dtype=int).reshape(-1, 2).T)),
            shape=(self.cities, self.cities),
        )
        count, group = connected_components(graph, directed=False)
        if count == 1:
            return no_cuts(len(roads))
        one, two = np.array(roads).T
        leaving = np.array(
            [(group[one] == each) != (group[two] == each) for each in range(count)], dtype=float
        )
        return Cuts(sparse.csr_array(leaving), np.full(count, 2.0), np.full(count, INF))


def split(model: MilpModel, kept: np.ndarray, **how) -> MilpModel:
    """The model with these rows written down, and a separator for the others."""
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
def test_no_solution_keeps_the_hidden_rows(name):
    """Three covers written down, and that all sets together are too many hidden."""
    model = make([1, 1, 1], [([1, 0, 0], 1, INF), ([0, 1, 0], 1, INF), ([1, 1, 0], -INF, 1)])
    result = get_backend(name).solve(split(model, np.array([True, True, False])), SolveOptions())
    assert (result.status, result.objective, result.bound) == (Status.INFEASIBLE, None, INF)


def tour(cities: int, seed: int) -> MilpModel:
    """Cities in the plane: two roads at each of them, and no subtours."""
    random = np.random.default_rng(seed)
    place = random.random((cities, 2))
    roads = list(combinations(range(cities), 2))
    cost = [float(np.hypot(*(place[a] - place[b]))) for a, b in roads]
    rows = [([float(city in road) for road in roads], 2, 2) for city in range(cities)]
    return replace(make(cost, rows), separator=Subtours(cities))


def shortest_tour(cities: int, model: MilpModel) -> float:
    """Held and Karp 1962: the shortest way through a set of cities to each of its members."""
    cost = np.zeros((cities, cities))
    for (a, b), length in zip(combinations(range(cities), 2), model.objective, strict=True):
        cost[a, b] = cost[b, a] = length
    best = {(1 << k, k): cost[0, k] for k in range(1, cities)}
    for size in range(2, cities):
        for chosen in combinations(range(1, cities), size):
            bits = sum(1 << k for k in chosen)
            for last in chosen:
                before = bits & ~(1 << last)
                best[bits, last] = min(best[before, k] + cost[k, last] for k in chosen if k != last)
    return min(best[(1 << cities) - 2, k] + cost[k, 0] for k in range(1, cities))


@everywhere
@pytest.mark.parametrize("seed", range(2))
def test_tours(name, seed):
    model = tour(9, seed)
    result = get_backend(name).solve(model, SolveOptions())
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(shortest_tour(9, model))
    assert model.separator(result.values).count == 0


@everywhere
def test_rows_are_counted_and_go_to_another_process(name):
    model = tour(7, 0)
    # What is read from another process is the same code for all, and starting one takes a second.
    solve = solve_isolated if name in ("highs", "scip", "pulp-cbc") else solve_here
    result = solve(name, model, SolveOptions()).result
    assert result.objective == pytest.approx(shortest_tour(7, model))
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
    """A separator, and which of the points that it was asked about were not integral."""

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


def test_what_separates():
    assert isinstance(Subtours(4), Separator)
    assert pickle.loads(pickle.dumps(Subtours(4))) == Subtours(4)
    rows = Cuts(sparse.csr_array(np.eye(2)), np.array([0.0, 0.5]), np.array([1.0, INF]))
    assert rows.violation(np.array([1.25, 0.0])) == 0.5
    assert rows.violation(np.array([0.5, 0.5])) == 0.0
    assert (no_cuts(3).count, no_cuts(3).violation(np.ones(3))) == (0, 0.0)


# ---------------------------------------------------------------- starts and gaps


@everywhere
def test_the_best_of_several_starts_is_used(name):
    """With no time to solve, what is left is the best of those that are feasible."""
    backend = get_backend(name)
    points = [np.array([float(digit) for digit in text]) for text in ("1000", "0110", "1111", "0001")]
    result = backend.solve(knapsack(), SolveOptions(), starts=points)
    assert result.objective == pytest.approx(-23.0)


@everywhere
def test_a_relative_gap_is_enough(name):
    """A gap of all of it: the first solution will do, and is called optimal within that gap."""
    result = get_backend(name).solve(covering(3, 30, 40), SolveOptions(relative_gap=0.5))
    assert result.status is Status.OPTIMAL
    assert result.objective - result.bound <= 0.5 * abs(result.objective) + 1e-6
