"""`compare`: the same model on every backend, side by side."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations.block_indicator import IndicatorModel, IndicatorOptions, indicator_model
from solver.backends.base import BackendResult, SolveOptions
from solver.backends.isolated import solve_isolated
from solver.backends.registry import available_backends, get_backend
from solver.engines.attacks import attack, widen
from solver.engines.base import Clock, EngineOptions, Record, check_options, rounded_bound, whole
from solver.engines.scoring import Scorer
from solver.fitting import check_limits, first_record, interruptible, library_versions, problem_system
from solver.linkage.evaluator import Evaluator
from solver.problem import Problem, ProblemOptions, make_problem
from solver.results import dump_json, plain

FloatArray = NDArray[np.float64]

DEFAULT_TIME_LIMIT = 60.0


@dataclass(frozen=True)
class BackendRow:
    """One backend's line of the comparison.

    Attributes
    ----------
    engine, backend : str
        What solved it.
    status : str
        The backend's own claim, in the vocabulary of `Status`; ``failed`` when it raised an error.
    limit : str or None
        The limit it hit.
    linked : float or None
        Weight of linked records (their number, under the strict tie rule) after a recount of its solution.
    linked_with_margin : float or None
        Weight of those among them that keep the model's margin on every row, as the bounds count.
    linked_upper_bound : float or None
        Its bound on that, whatever the parameters.
    gap : float or None
        The difference.
    rows, columns, nonzeros : int
        Size of the model.
    build_seconds, solve_seconds : float or None
        Handing the model over, and solving it.
    peak_memory_mb : float or None
        Peak resident memory of the process that solved it, interpreter and libraries included.
    version : str
        Version of the optimiser, or the error when it failed.
    """

    engine: str
    backend: str
    status: str
    limit: str | None
    linked: float | None
    linked_with_margin: float | None
    linked_upper_bound: float | None
    gap: float | None
    rows: int
    columns: int
    nonzeros: int
    build_seconds: float | None
    solve_seconds: float | None
    peak_memory_mb: float | None
    version: str


@dataclass(frozen=True)
class ComparisonResult:
    """Every backend on the same model.

    Attributes
    ----------
    rows : tuple of BackendRow
    disagreements : tuple of str
        Claims that contradict each other or the recount, in words. Empty when all is well.
    details : dict
        What was solved, as in `fit`.
    """

    rows: tuple[BackendRow, ...]
    disagreements: tuple[str, ...]
    details: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `compare --json` as a dictionary."""
        rows = [{key: plain(value) for key, value in asdict(row).items()} for row in self.rows]
        return {**self.details, "backends": rows, "disagreements": list(self.disagreements)}

    def to_json(self) -> str:
        """The JSON of `compare --json`."""
        return dump_json(self.to_dict())

    def to_csv(self) -> str:
        """One line per backend."""
        out = io.StringIO()
        writer = csv.DictWriter(out, [field.name for field in fields(BackendRow)], lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: plain(value) for key, value in asdict(row).items()} for row in self.rows)
        return out.getvalue()


def compare(
    original: Any = None,
    masked: Any = None,
    *,
    backends: Sequence[str] | None = None,
    time_limit: float | None = DEFAULT_TIME_LIMIT,
    options: EngineOptions | None = None,
    start: bool = True,
    report: Callable[[str], None] | None = None,
    **problem_options: Any,
) -> ComparisonResult:
    """Solve one model on several backends, each in a process of its own, and recount what they return.

    Parameters
    ----------
    original, masked : path, pandas.DataFrame or polars.DataFrame, optional
        The file pair; the embedded default pair when both are absent.
    backends : sequence of str, optional
        Which backends; all that are installed when absent.
    time_limit : float or None
        Seconds for each backend.
    options : EngineOptions, optional
        Threads, seed, margin, constant C.
    start : bool
        Give the heuristic attack as a start point to the backends that take one.
    report : callable, optional
        Told the name of each backend before it runs.
    **problem_options
        Fields of `ProblemOptions`.

    Returns
    -------
    ComparisonResult

    Raises
    ------
    UsageError, DataError, FormulationError
        If the request or the files cannot be used.
    """
    check_limits(time_limit)
    settings = options or EngineOptions()
    check_options(settings)
    chosen = list(backends) if backends is not None else available_backends()
    for name in chosen:
        get_backend(name)
    problem = make_problem(original, masked, ProblemOptions(**problem_options))
    contest = _Contest(problem, settings, time_limit, start)
    rows = []
    for name in chosen:
        if contest.clock.stopped:
            break
        if report is not None:
            report(name)
        rows.append(contest.row(name))
    details = {
        **problem.describe(),
        "records": problem.pair.blocks,
        "attack": plain(contest.attack),
        "margin": settings.margin,
        "big_c": settings.big_c,
        "time_limit": time_limit,
        "seed": settings.seed,
        "threads": settings.threads,
        "versions": library_versions(),
    }
    return ComparisonResult(tuple(rows), tuple(disagreements(rows)), details)


class _Contest:
    """The model, the start point and the recount that all backends share."""

    def __init__(
        self, problem: Problem, settings: EngineOptions, time_limit: float | None, start: bool
    ) -> None:
        self._settings, self._time_limit = settings, time_limit
        tight = settings.big_c is None
        self._system = problem_system(problem, reduce=tight)
        self._evaluator = Evaluator(problem.pair)
        choices = IndicatorOptions(margin=settings.margin, big_c=settings.big_c, scale=tight)
        self._model: IndicatorModel = indicator_model(self._system, choices)
        self.clock = Clock(None)
        record = first_record(self._system, self._evaluator, self.clock, None)
        if start:
            with interruptible(self.clock):
                attack(self._system, record, self._evaluator, settings.seed)
        self.attack = record.linked
        point = self._model.point(record.theta)
        self._start = point if start and self._model.milp.violation(point) <= 1e-9 else None

    def row(self, name: str) -> BackendRow:
        """Solve on one backend and recount."""
        weight = self._system.pair.weight
        options = SolveOptions(
            time_limit=self._time_limit,
            threads=self._settings.threads,
            seed=self._settings.seed,
            absolute_gap=0.999 if whole(weight) else 1e-6,
        )
        rows, columns = self._model.milp.shape
        size = {"rows": rows, "columns": columns, "nonzeros": self._model.milp.nonzeros}
        try:
            with interruptible(self.clock):
                isolated = solve_isolated(
                    name, self._model.milp, options, start=self._start, watch=lambda _: self.clock.stopped
                )
        except RuntimeError as error:
            return BackendRow(
                "milp", name, "failed", None, None, None, None, None, **size,
                build_seconds=None, solve_seconds=None, peak_memory_mb=None,
                version=" ".join(str(error).split()),
            )  # fmt: skip
        result = isolated.result
        (linked, kept), bound = self._recount(result), self._bound(result)
        return BackendRow(
            engine="milp",
            backend=name,
            status=result.status.value,
            limit=None if result.limit is None else result.limit.value,
            linked=linked,
            linked_with_margin=kept,
            linked_upper_bound=bound,
            gap=None if linked is None or bound is None else max(0.0, bound - linked),
            **size,
            build_seconds=round(result.build_seconds, 3),
            solve_seconds=round(result.solve_seconds, 3),
            peak_memory_mb=round(isolated.peak_memory_bytes / 1e6, 1) or None,
            version=result.version,
        )

    def _recount(self, result: BackendResult) -> tuple[float | None, float | None]:
        """Weight that the solution's parameters link, and the part of it that keeps the margin."""
        if result.values is None:
            return None, None
        aggregator = self._system.aggregator
        theta = aggregator.repair(result.values[: self._model.dimension])
        linked = self._evaluator.weight(aggregator.form(theta))
        if not self._system.open_blocks.size:
            return linked, linked
        # Solutions sit on the margin, give or take a rounding: judge the widest that link the same as well.
        record = Record(Clock(self._time_limit), theta, linked, self._system.total_weight)
        widen(self._system, Scorer(self._system), record, self._evaluator)
        return linked, max(self._with_margin(theta), self._with_margin(record.theta))

    def _with_margin(self, theta: FloatArray) -> float:
        return self._model.linked_weight(self._model.milp.value(self._model.point(theta)))

    def _bound(self, result: BackendResult) -> float | None:
        """The bound on linked weight; None when the backend has none or the model promises none."""
        if not np.isfinite(result.bound) or not self._model.valid:
            return None
        most = self._system.total_weight - self._system.lost_weight
        bound = min(most, self._model.linked_weight(result.bound))
        return rounded_bound(bound, self._system.pair.weight)


def disagreements(rows: Sequence[BackendRow]) -> list[str]:
    """Contradictions between backends: two proofs that differ, or a solution above another's bound."""
    said = []
    proven = [row for row in rows if row.status == "optimal" and row.linked_upper_bound is not None]
    for first, second in combinations(proven, 2):
        low, high = first.linked_upper_bound or 0.0, second.linked_upper_bound or 0.0
        if abs(low - high) > 1e-6:
            said.append(
                f"{first.backend} and {second.backend} both claim a proof, but of different optima: "
                f"{low:g} and {high:g}"
            )
    for row, other in product(rows, rows):
        kept, bound = row.linked_with_margin, other.linked_upper_bound
        # Only what keeps the margin: bounds do not speak about records linked by less.
        if kept is not None and bound is not None and kept > bound + 1e-6:
            said.append(f"{row.backend} links {kept:g}, more than the bound {bound:g} of {other.backend}")
    return said
