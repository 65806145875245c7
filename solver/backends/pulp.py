"""Solve by HiGHS and CBC through PuLP's modelling layer."""

from __future__ import annotations

import math
import re
import subprocess
import tempfile
import warnings
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linkrisk.arrays import IndexArray
from linkrisk.errors import MissingExtraError
from linkrisk.formulations.programs import Cuts, MilpModel
from linkrisk.solver.backends.highs import HighsRun, add_rows, highs_options, silent_highspy
from linkrisk.solver.backends.template import Ending, Outcome, Solve, TemplateBackend

if TYPE_CHECKING:
    import highspy
    import pulp


@dataclass(frozen=True)
class PulpModel:
    """A PuLP problem, and its variables in the order of the model's columns."""

    problem: pulp.LpProblem
    variables: list[pulp.LpVariable]


def make_pulp_model(model: MilpModel) -> PulpModel:
    """Build the PuLP problem of `model`.

    Expressions are made from dictionaries and rows from expressions: `lpSum` and ``<=`` would copy each
    row several times. A row with two different bounds becomes two, because PuLP has one-sided rows only.
    """
    import pulp

    problem = pulp.LpProblem("linkrisk", pulp.LpMinimize)
    bounds = (model.column_lower.tolist(), model.column_upper.tolist(), model.integer.tolist())
    variables = [
        problem.add_variable(
            f"x{column}", _finite(lower), _finite(upper), "Integer" if integer else "Continuous"
        )
        for column, (lower, upper, integer) in enumerate(zip(*bounds, strict=True))
    ]
    # Zero costs stay in: PuLP hands on only the variables that its objective and its rows mention.
    costs = dict(zip(variables, model.objective.tolist(), strict=True))
    problem.setObjective(_expression(costs, model.constant))
    add_pulp_rows(problem, Cuts(model.matrix, model.row_lower, model.row_upper), variables, first=0)
    return PulpModel(problem, variables)


def add_pulp_rows(problem: pulp.LpProblem, cuts: Cuts, variables: list[Any], *, first: int) -> None:
    """Add rows to a problem; `first` is the number of the first one."""
    from pulp import LpConstraintEQ, LpConstraintGE, LpConstraintLE

    row_variables = [variables[column] for column in cuts.matrix.indices.tolist()]
    coefficients = cuts.matrix.data.tolist()
    starts = cuts.matrix.indptr.tolist()
    lower, upper = cuts.lower.tolist(), cuts.upper.tolist()
    for row in range(cuts.count):
        part = slice(starts[row], starts[row + 1])
        terms = dict(zip(row_variables[part], coefficients[part], strict=True))
        name = f"r{first + row}"
        if lower[row] == upper[row]:
            problem.addConstraint(_row(terms, LpConstraintEQ, lower[row]), name)
            continue
        if lower[row] != -math.inf:
            problem.addConstraint(_row(terms, LpConstraintGE, lower[row]), name)
        if upper[row] != math.inf:
            problem.addConstraint(_row(terms, LpConstraintLE, upper[row]), f"{name}u")


def _expression(terms: dict[Any, float], constant: float = 0.0) -> Any:
    """An expression of PuLP 4, or of 3, where it is a dictionary itself."""
    import pulp

    make = getattr(pulp.LpAffineExpression, "from_dict", pulp.LpAffineExpression)
    return make(terms, constant=constant)


def _row(terms: dict[Any, float], sense: int, bound: float) -> Any:
    """A row: in PuLP 4 an expression with a sense that is compared with 0, in 3 a class of its own."""
    import pulp

    if is_version_3():
        return pulp.LpConstraint(_expression(terms), sense, rhs=bound)
    row = _expression(terms, -bound)
    row.sense = sense
    return row


@cache
def is_version_3() -> bool:
    """Whether the PuLP that is installed carries CBC, and is not yet the new one."""
    return int(version("pulp").partition(".")[0]) < 4


def _finite(bound: float) -> float | None:
    return None if math.isinf(bound) else bound


@dataclass(frozen=True)
class BuiltPulp:
    """A PuLP problem and the HiGHS object that PuLP made of it."""

    model: PulpModel
    highs: highspy.Highs

    @property
    def columns(self) -> IndexArray:
        """Map the model's columns to that object: PuLP 3 sorts its variables by name."""
        variables = self.model.variables
        if is_version_3():
            return np.array([variable.index for variable in variables], dtype=np.intp)
        places = {one.id: at for at, one in enumerate(self.model.problem.exported_variables())}
        return np.array([places[variable.id] for variable in variables], dtype=np.intp)


class PulpBackend(TemplateBackend[BuiltPulp]):
    """PuLP with its class `HiGHS`: PuLP builds the model, and the result is read from HiGHS.

    PuLP's own status is not used: it says "Optimal" at a time limit, and forgets the bound.
    """

    name: ClassVar[str] = "pulp"
    requires: ClassVar[tuple[str, ...]] = ("pulp", "highspy")
    takes_start: ClassVar[bool] = True
    takes_watcher: ClassVar[bool] = True

    def version(self) -> str:
        """Version of HiGHS, and of PuLP."""
        import pulp

        return f"{silent_highspy().Highs().version()} (PuLP {pulp.__version__})"

    def build(self, solve: Solve) -> BuiltPulp:
        """Make PuLP's objects, and let PuLP pass them to HiGHS row by row."""
        import pulp

        silent_highspy()
        built = make_pulp_model(solve.model)
        solver = pulp.HiGHS(msg=False, **highs_options(solve.options))
        solver.createAndConfigureSolver(built.problem)
        solver.buildSolverModel(built.problem)
        highs = built.problem.solverModel
        highs.changeObjectiveOffset(solve.model.constant)  # which PuLP 3 does not pass on
        return BuiltPulp(built, highs)

    def run(self, built: BuiltPulp, solve: Solve) -> Outcome:
        """Run PuLP's HiGHS object in a thread of its own."""
        return HighsRun(built.highs, solve, built.columns).run()

    def extend(self, built: BuiltPulp, solve: Solve, cuts: Cuts) -> BuiltPulp:  # noqa: ARG002
        """Add the rows to the HiGHS object that PuLP made."""
        add_rows(built.highs, cuts, built.columns)
        return built


BEST_POSSIBLE = re.compile(r"best possible ([^\s),]+)")
"""CBC's dual bound as its log lines 5 and 10 give it, to about eight digits."""

INTEGER_GAP = re.compile(r"Exiting as integer gap of ([0-9.eE+-]+) less than")
"""Solution minus dual bound when CBC stops within the gap that it was allowed."""

PRINTED = 1e-7
"""Relative rounding of the numbers in CBC's log; a bound read there is lowered by this much."""


NO_POINT = (Ending.INFEASIBLE, Ending.INFEASIBLE_OR_UNBOUNDED)


@dataclass(frozen=True)
class BuiltCbc:
    """A PuLP problem and the options of the CBC program."""

    model: PulpModel
    arguments: dict[str, Any]


class CbcBackend(TemplateBackend[BuiltCbc]):
    """PuLP with the CBC that it carries; neither progress nor interruption, but start points."""

    name: ClassVar[str] = "pulp-cbc"
    requires: ClassVar[tuple[str, ...]] = ("pulp",)
    takes_start: ClassVar[bool] = True

    @classmethod
    def check_installed(cls) -> None:
        """Refuse PuLP 4, which carries no CBC any more."""
        super().check_installed()
        if not is_version_3():
            raise MissingExtraError(
                "backend 'pulp-cbc' needs PuLP 3, which carries CBC: pip install 'pulp<4'"
            )

    def version(self) -> str:
        """Version of CBC, and of PuLP."""
        import pulp

        answer = subprocess.run(
            [pulp.PULP_CBC_CMD.pulp_cbc_path, "-quit"], capture_output=True, text=True, check=False
        )
        version = re.search(r"Version: (\S+)", answer.stdout)
        return f"{version[1] if version else 'unknown'} (PuLP {pulp.__version__})"

    def build(self, solve: Solve) -> BuiltCbc:
        """Make PuLP's objects; the MPS file is written when solving."""
        options = solve.options
        seed = options.seed + 1  # 0 is the time of day
        arguments = {
            "msg": False,
            "gapRel": options.relative_gap,
            "gapAbs": options.absolute_gap,
            "threads": options.threads if options.threads > 1 else None,
            "options": [f"randomSeed {seed}", f"randomCbcSeed {seed}"],
        }
        return BuiltCbc(make_pulp_model(solve.model), arguments)

    def run(self, built: BuiltCbc, solve: Solve) -> Outcome:
        """Let PuLP run CBC, and read CBC's log."""
        model, starts = solve.model, solve.starts
        if starts:  # CBC takes one point
            rounded = np.where(model.integer, np.round(starts[0]), starts[0])
            for variable, value in zip(built.model.variables, rounded.tolist(), strict=True):
                variable.varValue = value
        trusted = not has_two_sided_rows(model)
        outcome = self._call(built, solve, warm=bool(starts), preprocess=trusted)
        if outcome is None and not trusted:
            # Without preprocessing CBC crashes on some infeasible models, so only its claim of infeasibility
            # is used.
            outcome = self._call(built, solve, warm=False, preprocess=True)
            outcome = outcome if outcome and outcome.ending in NO_POINT else None
        if outcome is None:
            raise RuntimeError("CBC failed: it crashed")
        return outcome

    def extend(self, built: BuiltCbc, solve: Solve, cuts: Cuts) -> BuiltCbc:
        """Add the rows to PuLP's problem."""
        first = solve.model.shape[0] - cuts.count
        add_pulp_rows(built.model.problem, cuts, built.model.variables, first=first)
        return built

    def _call(self, built: BuiltCbc, solve: Solve, *, warm: bool, preprocess: bool) -> Outcome | None:
        """Let PuLP run CBC and read its log; None when CBC crashed."""
        import pulp

        remaining = solve.clock.time_left
        options = built.arguments["options"] + ([] if preprocess else ["preprocess off"])
        with tempfile.TemporaryDirectory(prefix="linkrisk-cbc-") as folder:
            log = Path(folder, "cbc.log")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # CBC leaves PuLP in version 4
                solver = pulp.PULP_CBC_CMD(
                    **{**built.arguments, "options": options},
                    timeLimit=None if math.isinf(remaining) else remaining,
                    warmStart=warm,
                    logPath=str(log),
                )
            solver.tmpDir = folder
            try:
                built.model.problem.solve(solver)
            except pulp.PulpSolverError:
                return None
            return read_outcome(built.model, log.read_text(encoding="utf-8", errors="replace"), solve.model)


def has_two_sided_rows(model: MilpModel) -> bool:
    """Tell whether some row has two different bounds.

    On those, the preprocessing of the CBC 2.10.3 that PuLP carries loses optima and reports a worse
    solution as optimal (coin-or/Cbc #293); with rows of one side and with equalities it does not.
    """
    two_sided = np.isfinite(model.row_lower) & np.isfinite(model.row_upper)
    return bool((two_sided & (model.row_lower < model.row_upper)).any())


def read_outcome(built: PulpModel, log: str, model: MilpModel) -> Outcome:
    """Read what CBC found, from its log and from PuLP's two statuses.

    PuLP's `status` is "Optimal" whenever there is a solution, so only its other answers are believed;
    `sol_status` does not know CBC's "Integer infeasible". CBC itself has said "Search completed" after
    "Exiting on maximum time": an ending counts as complete only when the log names no limit.
    """
    import pulp

    problem = built.problem
    if problem.status == pulp.LpStatusUnbounded:
        return Outcome(Ending.UNBOUNDED)
    if problem.status == pulp.LpStatusInfeasible:
        return Outcome(Ending.INFEASIBLE_OR_UNBOUNDED if "unbounded" in log else Ending.INFEASIBLE)
    found = problem.sol_status in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible)
    values = (
        np.array([variable.varValue for variable in built.variables], dtype=np.float64) if found else None
    )
    stopped = "Exiting on maximum time" in log or "Stopped on time" in log
    ending = Ending.TIME if stopped else Ending.COMPLETE
    if ending is Ending.COMPLETE and values is None:
        raise RuntimeError("CBC failed: it stopped without a limit and without a solution")
    within_gap = "within gap tolerance" in log
    if values is not None and not stopped and not within_gap:
        return Outcome(ending, values, model.value(values))
    bound = last_bound(log) + model.constant
    if values is not None and within_gap:
        bound = max(bound, model.value(values) - last_gap(log))
    return Outcome(ending, values, bound)


def last_gap(log: str) -> float:
    """Take the gap at which CBC stopped, raised by the rounding of its digits; inf without one.

    At the root node that line is all that CBC says of its bound to more than four digits.
    """
    found = INTEGER_GAP.findall(log)
    return float(found[-1]) * (1.0 + PRINTED) + PRINTED if found else math.inf


def last_bound(log: str) -> float:
    """Take the last dual bound of a CBC log, lowered by the rounding of its digits; -inf without one."""
    found = BEST_POSSIBLE.findall(log)
    bound = float(found[-1]) if found else -math.inf
    if abs(bound) >= 1e49:  # how CBC prints a missing bound
        return -math.inf
    return bound - PRINTED * max(1.0, abs(bound)) if math.isfinite(bound) else bound
