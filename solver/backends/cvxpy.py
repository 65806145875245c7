"""Solve by HiGHS and SCIP through CVXPY's modelling layer, built from matrices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from linkrisk.formulations.programs import MilpModel
from linkrisk.solver.backends.base import SolveOptions, run_in_background
from linkrisk.solver.backends.highs import highs_options, outcome_of, silent_highspy
from linkrisk.solver.backends.scip import INFINITY, scip_bound, scip_ending, scip_parameters
from linkrisk.solver.backends.template import Outcome, Solve, TemplateBackend


@dataclass(frozen=True)
class BuiltCvxpy:
    """A CVXPY problem in its solver's form, and the options of that solver."""

    problem: Any
    data: dict[str, Any]
    chain: Any
    options: dict[str, Any]

    def solve(self, **options: Any) -> dict[str, Any]:
        """Call the solver and return its raw answer, before CVXPY translates the status."""
        answers: list[dict[str, Any]] = []

        def call() -> None:
            answers.append(
                self.chain.solve_via_data(
                    self.problem, self.data, warm_start=False, verbose=False, solver_opts=options
                )
            )

        # HiGHS keeps one scheduler per thread, with the number of threads of its first run.
        run_in_background(call)
        return answers[0]


def make_problem(model: MilpModel) -> Any:
    """Build the CVXPY problem of `model`, without its constant.

    Three matrix constraints, one each for equalities and for the two sides of the others: row by row, CVXPY
    would take minutes.
    """
    import cvxpy

    columns = model.shape[1]
    x = cvxpy.Variable(
        columns,
        integer=(np.flatnonzero(model.integer),) if model.integer.any() else False,
        bounds=[model.column_lower, model.column_upper],
    )
    matrix, lower, upper = model.matrix, model.row_lower, model.row_upper
    equal = lower == upper
    below, above = np.isfinite(upper) & ~equal, np.isfinite(lower) & ~equal
    constraints = []  # CVXPY 1.8 takes no matrix without rows
    if equal.any():
        constraints.append(matrix[equal] @ x == lower[equal])
    if below.any():
        constraints.append(matrix[below] @ x <= upper[below])
    if above.any():
        constraints.append(matrix[above] @ x >= lower[above])
    return cvxpy.Problem(cvxpy.Minimize(model.objective @ x), constraints)


def shift(outcome: Outcome, constant: float) -> Outcome:
    """Add the model's constant to the bound."""
    return replace(outcome, bound=outcome.bound + constant)


class CvxpyBackend(TemplateBackend[BuiltCvxpy]):
    """CVXPY with HiGHS: the model is checked and canonicalised first, and cannot be watched."""

    name: ClassVar[str] = "cvxpy"
    requires: ClassVar[tuple[str, ...]] = ("cvxpy", "highspy")
    solver: ClassVar[str] = "HIGHS"

    def version(self) -> str:
        """Version of HiGHS, and of CVXPY."""
        import cvxpy

        return f"{silent_highspy().Highs().version()} (CVXPY {cvxpy.__version__})"

    def solver_options(self, options: SolveOptions) -> dict[str, Any]:
        """Options of HiGHS, the time limit left out."""
        return highs_options(options)

    def build(self, solve: Solve) -> BuiltCvxpy:
        """Let CVXPY check and canonicalise the problem."""
        problem = make_problem(solve.model)
        data, chain, _ = problem.get_problem_data(self.solver)
        return BuiltCvxpy(problem, data, chain, self.solver_options(solve.options))

    def run(self, built: BuiltCvxpy, solve: Solve) -> Outcome:
        """Let CVXPY call HiGHS."""
        silent_highspy()
        answer = built.solve(**built.options, time_limit=solve.clock.time_left)
        values, model = np.array(answer["solution"].col_value), solve.model
        return shift(outcome_of(answer["model_status"], answer["info"], values, model), model.constant)


class CvxpyScipBackend(CvxpyBackend):
    """CVXPY with SCIP: CVXPY adds the rows one by one here, which is slow for large models."""

    name: ClassVar[str] = "cvxpy-scip"
    requires: ClassVar[tuple[str, ...]] = ("cvxpy", "pyscipopt")
    solver: ClassVar[str] = "SCIP"

    def version(self) -> str:
        """Version of SCIP, and of CVXPY."""
        import cvxpy
        import pyscipopt

        return f"{pyscipopt.Model().version()} (CVXPY {cvxpy.__version__})"

    def solver_options(self, options: SolveOptions) -> dict[str, Any]:
        """Parameters of SCIP, the time limit left out."""
        return scip_parameters(options)

    def run(self, built: BuiltCvxpy, solve: Solve) -> Outcome:
        """Let CVXPY call SCIP."""
        limit = {"limits/time": min(solve.clock.time_left, INFINITY)}
        answer = built.solve(scip_params={**built.options, **limit})
        bound = scip_bound(answer["model"].getDualbound())
        ending = scip_ending(answer["scip_status"])
        return shift(Outcome(ending, answer.get("primal"), bound), solve.model.constant)
