"""`fit`: the worst case of a file pair, from files or frames to a recounted result."""

from __future__ import annotations

import importlib.metadata
import platform
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Real
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations.block_system import BlockSystem, block_system, system_of
from solver.backends.base import Status
from solver.certificate.build import certify
from solver.clock import Clock, Limit
from solver.engines.attacks import attack
from solver.engines.base import Engine, EngineOptions, EngineResult, Proof, Record, Reporter
from solver.engines.growing import GrowingRows, GrowingRun
from solver.engines.registry import get_engine
from solver.errors import UsageError
from solver.linkage.baselines import baselines
from solver.linkage.evaluator import Evaluation, Evaluator
from solver.problem import Problem, ProblemOptions, make_problem
from solver.results import FitResult, RecordsTable, plain

FloatArray = NDArray[np.float64]

DEFAULT_TIME_LIMIT = 120.0
_CERTIFICATE_SECONDS = 60.0
LARGEST_SYSTEM = 40_000_000
"""Most pairs of a block and a candidate for a big-C model that leaves dominated rows out."""

LARGEST_UNREDUCED = 4_000_000
"""Most pairs for a big-C model with a row for each of them."""

MOST_REDUCED = 400_000_000
"""Most pairs for a search on all rows that are not dominated; beyond, rows grow where they matter."""

MOST_UNREDUCED = 2_000_000
"""The same where no row can be left out: searches on rows that grow are faster long before memory ends."""

_BUILDING_SHARE = 0.7
_BUILDING_SECONDS = 1.0
"""Rows may take this long whatever the time limit: of most files, all of them are there by then."""

_UNSEEN = "{} came before all records were compared: the bound takes those that were not for re-identified"


def fit(
    original: Any = None,
    masked: Any = None,
    *,
    engine: str = "exact",
    time_limit: float | None = DEFAULT_TIME_LIMIT,
    memory_limit: float | None = None,
    options: EngineOptions | None = None,
    certificate: bool = False,
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
        How to solve: ``exact`` or ``milp``.
    time_limit : float or None
        Seconds after which the best answer so far is returned, with a valid bound; None for no limit.
    memory_limit : float or None
        Megabytes (of a million bytes) that this process may hold before the same happens; None for no limit.
    options : EngineOptions, optional
        Seed; for ``milp`` also backend, threads, margin and constant C.
    certificate : bool
        Write down what proves the bound, for `solver.verify`; ``exact`` only. It takes about as long again
        as the search, at most a minute or the time limit.
    report : callable, optional
        Told every progress.
    command : str, optional
        The command line to note in the result.
    **problem_options
        Fields of `ProblemOptions`: aggregator, direction, attributes, id_column, drop_constant, ties,
        standardisation, differences, k_additive, nominal, ordinal, schema, masking.

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
    check_memory_limit(memory_limit)
    choices = options or EngineOptions()
    runner = get_engine(engine, choices)
    usual = EngineOptions()
    own = (choices.backend, choices.margin, choices.big_c) != (usual.backend, usual.margin, usual.big_c)
    if engine == "exact" and own:
        raise UsageError(
            "backend, margin and big_c are for the engine milp: leave them out, or say engine='milp'"
        )
    if certificate and engine != "exact":
        raise UsageError(f"the engine {engine} proves nothing that could be checked: use --engine exact")
    problem = make_problem(original, masked, ProblemOptions(**problem_options))
    clock = Clock(time_limit, memory_limit)
    with interruptible(clock):
        if engine == "exact" and _pairs(problem) > _most_pairs(problem):
            run = _grow(problem, runner, clock, choices, report)
        else:
            run = _solve(problem, runner, clock, choices, report)
    result = _result(problem, run, choices, engine, command)
    return _certified(result, problem, run) if certificate else result


def _certified(result: FitResult, problem: Problem, run: _Run) -> FitResult:
    """The result with its certificate."""
    written = certify(
        problem.files,
        problem.describe(),
        run.system,
        result.parameters,
        result.linked,
        run.record.bound,
        run.outcome.proof or Proof("lost"),
        max(_CERTIFICATE_SECONDS, run.record.clock.time_limit or 0.0),
    )
    return replace(result, certificate=written)


@dataclass(frozen=True)
class _Run:
    """What a run leaves behind."""

    system: BlockSystem
    record: Record
    evaluator: Evaluator
    outcome: EngineResult
    phases: dict[str, float]


def _solve(
    problem: Problem, runner: Engine, clock: Clock, choices: EngineOptions, report: Reporter | None
) -> _Run:
    """Attack and search on all rows."""
    nothing = np.empty(0, dtype=np.intp)
    lost = np.zeros(problem.pair.blocks, dtype=bool)
    system = system_of(problem.pair, problem.aggregator, nothing, nothing, lost, complete=False)
    with memory_errors(clock):
        system = problem_system(problem, reduce=choices.big_c is None, engine=runner.name, clock=clock)
    evaluator = Evaluator(problem.pair)
    record = first_record(system, evaluator, clock, report)
    built = clock.seconds
    with memory_errors(clock):
        attack(system, record, evaluator, choices.seed, brief=runner.attacks)
    attacked = clock.seconds
    outcome = out_of_memory(record)
    with memory_errors(clock):
        outcome = runner.run(system, record, evaluator, choices)
    phases = {"rows": built, "first attack": attacked - built, **outcome.phases}
    if not system.complete:
        what = "the memory limit" if clock.out_of_memory else "the time limit"
        outcome = replace(outcome, notes=(*outcome.notes, _UNSEEN.format(what)))
    return _Run(system, record, evaluator, outcome, phases)


def _grow(
    problem: Problem, runner: Engine, clock: Clock, choices: EngineOptions, report: Reporter | None
) -> _Run:
    """Attack and search on rows that grow where they matter."""
    rows = GrowingRows(problem.pair, problem.aggregator, clock, choices.seed)
    system = rows.system()
    record = first_record(system, rows, clock, report)
    run = GrowingRun(rows, record)
    built = clock.seconds
    with memory_errors(clock):
        run.attack(choices.seed)
    attacked = clock.seconds
    outcome = out_of_memory(record)
    with memory_errors(clock):
        outcome = run.run(runner, choices)
    phases = {"rows": built, "first attack": attacked - built, **outcome.phases}
    return _Run(run.system, record, rows, outcome, phases)


@contextmanager
def memory_errors(clock: Clock) -> Iterator[None]:
    """Take memory that cannot be had for the end of the run, not for its failure."""
    try:
        yield
    except MemoryError:
        clock.run_out_of_memory()


def out_of_memory(record: Record) -> EngineResult:
    """The outcome of a run that ends because there is no memory."""
    status = Status.OPTIMAL if record.proven else Status.FEASIBLE
    limit = None if record.proven else Limit.MEMORY
    return EngineResult(status=status, limit=limit, margin=None, phases={}, model=None, versions={})


def check_limits(time_limit: float | None) -> None:
    """Refuse a time limit that is no number or leaves no time."""
    given: object = time_limit
    if given is not None and (isinstance(given, bool) or not isinstance(given, Real)):
        raise UsageError(f"the time limit must be a positive number of seconds, not {time_limit!r}")
    if time_limit is not None and not 0.0 < time_limit < float("inf"):
        raise UsageError(f"the time limit must be a positive number of seconds, not {time_limit:g}")


def check_memory_limit(memory_limit: float | None) -> None:
    """Refuse a memory limit that is no number or leaves no memory."""
    given: object = memory_limit
    if given is not None and (isinstance(given, bool) or not isinstance(given, Real)):
        raise UsageError(f"the memory limit must be a positive number of megabytes, not {memory_limit!r}")
    if memory_limit is not None and not 0.0 < memory_limit < float("inf"):
        raise UsageError(f"the memory limit must be a positive number of megabytes, not {memory_limit:g}")


def _pairs(problem: Problem) -> int:
    return problem.pair.blocks * len(problem.pair.candidates)


def _most_pairs(problem: Problem) -> int:
    """Up to how many pairs the exact engine takes all rows that matter."""
    return MOST_REDUCED if problem.aggregator.monotone else MOST_UNREDUCED


def problem_system(
    problem: Problem, *, reduce: bool = True, engine: str = "milp", clock: Clock | None = None
) -> BlockSystem:
    """The inequalities of every block, or of as many as a share of the clock's time allows.

    UsageError when there are more pairs than a big-C model can hold.
    """
    most = LARGEST_SYSTEM if reduce and problem.aggregator.monotone else LARGEST_UNREDUCED
    if engine == "milp" and _pairs(problem) > most:
        raise UsageError(
            f"{problem.pair.blocks:,} records and {len(problem.pair.candidates):,} candidates make "
            f"{_pairs(problem):,} comparisons, more than the {most:,} that the big-C model can hold: take a "
            "sample of the records, fit with --engine exact, or judge given parameters with `evaluate`"
        )
    reduce = reduce or engine != "milp"
    if clock is None:
        return block_system(problem.pair, problem.aggregator, reduce=reduce)
    until = max(_BUILDING_SECONDS, clock.share(_BUILDING_SHARE, float("inf")))
    return block_system(
        problem.pair,
        problem.aggregator,
        reduce=reduce,
        expired=lambda: clock.stopped or clock.out_of_memory or clock.seconds >= until,
    )


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


def records_table(labels: Sequence[str], evaluation: Evaluation) -> RecordsTable:
    """The evaluation of every block with the record's label."""
    columns = (
        labels,
        evaluation.linked.tolist(),
        evaluation.rank.tolist(),
        [_finite(value) for value in evaluation.distance.tolist()],
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
    problem: Problem, run: _Run, choices: EngineOptions, engine: str, command: str | None
) -> FitResult:
    aggregator, pair = problem.aggregator, problem.pair
    system, record, evaluator, outcome = run.system, run.record, run.evaluator, run.outcome
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
        "phases": {name: round(value, 3) for name, value in run.phases.items()},
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
        table=records_table(problem.labels, evaluation),
        details=details,
    )
