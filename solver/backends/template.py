"""The steps that every backend shares: build within the time limit, run, and judge what came back."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Generic, TypeVar

import numpy as np

from formulations.milp import MilpModel
from solver.backends.base import Backend, BackendResult, FloatArray, SolveOptions, Status, Watcher
from solver.clock import Clock, Limit

Built = TypeVar("Built")

ROUNDING = 1e-9
"""Relative rounding error allowed between an objective and the bound that proves it."""

FEASIBILITY = 1e-6
"""The feasibility tolerance that all the optimisers have by default."""

EXACT = 1e-9
"""A start point that misses no row by more than this refutes any bound above its own value."""


class Ending(Enum):
    """Why an optimiser stopped, in its own opinion."""

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
"""What a solve without a solution means, by the limit it hit: without one, there is none to be found."""


@dataclass(frozen=True)
class Outcome:
    """What an optimiser says when it stops.

    Attributes
    ----------
    ending : Ending
        Why it stopped.
    values : ndarray of float64 or None, shape (columns,)
        Its best solution.
    bound : float
        Its dual bound with the model's constant included; -inf when it has none.
    """

    ending: Ending
    values: FloatArray | None = None
    bound: float = -math.inf


class TemplateBackend(Backend, Generic[Built]):
    """A backend written as two steps, `build` and `run`; the judgement of what they return is shared."""

    @abstractmethod
    def build(self, model: MilpModel, options: SolveOptions) -> Built:
        """Hand `model` over to the optimiser, options set except the time limit.

        Returns
        -------
        object
            Whatever `run` needs.
        """

    @abstractmethod
    def run(
        self,
        built: Built,
        model: MilpModel,
        clock: Clock,
        *,
        start: FloatArray | None,
        watch: Watcher | None,
    ) -> Outcome:
        """Solve what `build` returned within ``clock.time_left`` seconds.

        Returns
        -------
        Outcome
            What the optimiser says; `RuntimeError` when it failed.
        """

    def solve(
        self,
        model: MilpModel,
        options: SolveOptions,
        *,
        start: FloatArray | None = None,
        watch: Watcher | None = None,
    ) -> BackendResult:
        """Solve `model`; see `Backend.solve`."""
        version = self.version()  # imports the optimiser, which shall not count as building
        clock = Clock(options.time_limit)
        build_seconds: float | None = None
        try:
            reduced = drop_idle_rows(model)
            if reduced is None:
                outcome = Outcome(Ending.INFEASIBLE)
            else:
                built = self.build(reduced, options)
                build_seconds = clock.seconds
                outcome = self._run_in_time(built, reduced, options, clock, start, watch)
        except KeyboardInterrupt:  # while building, or from an optimiser that cannot be asked to stop
            outcome = Outcome(Ending.USER)
        if build_seconds is None:
            build_seconds = clock.seconds
        outcome = refute(outcome, model, start)
        solve_seconds = clock.seconds - build_seconds
        return judge(outcome, model, options, (build_seconds, solve_seconds), self.name, version)

    def _run_in_time(
        self,
        built: Built,
        model: MilpModel,
        options: SolveOptions,
        clock: Clock,
        start: FloatArray | None,
        watch: Watcher | None,
    ) -> Outcome:
        if clock.expired:
            return Outcome(Ending.TIME)
        outcome = self.run(built, model, clock, start=start, watch=watch)
        return self._decide_infeasible_or_unbounded(outcome, model, options)

    def _decide_infeasible_or_unbounded(
        self, outcome: Outcome, model: MilpModel, options: SolveOptions
    ) -> Outcome:
        """Tell infeasible from unbounded by solving without an objective, where presolve left it open."""
        if outcome.ending is Ending.INFEASIBLE_OR_UNBOUNDED:
            if not model.objective.any():  # nothing to be unbounded
                return Outcome(Ending.INFEASIBLE)
            feasibility = replace(model, objective=0.0 * model.objective)
            found = self.solve(feasibility, options)
            if found.values is None:
                return Outcome(ENDING_OF[found.limit])
            outcome = Outcome(Ending.UNBOUNDED)
        if outcome.ending is Ending.UNBOUNDED:
            raise RuntimeError(f"{self.name}: the model is unbounded, bound every column that has a cost")
        return outcome


def drop_idle_rows(model: MilpModel) -> MilpModel | None:
    """Leave out the rows that hold nothing back: those without coefficients, and those without bounds.

    Modelling layers disagree about them: some skip a row without coefficients although its bounds may
    exclude 0, others cannot say that a row is free.

    Returns
    -------
    MilpModel or None
        None when a row without coefficients cannot hold, or a lower bound exceeds its upper bound.
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
    )


def refute(outcome: Outcome, model: MilpModel, start: FloatArray | None) -> Outcome:
    """Check the outcome against a known feasible point.

    Optimisers have declared big-M models infeasible, or proven bounds above a known solution. Such a
    claim is worth nothing: the bound is dropped and the start point stands as the solution.
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
    """Turn an outcome into a result whose status follows from objective and bound, not from a claim.

    Parameters
    ----------
    outcome : Outcome
        What the optimiser says.
    model, options
        What was solved, and how.
    seconds : (float, float)
        Wall time of building, and of solving.
    backend, version : str
        Copied into the result.

    Returns
    -------
    BackendResult
        OPTIMAL only when objective minus bound is within ``options.absolute_gap``.
    """
    limit = LIMIT_OF.get(outcome.ending)
    bound = math.inf if outcome.ending is Ending.INFEASIBLE else outcome.bound
    values = None if outcome.ending is Ending.INFEASIBLE else outcome.values
    objective = None if values is None else model.value(values)
    if outcome.ending is Ending.USER:
        status = Status.INTERRUPTED
    elif objective is None:
        status = Status.NO_SOLUTION
    elif objective - bound <= options.absolute_gap + ROUNDING * max(1.0, abs(objective)):
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
    )
