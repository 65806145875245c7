"""What `compare` gives to every competitor, and the recount of its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.block_system import (
    BlockSystem,
    IndicatorModel,
    IndicatorOptions,
    indicator_model,
)
from linkrisk.solver.backends.base import SolveOptions
from linkrisk.solver.backends.isolated import IsolatedResult, run_isolated, solve_isolated
from linkrisk.solver.engines.attacks.scoring import Scorer
from linkrisk.solver.engines.attacks.search import attack, widen
from linkrisk.solver.engines.base import EngineOptions, rounded_bound, whole
from linkrisk.solver.engines.exact.engine import ExactEngine
from linkrisk.solver.engines.isolated import EngineJob
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.linkage.helpers import Helpers
from linkrisk.solver.run.clock import Clock, Limits
from linkrisk.solver.run.errors import noted
from linkrisk.solver.run.incumbent import Incumbent
from linkrisk.solver.run.interruption import interruptible
from linkrisk.solver.run.progress import CONTEST, Progress, Reporter
from linkrisk.solver.run.status import Status
from linkrisk.solver.run.versions import library_versions
from linkrisk.solver.worst_case.problem_rows import first_incumbent, problem_system

EXACT = ExactEngine.name
"""What stands for the engine `exact` in a list of backends."""


@dataclass(frozen=True)
class BackendRow:
    """One line of the comparison: the big-C model on a backend, or the exact engine.

    Attributes
    ----------
    engine : str
        ``milp`` or ``exact``.
    backend : str or None
        The backend of ``milp``; the exact engine has none.
    status : str
        Its own claim, in the vocabulary of `Status`; ``failed`` when it raised an error, and ``feasible``
        when it found nothing in its time, as an attack was known before.
    limit : str or None
        The limit it hit.
    linked : float or None
        Weight of linked records (their number, under the strict tie rule) after a recount of its solution; of
        the attack that was known before where it has none.
    claimed : float or None
        Weight of linked records by its own objective, before the recount.
    linked_with_margin : float or None
        Weight of those among them that keep the model's margin on every row, as a backend's bound counts.
    linked_upper_bound : float or None
        Its bound, whatever the parameters: of a backend on `linked_with_margin`, of the exact engine
        on `linked`. Without one of its own, all records that could be linked.
    gap : float or None
        The difference of `linked` and the bound.
    rows, columns, nonzeros : int or None
        Size of the big-C model; the exact engine builds none.
    build_seconds, solve_seconds : float or None
        Handing the model over, and solving it.
    peak_memory_mb : float or None
        Peak resident memory of the process that solved it, interpreter and libraries included.
    version : str
        Version of the optimiser, of linkrisk for the exact engine, or the error when it failed.
    """

    engine: str
    backend: str | None
    status: str
    limit: str | None = None
    claimed: float | None = None
    linked: float | None = None
    linked_with_margin: float | None = None
    linked_upper_bound: float | None = None
    gap: float | None = None
    rows: int | None = None
    columns: int | None = None
    nonzeros: int | None = None
    build_seconds: float | None = None
    solve_seconds: float | None = None
    peak_memory_mb: float | None = None
    version: str = ""

    @property
    def name(self) -> str:
        """What `--backends` calls it."""
        return self.backend or self.engine


class Contest:
    """The model, the start point and the recount that all competitors share.

    Parameters
    ----------
    problem : Problem
    settings : EngineOptions
    limits : Limits
        Time for each competitor, and the token that ends the contest.
    start : bool
        Whether they start from the heuristic attack.

    Attributes
    ----------
    clock : Clock
        Stopped by the first Ctrl-C, or by the token.
    attack : float
        Weight linked before any of them started.
    """

    def __init__(self, problem: Problem, settings: EngineOptions, limits: Limits, start: bool) -> None:
        self._problem, self._settings, self._time_limit = problem, settings, limits.time
        self._tight, self._threads = settings.big_c is None, None
        self._system = problem_system(problem.searched, reduce=self._tight)
        self._evaluator = Evaluator(problem.pair)
        choices = IndicatorOptions(margin=settings.margin, big_c=settings.big_c, scale=self._tight)
        self._model: IndicatorModel = indicator_model(self._system, choices)
        self.clock = Clock(None, cancel=limits.cancel)
        # The attack has a time limit like everybody's: on large files it would take longer than all of them.
        attacking = Clock(limits.time, cancel=limits.cancel)
        incumbent = first_incumbent(self._system, self._evaluator, attacking)
        if start:
            with interruptible(self.clock), interruptible(attacking):
                attack(self._system, incumbent, self._evaluator, settings.seed)
        self._theta, self.attack = incumbent.solution, incumbent.value
        point = self._model.point(incumbent.solution)
        self._starts = (point,) if start and self._model.milp.violation(point) <= 1e-9 else ()

    def rows(self, names: Sequence[str], report: Reporter) -> Iterator[BackendRow]:
        """One after the other, each told to `report` before it runs."""
        for at, name in enumerate(names):
            if self.clock.stopped:
                break
            report(Progress.uncounted(CONTEST, about=name, done=at / len(names)))
            with interruptible(self.clock):
                row = self.row(name)
            yield row

    def rows_by(self, helpers: Helpers, names: Sequence[str]) -> list[BackendRow]:
        """Side by side at workers, in the order of their names, as far as they come before this is stopped.

        Each has as many threads as the settings say, the exact engine as well.
        """
        with interruptible(self.clock):
            answers = list(helpers.answers(self, row_of, lambda _: list(names), self.clock))
        return [row for _, row in sorted(answers, key=lambda answer: answer[0])]

    def __getstate__(self) -> dict[str, Any]:
        """What a worker needs, which has a clock and an evaluator of its own."""
        return {**self.__dict__, "clock": None, "_evaluator": None, "_threads": self._settings.threads}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A contest at a worker."""
        self.__dict__.update(state)
        self.clock = Clock(None)
        self._evaluator = Evaluator(self._problem.pair, self._threads)

    def row(self, name: str, stopped: Callable[[], bool] | None = None) -> BackendRow:
        """Let a backend solve the model, or the exact engine the problem, and recount.

        Parameters
        ----------
        name : str
        stopped : callable, optional
            Whether it is to end; when absent, the clock says so.
        """
        asked = stopped or (lambda: self.clock.stopped)
        try:
            return self._answered(name, self._exact(asked) if name == EXACT else self._milp(name, asked))
        except RuntimeError as error:  # what backends raise
            said = str(error)
        except Exception as error:  # such as a backend that a worker lacks: the others go on
            said = noted(error)
        return self._line(name, "failed", " ".join(said.split()))

    def _answered(self, name: str, answer: IsolatedResult) -> BackendRow:
        """The row of an answer, recounted; of none, the attack that was known before, whatever came of it."""
        result, status = answer.result, answer.result.status
        linked, kept = self._recount(result.values)
        if linked is None and status is Status.NO_SOLUTION:
            linked, kept, status = self.attack, self._with_margin(self._theta), Status.FEASIBLE
        bound = self._exact_bound(result.bound) if name == EXACT else self._milp_bound(result.bound)
        if bound is None and status is not Status.OPTIMAL:  # no parameters link who cannot be linked
            bound = rounded_bound(self._system.kept_weight, self._system.pair.weight)
        version = library_versions()["linkrisk"] if name == EXACT else result.version
        return replace(
            self._line(name, status.value, version),
            limit=None if result.limit is None else result.limit.value,
            claimed=self._claimed(name, result.objective),
            linked=linked,
            linked_with_margin=kept,
            linked_upper_bound=bound,
            gap=None if linked is None or bound is None else max(0.0, bound - linked),
            build_seconds=None if name == EXACT else round(result.build_seconds, 3),
            solve_seconds=round(result.solve_seconds, 3),
            peak_memory_mb=round(answer.peak_memory_bytes / 1e6, 1) or None,
        )

    def _line(self, name: str, status: str, version: str) -> BackendRow:
        """A row with the size of the model, which the exact engine does not have."""
        if name == EXACT:
            return BackendRow(EXACT, None, status, version=version)
        rows, columns = self._model.milp.shape
        cells = self._model.milp.nonzeros
        return BackendRow("milp", name, status, rows=rows, columns=columns, nonzeros=cells, version=version)

    def _milp(self, name: str, stopped: Callable[[], bool]) -> IsolatedResult:
        options = SolveOptions(
            time_limit=self._time_limit,
            threads=self._settings.threads,
            seed=self._settings.seed,
            absolute_gap=0.999 if whole(self._system.pair.weight) else 1e-6,
        )
        return solve_isolated(
            name,
            self._model.milp,
            options,
            starts=self._starts,
            watch=lambda _: stopped(),
        )

    def _exact(self, stopped: Callable[[], bool]) -> IsolatedResult:
        # A constant C is nothing to the exact engine: it gets the rows that a tight model would have.
        system: BlockSystem = self._system if self._tight else problem_system(self._problem.searched)
        job = EngineJob(
            EXACT, system, self._theta, self.attack, self._settings, self._time_limit, self._threads
        )
        return run_isolated(job, watch=lambda _: stopped())

    def _recount(self, values: FloatArray | None) -> tuple[float | None, float | None]:
        """Weight that the solution's parameters link, and the part of it that keeps the margin."""
        if values is None:
            return None, None
        aggregator = self._system.aggregator
        theta = aggregator.domain.repair(values[: self._model.dimension])
        linked = self._evaluator.weight(aggregator.form(theta))
        if not self._system.open_blocks.size:
            return linked, linked
        # Solutions sit on the margin, give or take a rounding: judge the widest that link the same as well.
        incumbent = Incumbent(Clock(self._time_limit), theta, linked, self._system.total_weight)
        widen(self._system, Scorer(self._system), incumbent, self._evaluator)
        return linked, max(self._with_margin(theta), self._with_margin(incumbent.solution))

    def _with_margin(self, theta: FloatArray) -> float:
        return self._model.linked_weight(self._model.milp.value(self._model.point(theta)))

    def _claimed(self, name: str, objective: float | None) -> float | None:
        """The weight that an objective says is linked; the exact engine's is the recount itself."""
        if objective is None or name == EXACT:
            return None
        return float(self._model.linked_weight(objective))

    def _milp_bound(self, bound: float) -> float | None:
        """The bound on linked weight; None when the backend has none or the model promises none."""
        return self._exact_bound(bound) if self._model.valid else None

    def _exact_bound(self, bound: float) -> float | None:
        """A bound on the weight that is not linked as one on the weight that is; None without one."""
        if not np.isfinite(bound):
            return None
        most = self._system.kept_weight
        return rounded_bound(min(most, self._model.linked_weight(bound)), self._system.pair.weight)


def row_of(contest: Contest, name: str, clock: Clock) -> BackendRow:
    """One row, at a worker."""
    return contest.row(name, lambda: clock.stopped)
