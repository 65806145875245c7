"""The steps that every backend shares: build within the time limit, run, and judge what came back."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Generic, TypeVar

from formulations.milp import MilpModel
from solver.backends.base import Backend, BackendResult, FloatArray, Limit, SolveOptions, Status, Watcher

Built = TypeVar("Built")

ROUNDING = 1e-9
"""Relative rounding error allowed between an objective and the bound that proves it."""

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


class Clock:
    """Wall time since the solve was asked for, and what is left of the time limit."""

    def __init__(self, time_limit: float | None) -> None:
        self._time_limit = time_limit
        self._started = time.perf_counter()

    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._started

    def remaining(self) -> float:
        """Seconds until the time limit, never negative; inf without a limit."""
        return math.inf if self._time_limit is None else max(0.0, self._time_limit - self.elapsed())


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
        """Solve what `build` returned within ``clock.remaining()`` seconds.

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
        clock = Clock(options.time_limit)
        built = self.build(model, options)
        build_seconds = clock.elapsed()
        if clock.remaining() > 0:
            outcome = self.run(built, model, clock, start=start, watch=watch)
            outcome = self._decide_infeasible_or_unbounded(outcome, model, options)
        else:
            outcome = Outcome(Ending.TIME)
        outcome = refute(outcome, model, start)
        return judge(
            outcome,
            model,
            options,
            build_seconds=build_seconds,
            solve_seconds=clock.elapsed() - build_seconds,
            backend=self.name,
            version=self.version(),
        )

    def _decide_infeasible_or_unbounded(
        self, outcome: Outcome, model: MilpModel, options: SolveOptions
    ) -> Outcome:
        """Tell infeasible from unbounded by solving without an objective, where presolve left it open."""
        if outcome.ending is Ending.INFEASIBLE_OR_UNBOUNDED:
            feasibility = replace(model, objective=0.0 * model.objective)
            found = self.solve(feasibility, options)
            if found.values is None:
                return Outcome(ENDING_OF[found.limit])
            outcome = Outcome(Ending.UNBOUNDED)
        if outcome.ending is Ending.UNBOUNDED:
            raise RuntimeError(f"{self.name}: the model is unbounded, bound every column that has a cost")
        return outcome


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
    *,
    build_seconds: float,
    solve_seconds: float,
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
    build_seconds, solve_seconds, backend, version
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
        build_seconds=build_seconds,
        solve_seconds=solve_seconds,
        backend=backend,
        version=version,
    )
