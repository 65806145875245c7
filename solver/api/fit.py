"""`fit`: the worst case of a file pair, from files or frames to a recounted result."""

from __future__ import annotations

from dataclasses import fields
from numbers import Real
from typing import Any, cast

from linkrisk.solver.engines.base import EngineOptions
from linkrisk.solver.engines.registry import ENGINES, check_taken, get_engine, given_options
from linkrisk.solver.inputs.problem import ProblemOptions, make_problem
from linkrisk.solver.run.clock import AUTOMATIC, Limits
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.incumbent import Reporter
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.run.results import FitResult
from linkrisk.solver.worst_case.families import fit_families, several
from linkrisk.solver.worst_case.family_results import FitResults
from linkrisk.solver.worst_case.single_fit import FitRequest, Fitted, fit_one

DEFAULT_TIME_LIMIT = 120.0


def fit(
    original: Any = None,
    masked: Any = None,
    *,
    engine: str = "exact",
    time_limit: float | str | None = AUTOMATIC,
    work_limit: float | None = None,
    memory_limit: float | str | None = AUTOMATIC,
    cancel: Cancel | None = None,
    options: EngineOptions | None = None,
    certificate: bool = False,
    certificate_time_limit: float | None = None,
    report: Reporter | None = None,
    command: str | None = None,
    **problem_options: Any,
) -> FitResult | FitResults:
    """Find the distance that re-identifies most records, and bound how many any other could.

    Parameters
    ----------
    original, masked : path, pandas.DataFrame or polars.DataFrame, optional
        The original file and its masked version; the embedded default pair when both are absent.
    engine : str
        How to solve: ``exact`` or ``milp``.
    time_limit : float, ``auto`` or None
        Seconds after which the best answer so far is returned, with a valid bound; None for no limit,
        ``auto`` for 120, or for none where there is a work limit.
    work_limit : float, optional
        Units of work after which the same happens; ``exact`` only. A unit is about a second of one processor,
        but counted and not measured: the same seed and limit give the same answer on every machine.
    memory_limit : float, ``auto`` or None
        Megabytes (of a million bytes) that this process may hold before the same happens; ``auto`` for most
        of what is free when the run begins, None for no limit.
    cancel : Cancel, optional
        A token with which another thread, or `report`, may end the run: as Ctrl-C does, with an interval.
    options : EngineOptions, optional
        Seed; for ``milp`` also backend, threads, margin and constant C.
    certificate : bool
        Write down what proves the bound, for `solver.verify`; ``exact`` and one aggregator only. Where that
        fails, the result has no certificate and a note that says why.
    certificate_time_limit : float, optional
        Seconds for that, after the search; 60 or the time limit, whichever is longer, when absent.
    report : callable, optional
        Told every progress.
    command : str, optional
        The command line to note in the result.
    **problem_options
        Fields of `ProblemOptions`: aggregator, direction, attributes, id_column, row_by_row, drop_constant,
        ties, standardisation, differences, k_additive, nominal, ordinal, schema, masking. As `aggregator`
        also ``"all"`` or a list of names, which are searched one after the other within the time limit.

    Returns
    -------
    FitResult or FitResults
        The second for several aggregators.

    Raises
    ------
    UsageError, DataError, FormulationError
        If the request or the files cannot be used.

    Examples
    --------
    >>> from linkrisk import fit
    >>> result = fit("original.csv", "masked.csv", aggregator="choquet", time_limit=60)  # doctest: +SKIP
    >>> result.linked, result.linked_upper_bound  # doctest: +SKIP
    (389, 389)
    """
    if certificate_time_limit is not None:
        check_limit(certificate_time_limit, "time limit of the certificate")
    request = fit_request(
        engine,
        options or EngineOptions(),
        limits=check_limits(time_limit, work_limit, memory_limit, cancel),
        certificate=certificate,
        report=report,
        command=command,
    )
    found = find(original, masked, request, problem_options)
    if isinstance(found, FitResults):
        return found
    return found.certified(certificate_time_limit) if certificate else found.result


def fit_request(
    engine: str,
    options: EngineOptions,
    *,
    limits: Limits,
    certificate: bool = False,
    report: Reporter | None = None,
    command: str | None = None,
) -> FitRequest:
    """How to solve, checked before anything is read; UsageError when it cannot be done that way."""
    runner = get_engine(engine, options)
    check_taken(runner, given_options(options))
    if certificate and not runner.proves:
        able = next(name for name, kind in ENGINES.items() if kind.proves)
        raise UsageError(f"the engine {engine} proves nothing that could be checked: use --engine {able}")
    if limits.work is not None and not runner.counts:
        able = next(name for name, kind in ENGINES.items() if kind.counts)
        raise UsageError(
            f"the work of the engine {engine} is its optimiser's, which nobody counts: use --engine {able}, "
            "or --time-limit"
        )
    return FitRequest(runner, options, limits, certificate, report, command)


def find(
    original: Any, masked: Any, request: FitRequest, problem_options: dict[str, Any]
) -> Fitted | FitResults:
    """Search the family that is asked for, ready to be certified; or all of several.

    Parameters
    ----------
    original, masked
        As `fit` takes them.
    request : FitRequest
    problem_options : dict
        Fields of `ProblemOptions`.
    """
    usual = next(item.default for item in fields(ProblemOptions) if item.name == "aggregator")
    names = several(problem_options.get("aggregator", usual))
    options = ProblemOptions(**problem_options)
    if names is not None:
        return fit_families(original, masked, names, options, request)
    return fit_one(make_problem(original, masked, options), request)


def check_limits(
    time_limit: float | str | None,
    work_limit: float | None,
    memory_limit: float | str | None,
    cancel: Cancel | None,
) -> Limits:
    """The limits of a run; UsageError when one is no number or leaves nothing."""
    usual = DEFAULT_TIME_LIMIT if work_limit is None else None
    seconds = usual if time_limit == AUTOMATIC else check_limit(time_limit, "time limit")
    units = check_limit(work_limit, "work limit", "units")
    megabytes = memory_limit
    if memory_limit != AUTOMATIC:
        megabytes = check_limit(memory_limit, "memory limit", "megabytes")
    return Limits(seconds, megabytes, units, cancel)


def check_limit(limit: object, what: str, unit: str = "seconds") -> float | None:
    """The limit; UsageError when it is no number or leaves nothing."""
    if limit is None:
        return None
    if isinstance(limit, bool) or not isinstance(limit, Real):
        raise UsageError(f"the {what} must be a positive number of {unit}, not {limit!r}")
    if not 0.0 < float(limit) < float("inf"):
        raise UsageError(f"the {what} must be a positive number of {unit}, not {float(limit):g}")
    return cast("float", limit)
