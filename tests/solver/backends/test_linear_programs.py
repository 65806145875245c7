"""Linear programs that live: the same answers as fresh ones after any changes, and proofs that hold."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from linkrisk.errors import MissingExtraError
from linkrisk.formulations.programs import LinearModel, MilpModel, excess, lower_bound
from linkrisk.solver.backends.linear.base import (
    LINEAR_PROGRAMS,
    LinearOptions,
    LinearStatus,
    available_linear_programs,
    linear_program,
)
from linkrisk.solver.run.errors import UsageError

INF = np.inf

everywhere = pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=pytest.mark.skipif(
                name not in available_linear_programs(), reason=f"{name} is not installed"
            ),
        )
        for name in LINEAR_PROGRAMS
    ],
)


def model_of(objective, rows, row_lower, row_upper, lower, upper, constant=0.0) -> LinearModel:
    arrays = [np.array(values, dtype=float) for values in (objective, row_lower, row_upper, lower, upper)]
    objective, row_lower, row_upper, lower, upper = arrays
    matrix = sparse.csr_array(np.array(rows, dtype=float).reshape(len(row_lower), len(objective)))
    return LinearModel(
        objective=objective, matrix=matrix, row_lower=row_lower, row_upper=row_upper,
        column_lower=lower, column_upper=upper, constant=constant,
    )  # fmt: skip


def small() -> LinearModel:
    """Minimise -x - 2y + 1 where x + y <= 4, x - y >= -2 and both are in [0, 3]: x = 1, y = 3."""
    return model_of([-1, -2], [[1, 1], [1, -1]], [-INF, -2], [4, INF], [0, 0], [3, 3], constant=1.0)


@everywhere
def test_of_a_mixed_integer_program_the_relaxation_is_solved(name):
    """Minimise -x - y where 2x + 2y <= 3 and both are integer: 1.5 is the bound, 1 the optimum."""
    linear = model_of([-1, -1], [[2, 2]], [-INF], [3], [0, 0], [3, 3])
    parts = {one.name: getattr(linear, one.name) for one in fields(linear)}
    model = MilpModel(**parts, integer=np.ones(2, dtype=bool))
    assert linear_program(model, name=name).solve().objective == pytest.approx(-1.5)


def fresh(model: LinearModel):
    """What SciPy makes of it, by its own interior point or simplex method; None when there is no optimum."""
    matrix = model.matrix.toarray()
    below, above = np.isfinite(model.row_upper), np.isfinite(model.row_lower)
    answer = linprog(
        model.objective,
        A_ub=np.vstack([matrix[below], -matrix[above]]),
        b_ub=np.concatenate([model.row_upper[below], -model.row_lower[above]]),
        bounds=list(zip(model.column_lower, model.column_upper, strict=True)),
    )
    return answer.fun + model.constant if answer.status == 0 else None


def check(model: LinearModel, solution) -> None:
    """The point is feasible, the duals prove that none is better, or the ray that there is none."""
    expected = fresh(model)
    if expected is None:
        assert solution.status is LinearStatus.INFEASIBLE
        assert solution.ray is not None
        assert excess(model, solution.ray / np.abs(solution.ray).max()) > 1e-7
        return
    assert solution.optimal
    assert solution.objective == pytest.approx(expected, abs=1e-6)
    assert model.violation(solution.point) <= 1e-6
    assert model.value(solution.point) == pytest.approx(expected, abs=1e-6)
    assert lower_bound(model, solution.duals) == pytest.approx(expected, abs=1e-5)


# ---------------------------------------------------------------- one solve


def test_another_library_may_have_used_highs_with_other_threads() -> None:
    """As PuLP does: the scheduler that HiGHS keeps for the thread refuses a run with one thread then."""
    import highspy

    other = highspy.Highs()
    for option, value in (("output_flag", False), ("threads", 2)):
        other.setOptionValue(option, value)
    other.run()
    try:
        model = model_of([1.0], [[1.0]], [1.0], [2.0], [0.0], [3.0])
        assert linear_program(model, name="highs").solve().objective == 1.0
    finally:
        highspy.Highs.resetGlobalScheduler(True)


@everywhere
def test_an_unbounded_program_and_one_without_rows(name):
    endless = model_of([-1, 0], [[1, -1]], [-INF], [1], [0, 0], [INF, INF])
    assert linear_program(endless, name=name).solve().status is LinearStatus.UNBOUNDED
    model = model_of([1, -1], np.empty((0, 2)), [], [], [1, 2], [3, 5])
    solution = linear_program(model, name=name).solve()
    assert solution.point == pytest.approx([1.0, 5.0])
    check(model, solution)


def larger(seed: int = 0, rows: int = 40, columns: int = 30) -> LinearModel:
    random = np.random.default_rng(seed)
    matrix = np.round(random.normal(size=(rows, columns)) * (random.random((rows, columns)) < 0.4), 1)
    inside = matrix @ random.random(columns)
    return model_of(
        np.round(random.normal(size=columns), 1), matrix, inside - random.random(rows),
        np.where(random.random(rows) < 0.5, INF, inside + 1.0), np.zeros(columns), np.full(columns, 2.0),
    )  # fmt: skip


@everywhere
def test_a_limit_of_iterations_and_of_time(name):
    program = linear_program(larger(), name=name)
    first = program.solve(iterations=1)
    assert (first.status, first.objective) == (LinearStatus.ITERATIONS, None)
    check(larger(), program.solve())
    program = linear_program(larger(rows=100, columns=80), name=name)
    assert program.solve(seconds=0.0).status is LinearStatus.TIME
    check(larger(rows=100, columns=80), program.solve(seconds=1000.0))


@everywhere
def test_a_basis_is_kept_until_it_is_forgotten(name):
    program = linear_program(larger(), name=name, options=OFF[name])
    first, again = program.solve(), program.solve()
    assert again.iterations == 0 < first.iterations
    program.forget_basis()
    anew = program.solve()
    assert anew.iterations > 0
    assert anew.objective == pytest.approx(first.objective)


OFF = {"highs": LinearOptions(own={"presolve": "off"}), "soplex": LinearOptions()}


@everywhere
def test_tolerances_are_those_that_were_asked_for(name):
    model = model_of([1], [[1]], [1.0], [INF], [0], [1.0 - 1e-8])
    loose, tight = (LinearOptions(feasibility=number) for number in (1e-6, 1e-9))
    assert linear_program(model, loose, name=name).solve().optimal
    assert linear_program(model, tight, name=name).solve().status is LinearStatus.INFEASIBLE


# ---------------------------------------------------------------- a life


class Life:
    def __init__(self, name: str, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.model = larger(seed, rows=6, columns=8)
        self.program = linear_program(self.model, name=name)

    def step(self) -> None:
        """One change."""
        changes = (self.rows, self.gone, self.costs, self.column_bounds, self.row_bounds)
        self.random.choice(changes)()
        assert (self.program.rows, self.program.columns) == self.model.shape

    def rows(self) -> None:
        count = int(self.random.integers(0, 3))
        matrix = np.round(self.random.normal(size=(count, self.model.shape[1])), 1)
        activity = matrix @ self.random.random(self.model.shape[1])
        lower, upper = activity - 0.5, np.where(self.random.random(count) < 0.5, INF, activity + 0.5)
        places = self.program.add_rows(sparse.csr_array(matrix), lower, upper)
        assert places.tolist() == list(range(self.model.shape[0], self.model.shape[0] + count))
        self.model = replace(
            self.model,
            matrix=sparse.csr_array(sparse.vstack([self.model.matrix, sparse.csr_array(matrix)])),
            row_lower=np.append(self.model.row_lower, lower),
            row_upper=np.append(self.model.row_upper, upper),
        )

    def gone(self) -> None:
        rows = self.model.shape[0]
        places = np.flatnonzero(self.random.random(rows) < 2.0 / max(rows, 4))
        self.program.delete_rows(self.random.permutation(places))
        kept = np.delete(np.arange(rows), places)
        self.model = replace(
            self.model,
            matrix=self.model.matrix[kept],
            row_lower=self.model.row_lower[kept],
            row_upper=self.model.row_upper[kept],
        )

    def some(self, count: int) -> np.ndarray:
        return self.random.choice(count, size=min(count, 3), replace=False)

    def costs(self) -> None:
        places = self.some(self.model.shape[1])
        cost = self.model.objective.copy()
        cost[places] = np.round(self.random.normal(size=places.size), 1)
        self.program.change_objective(places, cost[places])
        self.model = replace(self.model, objective=cost)

    def column_bounds(self) -> None:
        places = self.some(self.model.shape[1])
        lower, upper = self.model.column_lower.copy(), self.model.column_upper.copy()
        lower[places] = self.random.choice([0.0, 0.5, 1.0], places.size)
        upper[places] = lower[places] + self.random.choice([0.0, 1.0, 2.0], places.size)
        self.program.change_column_bounds(places, lower[places], upper[places])
        self.model = replace(self.model, column_lower=lower, column_upper=upper)

    def row_bounds(self) -> None:
        places = self.some(self.model.shape[0])
        lower, upper = self.model.row_lower.copy(), self.model.row_upper.copy()
        lower[places] = self.random.choice([-1.0, 0.3, 2.0], places.size)
        upper[places] = lower[places] + self.random.choice([0.0, 2.0, INF], places.size)
        lower[places[:1]] = -INF
        self.program.change_row_bounds(places, lower[places], upper[places])
        self.model = replace(self.model, row_lower=lower, row_upper=upper)


@everywhere
@pytest.mark.parametrize("seed", range(2))
def test_hundreds_of_changes_leave_the_program_that_a_fresh_one_would_be(name, seed):
    life, seen = Life(name, seed), set()
    for _ in range(150):
        life.step()
        solution = life.program.solve()
        seen.add(solution.status)
        check(life.model, solution)
    assert seen == {LinearStatus.OPTIMAL, LinearStatus.INFEASIBLE}


# ---------------------------------------------------------------- the registry


def test_an_optimiser_that_is_unknown_or_not_installed(monkeypatch):
    with pytest.raises(UsageError, match="unknown solver of linear programs 'glop': choose one of highs,"):
        linear_program(small(), name="glop")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match="linear programs on 'soplex' needs the extra 'scip': pip"):
        linear_program(small(), name="soplex")


# ---------------------------------------------------------------- proofs


def test_what_multipliers_prove():
    model = small()
    assert lower_bound(model, np.zeros(2)) == pytest.approx(-8.0)  # both columns at 3
    assert lower_bound(model, np.array([-1.5, 0.5])) == pytest.approx(-6.0)
    assert lower_bound(model, np.array([1.0, 0.0])) == pytest.approx(-8.0)  # the first row has no lower bound
    endless = replace(model, column_upper=np.array([3.0, INF]))
    assert lower_bound(endless, np.zeros(2)) == -INF
    assert excess(model, np.array([-1.5, 0.5])) < 0.0


def test_what_fails_from_the_last_basis_is_solved_from_scratch(monkeypatch):
    """HiGHS may give up from a basis that it has come to; without that the program is an easy one."""
    program = linear_program(small(), name="highs")
    assert program.solve().optimal
    asked, status = [], type(program)._status

    def fails_first(self):
        asked.append(status(self))
        return LinearStatus.FAILED if len(asked) == 1 else asked[-1]

    monkeypatch.setattr(type(program), "_status", fails_first)
    solution = program.solve()
    assert (solution.status, len(asked)) == (LinearStatus.OPTIMAL, 2)
    assert solution.point == pytest.approx([1.0, 3.0])
