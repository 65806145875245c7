"""`fit`: the worst case of a file pair, from files or frames to a recounted result."""

from __future__ import annotations

import importlib.metadata
import platform
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Real
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations.block_system import BlockSystem, block_system
from solver.engines.attacks import attack
from solver.engines.base import Clock, EngineOptions, EngineResult, Record, Reporter
from solver.engines.registry import get_engine
from solver.errors import UsageError
from solver.linkage.baselines import baselines
from solver.linkage.evaluator import Evaluation, Evaluator
from solver.problem import Problem, ProblemOptions, make_problem
from solver.results import FitResult, RecordsTable, plain

FloatArray = NDArray[np.float64]

DEFAULT_TIME_LIMIT = 120.0
LARGEST_SYSTEM = 40_000_000
"""Most pairs of a block and a candidate for a model that leaves dominated rows out."""

LARGEST_UNREDUCED = 4_000_000
"""Most pairs for a model with a row for each of them."""


def fit(
    original: Any = None,
    masked: Any = None,
    *,
    engine: str = "milp",
    time_limit: float | None = DEFAULT_TIME_LIMIT,
    options: EngineOptions | None = None,
    report: Reporter | None = None,
    command: str | None = None,
    **problem_options: Any,
) -> FitResult:
    """Find the distance that re-identifies most records, and bound how many any other could.

    Parameters
    ----------
    original, masked : path, pandas.DataFrame or polars.DataFrame, optional
        The original file and its masked version; the embedded default pair when both are absent.
    engine : str
        How to solve: ``milp``.
    time_limit : float or None
        Seconds after which the best answer so far is returned, with a valid bound; None for no limit.
    options : EngineOptions, optional
        Backend, threads, seed, margin.
    report : callable, optional
        Told every progress.
    command : str, optional
        The command line to note in the result.
    **problem_options
        Fields of `ProblemOptions`: aggregator, direction, attributes, id_column, drop_constant, ties,
        standardisation, differences, k_additive.

    Returns
    -------
    FitResult

    Raises
    ------
    UsageError, DataError, FormulationError
        If the request or the files cannot be used.

    Examples
    --------
    >>> from solver import fit
    >>> result = fit("original.csv", "masked.csv", aggregator="choquet", time_limit=60)  # doctest: +SKIP
    >>> result.linked, result.linked_upper_bound  # doctest: +SKIP
    (389, 389)
    """
    check_limits(time_limit)
    choices = options or EngineOptions()
    runner = get_engine(engine, choices)
    problem = make_problem(original, masked, ProblemOptions(**problem_options))
    clock = Clock(time_limit)
    evaluator = Evaluator(problem.pair)
    with interruptible(clock):
        system = problem_system(problem, reduce=choices.big_c is None)
        record = first_record(system, evaluator, clock, report)
        built = clock.seconds
        attack(system, record, evaluator, choices.seed)
        attacked = clock.seconds
        outcome = runner.run(system, record, evaluator, choices)
    phases = {"rows": built, "attack": attacked - built, **outcome.phases}
    return _result(problem, system, record, evaluator, outcome, choices, engine, phases, command)


def check_limits(time_limit: float | None) -> None:
    """Refuse a time limit that is no number or leaves no time."""
    given: object = time_limit
    if given is not None and (isinstance(given, bool) or not isinstance(given, Real)):
        raise UsageError(f"the time limit must be a positive number of seconds, not {time_limit!r}")
    if time_limit is not None and not 0.0 < time_limit < float("inf"):
        raise UsageError(f"the time limit must be a positive number of seconds, not {time_limit:g}")


def problem_system(problem: Problem, *, reduce: bool = True) -> BlockSystem:
    """The inequalities of every block; UsageError when there are more than a model can hold."""
    pairs = problem.pair.blocks * len(problem.pair.candidates)
    most = LARGEST_SYSTEM if reduce and problem.aggregator.monotone else LARGEST_UNREDUCED
    if pairs > most:
        raise UsageError(
            f"{problem.pair.blocks:,} records and {len(problem.pair.candidates):,} candidates make {pairs:,} "
            f"comparisons, more than the {most:,} that the big-C model can hold: take a sample of "
            "the records, or judge given parameters with `evaluate`"
        )
    return block_system(problem.pair, problem.aggregator, reduce=reduce)


def first_record(system: BlockSystem, evaluator: Evaluator, clock: Clock, report: Reporter | None) -> Record:
    """Equal weights as the first attack, and all blocks that are not lost as the first bound."""
    theta = system.aggregator.equal()
    linked = evaluator.weight(system.aggregator.form(theta))
    record = Record(clock, theta, linked, system.total_weight - system.lost_weight, report)
    record.note()
    return record


@contextmanager
def interruptible(clock: Clock) -> Iterator[None]:
    """Let the first Ctrl-C ask the run to stop with what it has; a second one is not caught."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.getsignal(signal.SIGINT)

    def stop(signum: int, frame: FrameType | None) -> None:
        del signum, frame
        clock.stop()
        signal.signal(signal.SIGINT, previous)

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def records_table(problem: Problem, evaluation: Evaluation) -> RecordsTable:
    """The evaluation of every block with the record's label."""
    columns = (
        problem.labels,
        evaluation.linked.tolist(),
        evaluation.rank.tolist(),
        evaluation.distance.tolist(),
        [_finite(value) for value in evaluation.nearest_other.tolist()],
        [_finite(value) for value in evaluation.margin.tolist()],
        evaluation.ties.tolist(),
    )
    return RecordsTable(tuple(zip(*columns, strict=True)))


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def library_versions() -> dict[str, str]:
    """Versions of what the numbers depend on."""
    packages = ("linkrisk", "numpy", "scipy", "numba", "highspy")
    versions = {"python": platform.python_version()}
    for package in packages:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return versions


def most_blocks(weight: FloatArray, bound: float) -> int:
    """How many blocks can have a total weight within `bound`: the lightest first."""
    return int(np.searchsorted(np.cumsum(np.sort(weight)), bound * (1 + 1e-12) + 1e-9, side="right"))


def _result(
    problem: Problem,
    system: BlockSystem,
    record: Record,
    evaluator: Evaluator,
    outcome: EngineResult,
    choices: EngineOptions,
    engine: str,
    phases: dict[str, float],
    command: str | None,
) -> FitResult:
    aggregator, pair = problem.aggregator, problem.pair
    seconds = record.clock.seconds
    evaluation = evaluator.table(aggregator.form(record.theta))
    expected = {}
    if problem.options.ties == "share":
        expected = {"expected_links": evaluation.linked_weight, "expected_links_upper_bound": record.bound}
    versions = {**library_versions(), **outcome.versions}
    details = {
        **problem.describe(),
        "engine": engine,
        "backend": choices.backend if engine == "milp" else None,
        **expected,
        "lost": int(system.lost.sum()),
        "margin": outcome.margin,
        "importance": aggregator.importance(record.theta),
        "interaction": aggregator.interaction(record.theta),
        "baselines": baselines(evaluator),
        "notes": list(outcome.notes),
        "seconds": round(seconds, 3),
        "phases": {name: round(value, 3) for name, value in phases.items()},
        "model": outcome.model,
        "trace": [[time, plain(linked), plain(bound)] for time, linked, bound in record.trace],
        "seed": choices.seed,
        "threads": choices.threads,
        "time_limit": record.clock.time_limit,
        "command": command,
        "linkrisk": versions["linkrisk"],
        "versions": versions,
    }
    return FitResult(
        linked=evaluation.count,
        linked_upper_bound=most_blocks(pair.weight[~system.lost], record.bound),
        status=outcome.status.value,
        limit=None if outcome.limit is None else outcome.limit.value,
        parameters=aggregator.decode(record.theta),
        records=pair.blocks,
        table=records_table(problem, evaluation),
        details=details,
    )
