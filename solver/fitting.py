"""`fit`: the worst case of a file pair, from files or frames to a recounted result."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.certificate.build import certify
from solver.clock import Clock
from solver.engines.base import EngineOptions, Proof, Reporter
from solver.engines.registry import get_engine
from solver.errors import UsageError
from solver.linkage.evaluator import Evaluation
from solver.problem import Problem, ProblemOptions, make_problem
from solver.results import FitResult, RecordsTable, plain
from solver.searching import Run, search

FloatArray = NDArray[np.float64]

DEFAULT_TIME_LIMIT = 120.0
_CERTIFICATE_SECONDS = 60.0


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
    run = search(problem, runner, clock, choices, report)
    result = _result(problem, run, choices, engine, command)
    return _certified(result, problem, run) if certificate else result


def _certified(result: FitResult, problem: Problem, run: Run) -> FitResult:
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


def records_table(labels: Sequence[str], evaluation: Evaluation) -> RecordsTable:
    """The evaluation of every block with the record's label."""
    ranked = evaluation.rank > 0
    columns = (
        labels,
        _known(evaluation.linked, evaluation.settled),
        _known(evaluation.rank, ranked),
        [_finite(value) for value in evaluation.distance.tolist()],
        [_finite(value) for value in evaluation.nearest_other.tolist()],
        [_finite(value) for value in evaluation.margin.tolist()],
        _known(evaluation.ties, ranked),
    )
    return RecordsTable(tuple(zip(*columns, strict=True)))


def _known(values: NDArray[Any], known: NDArray[np.bool_]) -> list[Any]:
    """The values, None where they are not known."""
    if known.all():
        return list(values.tolist())
    return [value if is_known else None for value, is_known in zip(values.tolist(), known, strict=True)]


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
    problem: Problem, run: Run, choices: EngineOptions, engine: str, command: str | None
) -> FitResult:
    aggregator, pair = problem.aggregator, problem.pair
    evaluation = run.final
    system, record, outcome = run.system, run.record, run.outcome
    seconds = record.clock.seconds
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
        "baselines": run.baselines,
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
