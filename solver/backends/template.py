"""Share the code of backends: cutting planes at the root, refutation, the status of an answer."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Generic, TypeVar

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.formulations.programs import Cuts, MilpModel
from linkrisk.solver.backends.base import Backend, BackendProgress, BackendResult, SolveOptions, Watcher
from linkrisk.solver.backends.linear.base import linear_program
from linkrisk.solver.run.clock import Clock, Limit, Status

_VIOLATED = 1e-6
"""Smallest violation that a cut must have: optimisers ignore violations within their tolerance."""

_STALLED = 1e-9
"""Relative increase of the bound below which cutting stops: more rounds would add rows, not bound."""

_SHARE = 0.2
"""Share of the time for cutting at the root."""


def cut_at_the_root(model: MilpModel, options: SolveOptions, clock: Clock) -> tuple[MilpModel, int]:
    """Add cutting planes for optima of the relaxation; return the model and their number."""
    separator = model.separator
    if separator is None or not separator.fractional:
        return model, 0
    program, found = linear_program(model), list[Cuts]()
    until, last = clock.share(_SHARE, float("inf")), -float("inf")
    for _ in range(options.root_rounds):
        solution = program.solve(seconds=max(0.0, until - clock.seconds) if until < float("inf") else None)
        if solution.objective is None:
            break
        if found and solution.objective - last <= _STALLED * max(1.0, abs(last)):
            break
        last = solution.objective
        cuts = separator(solution.point)
        if cuts.violation(solution.point) <= _VIOLATED:
            break
        program.add_rows(cuts.matrix, cuts.lower, cuts.upper)
        found.append(cuts)
    for cuts in found:
        model = model.with_rows(cuts)
    return model, sum(cuts.count for cuts in found)


Built = TypeVar("Built")

ROUNDING = 1e-9
"""Relative rounding tolerance between an objective and the bound that proves it."""

FEASIBILITY = 1e-6
"""Default feasibility tolerance of all the optimisers."""

EXACT = 1e-9
"""Violation up to which a start point counts as feasible, and refutes any bound above its value."""


class Ending(Enum):
    """Why an optimiser stopped, by its own claim."""

    COMPLETE = auto()
    INFEASIBLE = auto()
    UNBOUNDED = auto()
    INFEASIBLE_OR_UNBOUNDED = auto()
    TIME = auto()
    MEMORY = auto()
    USER = auto()


LIMIT_OF = {Ending.TIME: Limit.TIME, Ending.MEMORY: Limit.MEMORY, Ending.USER: Limit.USER}
ENDING_OF: dict[Limit | None, Ending] = {None: Ending.INFEASIBLE}
ENDING_OF.update({limit: ending for ending, limit in LIMIT_OF.items()})
"""Meaning of a solve without a solution, by the limit it hit."""


@dataclass(frozen=True)
class Outcome:
    """The raw result of an optimiser."""

    ending: Ending  # Why it stopped
    values: FloatArray | None = None  # (columns,) Its best solution
    bound: float = -math.inf  # Its dual bound with the model's constant included; -inf when it has none
    cuts: int = 0  # Number of separated rows


@dataclass(frozen=True)
class Solve:
    """One solve: the model, its limits, starts and callbacks."""

    model: MilpModel
    options: SolveOptions
    clock: Clock  # its `time_left` is the optimiser's limit
    starts: Sequence[FloatArray] = ()  # feasible starts, the best first
    watch: Watcher | None = None  # as in `Backend.solve`


class TemplateBackend(Backend, Generic[Built]):
    """A backend in two steps, `build` and `run`, with `extend` between two runs.

    The refutation of results is shared, and so is the loop that separates rows.
    """

    @abstractmethod
    def build(self, solve: Solve) -> Built:
        """Hand the model over to the optimiser, options set except the time limit.

        Returns
        -------
        object
            Whatever `run` needs.
        """

    @abstractmethod
    def run(self, built: Built, solve: Solve) -> Outcome:
        """Solve what `build` or `extend` returned within ``solve.clock.time_left`` seconds.

        Returns
        -------
        Outcome
            What the optimiser says; `RuntimeError` when it failed.
        """

    def extend(self, built: Built, solve: Solve, cuts: Cuts) -> Built:  # noqa: ARG002
        """Add rows to what `build` returned; the model has them already. By default it is built again."""
        return self.build(solve)

    def solve(
        self,
        model: MilpModel,
        options: SolveOptions,
        *,
        starts: Sequence[FloatArray] = (),
        watch: Watcher | None = None,
    ) -> BackendResult:
        """Solve `model`; see `Backend.solve`."""
        version = self.version()  # imports the optimiser, which does not count as building
        clock = Clock(options.time_limit)
        build_seconds: float | None = None
        feasible = best_first(starts, model)
        try:
            reduced = drop_idle_rows(model)
            if reduced is None:
                outcome = Outcome(Ending.INFEASIBLE)
            else:
                reduced, separated = cut_at_the_root(reduced, options, clock)
                task = Solve(reduced, options, clock, feasible, watch)
                built = self.build(task)
                build_seconds = clock.seconds
                outcome = self._separated(built, task)
                outcome = replace(outcome, cuts=outcome.cuts + separated)
                if outcome.values is None and outcome.ending in LIMIT_OF and model.separator is not None:
                    # Solutions of rounds without all rows are invalid; an earlier start is not.
                    outcome = replace(outcome, values=feasible[0] if feasible else None)
        except KeyboardInterrupt:  # while building, or in an optimiser that cannot be interrupted
            outcome = Outcome(Ending.USER)
        if build_seconds is None:
            build_seconds = clock.seconds
        exact = (start for start in feasible if model.violation(start) <= EXACT)
        outcome = refute(outcome, model, next(exact, None))
        solve_seconds = clock.seconds - build_seconds
        return judge(outcome, model, options, (build_seconds, solve_seconds), self.name, version)

    def _separated(self, built: Built, solve: Solve) -> Outcome:
        """Solve, and add violated rows until the solution violates none (row generation).

        Each round's bound is valid: the model with fewer rows is a relaxation.
        """
        bound, added, model, watch = -math.inf, 0, solve.model, solve.watch
        while True:
            outcome = self._run_in_time(built, replace(solve, watch=_never_below(bound, watch)))
            bound = max(bound, outcome.bound)
            added += outcome.cuts
            outcome = replace(outcome, bound=bound, cuts=added)
            if model.separator is None or outcome.values is None:
                return outcome
            cuts = model.separator(outcome.values)
            if cuts.violation(outcome.values) <= FEASIBILITY:
                return outcome
            progress = BackendProgress(math.inf, bound, outcome.values)
            outcome = replace(outcome, values=None)
            if outcome.ending is not Ending.COMPLETE:
                return outcome
            if watch is not None and watch(progress):
                return replace(outcome, ending=Ending.USER)
            added += cuts.count
            model = model.with_rows(cuts)
            solve = replace(solve, model=model)
            built = self.extend(built, solve, cuts)

    def _run_in_time(self, built: Built, solve: Solve) -> Outcome:
        """Run, and tell infeasible from unbounded by solving without an objective if necessary."""
        if solve.clock.expired:
            return Outcome(Ending.TIME)
        outcome = self.run(built, solve)
        if outcome.ending is Ending.INFEASIBLE_OR_UNBOUNDED:
            if not solve.model.objective.any():  # nothing could be unbounded
                return Outcome(Ending.INFEASIBLE)
            feasibility = replace(solve.model, objective=0.0 * solve.model.objective)
            found = self.solve(feasibility, solve.options)
            if found.values is None:
                return Outcome(ENDING_OF[found.limit])
            outcome = Outcome(Ending.UNBOUNDED)
        if outcome.ending is Ending.UNBOUNDED:
            raise RuntimeError(f"{self.name}: the model is unbounded, bound every column that has a cost")
        return outcome


def _never_below(bound: float, watch: Watcher | None) -> Watcher | None:
    """Raise the bound to the best proven one, and drop the objective of a relaxation."""
    if watch is None or bound == -math.inf:
        return watch
    told = watch
    return lambda progress: told(BackendProgress(math.inf, max(bound, progress.bound), progress.point))


def best_first(starts: Sequence[FloatArray], model: MilpModel) -> list[FloatArray]:
    """Sort the feasible points by the model's objective."""
    feasible = [start for start in starts if model.violation(start) <= FEASIBILITY]
    return sorted(feasible, key=model.value)


def drop_idle_rows(model: MilpModel) -> MilpModel | None:
    """Drop rows without coefficients or bounds; None when one of them, or a column, is infeasible.

    Modelling layers disagree about them: some skip a row without coefficients although its bounds may exclude
    0, others cannot say that a row is free.
    """
    empty = np.diff(model.matrix.indptr) == 0
    excluded = empty & ((model.row_lower > FEASIBILITY) | (model.row_upper < -FEASIBILITY))
    crossed = (model.row_lower > model.row_upper).any() or (model.column_lower > model.column_upper).any()
    if crossed or excluded.any():
        return None
    kept = ~(empty | (np.isneginf(model.row_lower) & np.isposinf(model.row_upper)))
    if kept.all():
        return model
    return replace(
        model,
        matrix=model.matrix[kept],
        row_lower=model.row_lower[kept],
        row_upper=model.row_upper[kept],
        row_blocks=(),
    )


def refute(outcome: Outcome, model: MilpModel, start: FloatArray | None) -> Outcome:
    """Check the outcome against a known feasible point.

    Optimisers have declared big-M models infeasible, or proven bounds above a known solution. Then the bound
    is dropped and the start point is the solution.
    """
    if start is None or model.violation(start) > EXACT:
        return outcome
    bound = math.inf if outcome.ending is Ending.INFEASIBLE else outcome.bound
    value = model.value(start)
    if bound <= value + ROUNDING * max(1.0, abs(value)):
        return outcome
    ending = Ending.COMPLETE if outcome.ending is Ending.INFEASIBLE else outcome.ending
    return Outcome(ending, start.copy())


def judge(
    outcome: Outcome,
    model: MilpModel,
    options: SolveOptions,
    seconds: tuple[float, float],
    backend: str,
    version: str,
) -> BackendResult:
    """Derive the status from objective and bound, not from a claim; `seconds` of building and solving."""
    limit = LIMIT_OF.get(outcome.ending)
    bound = math.inf if outcome.ending is Ending.INFEASIBLE else outcome.bound
    values = None if outcome.ending is Ending.INFEASIBLE else outcome.values
    objective = None if values is None else model.value(values)
    if outcome.ending is Ending.USER:
        status = Status.INTERRUPTED
    elif outcome.ending is Ending.INFEASIBLE:
        status = Status.INFEASIBLE
    elif objective is None:
        status = Status.NO_SOLUTION
    elif options.closed(objective, bound + ROUNDING * max(1.0, abs(objective))):
        status, limit = Status.OPTIMAL, None
    else:
        status = Status.FEASIBLE
    return BackendResult(
        status=status,
        limit=limit,
        objective=objective,
        bound=bound,
        values=values,
        build_seconds=seconds[0],
        solve_seconds=seconds[1],
        backend=backend,
        version=version,
        cuts=outcome.cuts,
    )
