"""`compare`: the exact engine, and one model on every backend, side by side and recounted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import combinations, product
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray
from linkrisk.datasets.microdata.names import shown_name
from linkrisk.datasets.options.option import part, recorded_of
from linkrisk.formulations.linkage.block_system import (
    BlockSystem,
    IndicatorModel,
    IndicatorOptions,
    indicator_model,
)
from linkrisk.solver.backends.base import SolveOptions
from linkrisk.solver.backends.guard import IsolatedResult, run_isolated, solve_isolated
from linkrisk.solver.backends.registry import answered, available_backends, get_backend, no_answer
from linkrisk.solver.compiling.ahead import compile_once
from linkrisk.solver.documents.wording import contradictions
from linkrisk.solver.engines.attacks.scoring import Scorer
from linkrisk.solver.engines.attacks.search import attack, widen
from linkrisk.solver.engines.base import EngineOptions, rounded_bound, whole
from linkrisk.solver.engines.exact.engine import ExactEngine
from linkrisk.solver.engines.isolated import EngineJob
from linkrisk.solver.inputs.limits import check_limit, engine_options
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.inputs.recorded_masking import recorded
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.linkage.pair_shares import Helpers
from linkrisk.solver.options.operations.compare import CompareOptions
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.clock import Clock, Limits, Status
from linkrisk.solver.run.errors import UsageError, noted
from linkrisk.solver.run.incumbent import Incumbent
from linkrisk.solver.run.interruption import interruptible
from linkrisk.solver.run.pool import open_pool, pool_choice
from linkrisk.solver.run.progress import CONTEST, Progress, Reporter
from linkrisk.solver.run.result import Result, plain
from linkrisk.solver.run.versions import library_versions
from linkrisk.solver.worst_case.search_state import first_incumbent, problem_system

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
    """The model, the starting point and the recount that all competitors share."""

    def __init__(self, problem: Problem, settings: EngineOptions, limits: Limits, start: bool) -> None:
        self._problem, self._settings, self._time_limit = problem, settings, limits.time
        self._tight, self._threads = settings.big_c is None, None
        self._system = problem_system(problem.searched, reduce=self._tight)
        self._evaluator = Evaluator(problem.pair)
        choices = IndicatorOptions(margin=settings.margin, big_c=settings.big_c, scale=self._tight)
        self._model: IndicatorModel = indicator_model(self._system, choices)
        self.clock = Clock(None, cancel=limits.cancel)
        # The attack has a time limit, too: on large files it would take longer than all competitors.
        attacking = Clock(limits.time, cancel=limits.cancel)
        incumbent = first_incumbent(self._system, self._evaluator, attacking)
        if start:
            with interruptible(self.clock), interruptible(attacking):
                attack(self._system, incumbent, self._evaluator, settings.seed)
        self._theta, self.attack = incumbent.solution, incumbent.value
        point = self._model.point(incumbent.solution)
        self._starts = (point,) if start and self._model.milp.violation(point) <= 1e-9 else ()

    def rows(self, names: Sequence[str], report: Reporter) -> Iterator[BackendRow]:
        """Solve by one after the other, each reported before it runs."""
        for at, name in enumerate(names):
            if self.clock.stopped:
                break
            report(Progress.uncounted(CONTEST, about=name, done=at / len(names)))
            with interruptible(self.clock):
                row = self.row(name)
            yield row

    def rows_by(self, helpers: Helpers, names: Sequence[str]) -> list[BackendRow]:
        """Solve side by side on workers, in the order of names, as far as rows come before this is stopped.

        Each has as many threads as the settings say, the exact engine as well.
        """
        with interruptible(self.clock):
            answers = list(helpers.answers(self, row_of, lambda _: list(names), self.clock))
        return [row for _, row in sorted(answers, key=lambda answer: answer[0])]

    def __getstate__(self) -> dict[str, Any]:
        """State for a worker, which has a clock and an evaluator of its own."""
        return {**self.__dict__, "clock": None, "_evaluator": None, "_threads": self._settings.threads}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A contest at a worker."""
        self.__dict__.update(state)
        self.clock = Clock(None)
        self._evaluator = Evaluator(self._problem.pair, self._threads)

    def row(self, name: str, stopped: Callable[[], bool] | None = None) -> BackendRow:
        """Let a backend solve the model, or the exact engine the problem, and recount."""
        asked = stopped or (lambda: self.clock.stopped)
        try:
            return self._answered(name, self._exact(asked) if name == EXACT else self._milp(name, asked))
        except RuntimeError as error:  # what backends raise
            said = str(error)
        except Exception as error:  # such as a backend that a worker lacks: the others go on
            said = noted(error)
        return self._line(name, "failed", " ".join(said.split()))

    def _answered(self, name: str, answer: IsolatedResult) -> BackendRow:
        """The row of a recounted answer; without one, of the attack known before."""
        result, status = answer.result, answer.result.status
        linked, kept = self._recount(result.values)
        if linked is None and status is Status.NO_SOLUTION:
            linked, kept, status = self.attack, self._with_margin(self._theta), Status.FEASIBLE
        bound = self._exact_bound(result.bound) if name == EXACT else self._milp_bound(result.bound)
        if bound is None and status is not Status.OPTIMAL:  # lost records stay unlinked
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
        """Weight linked by an objective's claim; the exact engine's is the recount itself."""
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


_BY_WEIGHT = "linked and at most are sums of the sampling weights in column {}"

CLOSE = 1e-6
"""What weights may differ by without a contradiction."""

_WEIGHTS = ("claimed", "linked", "linked_with_margin", "linked_upper_bound", "gap")
"""Fields of a row that are linked weights."""


@dataclass(frozen=True)
class ComparisonResult(Result):
    """The exact engine and every backend on the same problem.

    Attributes
    ----------
    rows : tuple of BackendRow
        One for each backend, and one for the exact engine.
    disagreements : tuple of str
        Claims that contradict each other or the recount, in words. Empty when all is well.
    details : dict
        What was solved, as in `fit`.
    """

    kind: ClassVar[str] = "comparison"

    rows: tuple[BackendRow, ...]
    disagreements: tuple[str, ...]
    details: dict[str, Any]

    @property
    def no_answer(self) -> str | None:
        """Why there is no answer, where none of them came back with any; None where one did."""
        found = [answered(row.status, row.linked, row.linked_upper_bound) for row in self.rows]
        return no_answer(self.rows, found)

    def content(self) -> dict[str, Any]:
        """The JSON of `compare --json` as a dictionary."""
        rows = [{key: plain(value) for key, value in asdict(row).items()} for row in self.rows]
        lacking = {} if self.no_answer is None else {"no_answer": self.no_answer}
        return {**self.details, "backends": rows, "disagreements": list(self.disagreements), **lacking}

    def to_frame(self) -> pd.DataFrame:
        """One line per row."""
        rows = [{key: plain(value) for key, value in asdict(row).items()} for row in self.rows]
        return pd.DataFrame(rows, columns=[field.name for field in fields(BackendRow)], dtype=object)

    def __repr__(self) -> str:
        lines = [
            f"  {row.name}: {row.status}, linked {plain(row.linked)}, at most {plain(row.linked_upper_bound)}"
            for row in self.rows
        ]
        said = [f"  {one}" for one in contradictions(self.content())]
        head = f"ComparisonResult({self.details['aggregator']}, {self.details['direction']}"
        return "\n".join([head, *lines, *said]) + ")"


@taking(CompareOptions)
def compare(asked: CompareOptions) -> ComparisonResult:
    """Run the exact engine and solve one model on several backends, each in a process of its own; recount.

    Parameters
    ----------
    {options}

    Returns
    -------
    ComparisonResult

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the request or the files cannot be used.
    """
    settings, _ = engine_options(
        seed=asked.seed,
        threads=asked.threads,
        backend=None,
        margin=asked.margin,
        big_c=asked.big_c,
        steering=asked.steering,
    )
    check_limit(asked.time_limit, "time limit")
    chosen = list(asked.backends) if asked.backends is not None else [EXACT, *available_backends()]
    _check_names(chosen)
    limits, tell = Limits(asked.time_limit, cancel=asked.cancel), asked.on_progress or (lambda _: None)
    with open_pool(pool_choice(asked.scheduler, asked.workers)) as pool:
        problem = make_problem(asked.original, asked.masked, recorded(part(ProblemOptions, asked)))
        compile_once(problem.aggregator.name, tell)
        pool.prepare(compile_once, problem.aggregator.name)
        contest = Contest(problem, settings, limits, asked.start)
        if pool.choice.any:
            rows = contest.rows_by(Helpers(pool, tell), chosen)
        else:
            rows = list(contest.rows(chosen, tell))
    said = disagreements(rows)
    unit, weight = problem.survey.unit, problem.survey.weight_column
    by_weight = [] if weight is None else [_BY_WEIGHT.format(shown_name(weight))]
    details = {
        **problem.describe(),
        "notes": [*problem.files.notes, *by_weight],
        "records": problem.pair.blocks,
        "attack": plain(contest.attack * unit),
        "margin": settings.margin,
        "big_c": settings.big_c,
        **recorded_of(asked),
        "seed": settings.seed,
        "threads": settings.threads,
        **pool.describe(),
        "versions": library_versions(),
    }
    return ComparisonResult(tuple(_in_population(row, unit) for row in rows), tuple(said), details)


def _in_population(row: BackendRow, unit: float) -> BackendRow:
    """A row whose linked weights are in the units of the sampling weights."""
    found = {name: getattr(row, name) for name in _WEIGHTS}
    changed: dict[str, Any] = {name: None if each is None else each * unit for name, each in found.items()}
    return replace(row, **changed)


def _check_names(names: Sequence[str]) -> None:
    """Refuse a backend that comes again, or whose optimiser is not installed."""
    for at, name in enumerate(names):
        if name in names[:at]:
            raise UsageError(f"the backend {name!r} is given twice; give it once")
        if name != EXACT:
            get_backend(name)


def disagreements(rows: Sequence[BackendRow]) -> list[str]:
    """Contradictions: claims that the recount does not confirm, proofs that differ, solutions above a bound.

    A backend's bound speaks about the links that keep the model's margin, the exact engine's about all of
    them. So the exact optimum may be larger than a backend's, and never smaller; and a solution is held
    against a backend's bound with what keeps the margin, against the exact bound with all that it links.
    """
    said = [
        f"{row.name} claims {row.claimed:g} links, but its parameters have {row.linked:g}"
        for row in rows
        # Of any margin: what sits on the margin may miss it by a rounding, which is no false claim.
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
    """Whether only one row is exact, with the larger optimum."""
    if (first.engine == EXACT) == (second.engine == EXACT):
        return False
    exact, other = (first, second) if first.engine == EXACT else (second, first)
    return (exact.linked_upper_bound or 0.0) > (other.linked_upper_bound or 0.0)


def _counted(row: BackendRow, other: BackendRow) -> float | None:
    """Weight of a solution that the bound of another row covers."""
    return row.linked if other.engine == EXACT else row.linked_with_margin
