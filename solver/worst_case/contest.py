"""Solve one problem by the exact engine and every backend, each in its own process, and recount."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.block_system import BlockSystem, indicator_model
from linkrisk.solver.backends.base import BackendProgress, BackendResult, Watcher, run_in_background
from linkrisk.solver.backends.guard import IsolatedResult, Job, run_isolated, solve_isolated
from linkrisk.solver.engines.attacks.scoring import Scorer
from linkrisk.solver.engines.attacks.search import attack, widen
from linkrisk.solver.engines.base import EngineOptions, EngineResult, rounded_bound
from linkrisk.solver.engines.exact.engine import ExactEngine
from linkrisk.solver.engines.milp import indicator_options, solve_options
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.linkage.linker import Helpers
from linkrisk.solver.run.clock import Clock, Status
from linkrisk.solver.run.errors import noted
from linkrisk.solver.run.incumbent import Incumbent
from linkrisk.solver.run.interruption import interruptible
from linkrisk.solver.run.progress import CONTEST, Progress
from linkrisk.solver.run.versions import library_versions
from linkrisk.solver.worst_case.request import FitRequest
from linkrisk.solver.worst_case.search_state import first_incumbent, problem_system

EXACT = ExactEngine.name
"""Name of the exact engine in a list of backends."""


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
        """Name in `--backends`."""
        return self.backend or self.engine


class Contest:
    """Shared model, warm start and recount of all competitors."""

    def __init__(self, problem: Problem, request: FitRequest, *, start: bool) -> None:
        self._searched, self._options, self._limit = problem.searched, request.options, request.limits.time
        self._threads: int | None = None
        self._tight = self._options.big_c is None
        self._system = problem_system(self._searched, reduce=self._tight)
        self._evaluator = Evaluator(problem.pair)
        self._model = indicator_model(self._system, indicator_options(self._options))
        cancel = request.limits.cancel
        self.clock = Clock(None, cancel=cancel)
        # The attack has a time limit too, or it would take longer than the competitors on large files.
        attacking = Clock(self._limit, cancel=cancel)
        incumbent = first_incumbent(self._system, self._evaluator, attacking)
        if start:
            with interruptible(self.clock), interruptible(attacking):
                attack(self._system, incumbent, self._evaluator, self._options.seed)
        self._theta, self.attack = incumbent.solution, incumbent.value
        point = self._model.point(incumbent.solution)
        self._starts = (point,) if start and self._model.milp.violation(point) <= 1e-9 else ()

    def rows(self, names: Sequence[str], request: FitRequest) -> list[BackendRow]:
        """Yield the row of each competitor until stopped, sequentially or on workers.

        On workers each competitor has the threads of the settings, the exact engine included.
        """
        report = request.report or (lambda _: None)
        if request.workers.any:
            with interruptible(self.clock):
                helpers = Helpers(request.pool, report)
                answers = list(helpers.answers(self, Contest.row, lambda _: list(names), self.clock))
            return [row for _, row in sorted(answers, key=lambda answer: answer[0])]
        rows: list[BackendRow] = []
        for at, name in enumerate(names):
            if self.clock.stopped:
                break
            report(Progress.uncounted(CONTEST, about=name, done=at / len(names)))
            with interruptible(self.clock):
                rows.append(self.row(name, self.clock))
        return rows

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the state for a worker, which has its own clock and evaluator."""
        return {**self.__dict__, "clock": None, "_evaluator": None, "_threads": self._options.threads}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state on a worker."""
        self.__dict__.update(state)
        self.clock = Clock(None)
        self._evaluator = Evaluator(self._searched.pair, self._threads)

    def row(self, name: str, clock: Clock) -> BackendRow:
        """Solve the model by a backend, or the problem by the exact engine, and recount."""
        try:
            return self._answered(name, self._solved(name, lambda _: clock.stopped))
        except RuntimeError as error:  # exceptions of backends
            said = str(error)
        except Exception as error:  # such as a backend that a worker lacks: the others continue
            said = noted(error)
        return self._line(name, "failed", " ".join(said.split()))

    def _answered(self, name: str, answer: IsolatedResult) -> BackendRow:
        """Make the row of a recounted answer; without one, of the warm start."""
        result, status = answer.result, answer.result.status
        linked, kept = self._recount(result.values)
        if linked is None and status is Status.NO_SOLUTION:
            linked, kept, status = self.attack, self._with_margin(self._theta), Status.FEASIBLE
        bound = self._linked_bound(result.bound) if name == EXACT or self._model.valid else None
        if bound is None and status is not Status.OPTIMAL:  # lost records stay unlinked
            bound = rounded_bound(self._system.kept_weight, self._system.pair.weight)
        version = library_versions()["linkrisk"] if name == EXACT else result.version
        objective = None if name == EXACT else result.objective  # the exact engine reports the recount itself
        return replace(
            self._line(name, status.value, version),
            limit=None if result.limit is None else result.limit.value,
            claimed=None if objective is None else float(self._model.linked_weight(objective)),
            linked=linked,
            linked_with_margin=kept,
            linked_upper_bound=bound,
            gap=None if linked is None or bound is None else max(0.0, bound - linked),
            build_seconds=None if name == EXACT else round(result.build_seconds, 3),
            solve_seconds=round(result.solve_seconds, 3),
            peak_memory_mb=round(answer.peak_memory_bytes / 1e6, 1) or None,
        )

    def _line(self, name: str, status: str, version: str) -> BackendRow:
        """Make a row with the size of the model, which the exact engine does not have."""
        if name == EXACT:
            return BackendRow(EXACT, None, status, version=version)
        rows, columns = self._model.milp.shape
        cells = self._model.milp.nonzeros
        return BackendRow("milp", name, status, rows=rows, columns=columns, nonzeros=cells, version=version)

    def _solved(self, name: str, watch: Watcher) -> IsolatedResult:
        """Solve in a child process."""
        if name != EXACT:
            options = solve_options(self._options, self._limit, self._system)
            return solve_isolated(name, self._model.milp, options, starts=self._starts, watch=watch)
        # The exact engine has no constant C: it gets the rows of a tight model.
        system = self._system if self._tight else problem_system(self._searched)
        start = self._theta, self.attack
        return run_isolated(EngineJob(system, start, self._options, self._limit, self._threads), watch=watch)

    def _recount(self, values: FloatArray | None) -> tuple[float | None, float | None]:
        """Recount the weight that a solution links, and the part of it that keeps the margin."""
        if values is None:
            return None, None
        aggregator = self._system.aggregator
        theta = aggregator.domain.repair(values[: self._model.dimension])
        linked = self._evaluator.weight(aggregator.form(theta))
        if not self._system.open_blocks.size:
            return linked, linked
        # Solutions lie on the margin up to rounding: recount also the widest parameters with the same links.
        incumbent = Incumbent(Clock(self._limit), theta, linked, self._system.total_weight)
        widen(self._system, Scorer(self._system), incumbent, self._evaluator)
        return linked, max(self._with_margin(theta), self._with_margin(incumbent.solution))

    def _with_margin(self, theta: FloatArray) -> float:
        return self._model.linked_weight(self._model.milp.value(self._model.point(theta)))

    def _linked_bound(self, bound: float) -> float | None:
        """Convert a bound on the weight not linked to one on the linked weight; None without one."""
        if not np.isfinite(bound):
            return None
        most = self._system.kept_weight
        return rounded_bound(min(most, self._model.linked_weight(bound)), self._system.pair.weight)


CLOSE = 1e-6
"""Tolerance for differences of weights."""


def disagreements(rows: Sequence[BackendRow]) -> list[str]:
    """List conflicts: unconfirmed claims, different optima, solutions above a bound.

    A backend's bound covers the links that keep the model's margin, the exact engine's covers all. So the
    exact optimum may exceed a backend's, but not fall below it; a solution is compared with a backend's bound
    by its links with margin, and with the exact bound by all its links.
    """
    said = [
        f"{row.name} claims {row.claimed:g} links, but its parameters have {row.linked:g}"
        for row in rows
        # Of any margin: a solution on the margin may miss it by a rounding, which makes no claim false.
        if row.claimed is not None
        and row.linked is not None
        and row.linked < row.claimed - CLOSE * max(1.0, row.claimed)
    ]
    proven = [row for row in rows if row.status == "optimal" and row.linked_upper_bound is not None]
    for first, second in combinations(proven, 2):
        low, high = first.linked_upper_bound or 0.0, second.linked_upper_bound or 0.0
        if abs(low - high) > CLOSE and not _exact_counts_more(first, second):
            said.append(
                f"{first.name} and {second.name} both claim a proof, but of different optima: "
                f"{low:g} and {high:g}"
            )
    for row, other in product(rows, rows):
        counted, bound = _counted(row, other), other.linked_upper_bound
        if counted is not None and bound is not None and counted > bound + CLOSE:
            said.append(f"{row.name} links {counted:g}, more than the bound {bound:g} of {other.name}")
    return said


def _exact_counts_more(first: BackendRow, second: BackendRow) -> bool:
    """Tell whether only one row is exact, and has the larger optimum."""
    if (first.engine == EXACT) == (second.engine == EXACT):
        return False
    exact, other = (first, second) if first.engine == EXACT else (second, first)
    return (exact.linked_upper_bound or 0.0) > (other.linked_upper_bound or 0.0)


def _counted(row: BackendRow, other: BackendRow) -> float | None:
    """Return the weight of a solution that the bound of another row covers."""
    return row.linked if other.engine == EXACT else row.linked_with_margin


class EngineJob(Job):
    """Job that runs the exact engine like a backend, minimising the weight that is not linked.

    `start`: parameters, and their linked weight.
    """

    takes_watcher = True

    def __init__(
        self,
        system: BlockSystem,
        start: tuple[FloatArray, float],
        options: EngineOptions,
        time_limit: float | None,
        threads: int | None = None,
    ) -> None:
        self.title, self.name, self.time_limit = f"engine {EXACT!r}", EXACT, time_limit
        self._system, self._start, self._options, self._threads = system, start, options, threads

    def prepare(self) -> None:
        """Do nothing: unpickling this job has imported the engine."""

    def run(self, watch: Watcher | None) -> BackendResult:
        """Run the engine from the given parameters."""
        system, total = self._system, self._system.total_weight
        clock = Clock(self.time_limit, most_threads=self._threads)
        incumbent = Incumbent(clock, *self._start, system.kept_weight)
        outcomes: list[EngineResult] = []

        def run() -> None:
            evaluator = Evaluator(system.pair, self._threads)
            outcomes.append(ExactEngine().run(system, incumbent, evaluator, self._options))

        def progress() -> BackendProgress:
            return BackendProgress(total - incumbent.value, total - incumbent.bound)

        run_in_background(run, stop=clock.stop, progress=progress, watch=watch)
        outcome = outcomes[0]
        return BackendResult(
            status=outcome.status,
            limit=outcome.limit,
            objective=total - incumbent.value,
            bound=total - incumbent.bound,
            values=incumbent.solution,
            build_seconds=0.0,
            solve_seconds=clock.seconds,
            backend=self.name,
            version="",
        )
