"""`fit`: the worst case of a file pair, from files or frames to a recounted result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from linkrisk.datasets.pairs.categorical import Masking
from linkrisk.errors import called
from linkrisk.solver.api.choices import (
    DifferencesName,
    DirectionName,
    EngineName,
    MissingName,
    SchemaLike,
    StandardisationName,
    TableLike,
    TiesName,
)
from linkrisk.solver.api.keywords import checked_keywords
from linkrisk.solver.api.limits import check_limit, check_limits, engine_options
from linkrisk.solver.api.live import watched
from linkrisk.solver.api.sampling import sampling_choice
from linkrisk.solver.engines.registry import ENGINES, check_taken, choose_engine, get_engine
from linkrisk.solver.engines.steering import Steering
from linkrisk.solver.inputs.mask_records import recorded
from linkrisk.solver.inputs.problem import ProblemOptions, make_problem
from linkrisk.solver.run.clock import AUTOMATIC, Limits
from linkrisk.solver.run.crew import CrewChoice, crew_choice
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.run.progress import Reporter
from linkrisk.solver.run.results import FitResult
from linkrisk.solver.worst_case.families import ALL, fit_families, several
from linkrisk.solver.worst_case.family_results import FitResults
from linkrisk.solver.worst_case.sampled.plan import CONFIDENCE, SamplingChoice
from linkrisk.solver.worst_case.single_fit import FitRequest, Fitted, fit_one


@checked_keywords
def fit(
    original: TableLike | None = None,
    masked: TableLike | None = None,
    *,
    aggregator: str | Sequence[str] = "weighted-mean",
    attributes: Sequence[str] | None = None,
    id_column: str | None = None,
    row_by_row: bool = False,
    drop_constant: bool = False,
    nominal: Sequence[str] = (),
    ordinal: Sequence[str] = (),
    schema: SchemaLike | None = None,
    masking: Masking = (),
    direction: DirectionName = "original-to-masked",
    ties: TiesName = "strict",
    standardisation: StandardisationName = "own",
    differences: DifferencesName | None = None,
    missing: MissingName = "expected",
    k_additive: int | None = None,
    sample: int | str | None = AUTOMATIC,
    samples: int | None = None,
    confidence: float = CONFIDENCE,
    strata: str | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    engine: EngineName | None = None,
    backend: str | None = None,
    threads: int | None = None,
    margin: float | None = None,
    big_c: float | None = None,
    seed: int = 0,
    steering: Steering | None = None,
    time_limit: float | str | None = AUTOMATIC,
    work_limit: float | None = None,
    memory_limit: float | str | None = AUTOMATIC,
    cancel: Cancel | None = None,
    certificate: bool = False,
    certificate_time_limit: float | None = None,
    on_progress: Reporter | None = None,
    command: str | None = None,
) -> FitResult | FitResults:
    """Find the distance that re-identifies the most records, with an upper bound for all others.

    Parameters
    ----------
    original, masked : path, frame (pandas, polars, pyarrow) or ndarray of shape (n, a), optional
        The original file and its masked version; the embedded default pair when both are absent. The
        columns of arrays are the attributes ``V1``, ``V2``, ...
    aggregator : str or sequence of str
        ``weighted-mean``, ``owa``, ``choquet`` or ``mahalanobis``; ``"all"`` or a list of names are searched
        one after the other within the time limit.
    attributes : sequence of str, optional
        Attributes to compare; all common columns when absent.
    id_column : str, optional
        Column that identifies the records; when absent, the labels of two pandas frames, else row by row.
    row_by_row : bool
        Take the rows as they are, whatever labels or columns say.
    drop_constant : bool
        Leave constant attributes out instead of refusing them.
    nominal, ordinal : sequence of str
        Attributes that are not numeric.
    schema : path, mapping or Schema, optional
        What the columns are (docs/schema.md): roles, scales, categories, missing codes, weights, strata.
    masking : sequence of str
        How categorical attributes were masked, such as ``top-coding categories=3 attributes=A``.
    direction : str
        ``original-to-masked`` (the intruder's view) or ``masked-to-original``.
    ties : str
        ``strict``, or ``share``: identical candidates share a link.
    standardisation : str
        ``own`` mean and deviation of each file, those of the ``original``, ``pooled`` ones, or ``none``.
    differences : str, optional
        ``squared``, ``absolute`` or ``signed`` instead of the aggregator's default.
    missing : str
        What a missing value is compared as: ``nearest``, ``expected`` or ``farthest``.
    k_additive : int, optional
        For ``choquet``: interactions of at most this many attributes.
    sample : int, ``auto`` or None
        Records in each of the random samples whose worst cases are searched instead of that of the whole
        file; ``auto`` for the program's choice, in files of more than some ten thousand records only; None
        for none. All records stay candidates, and the attack is counted on all.
    samples : int, optional
        How many samples, disjoint; as many as the time limit allows when absent.
    confidence : float
        Of the limit that samples give for the whole file (`FitResult.linked_confidence_limit`).
    strata : str, optional
        Column by whose values samples are drawn: of each its share.
    scheduler : str, optional
        Address of a Dask scheduler whose workers search samples and count; the answers are the same.
    workers : int, optional
        So many processes of this machine that do so; with a scheduler, for how many the samples are planned.
    engine : str, optional
        ``exact`` or ``milp``; when absent, ``milp`` where `backend`, `margin` or `big_c` is given.
    backend, threads, margin, big_c : str, int, float, float, optional
        For ``milp``: the optimiser (``highs`` when absent) and its threads (1); the strict inequality on
        rows of unit length (1e-5); one constant C for all rows instead of a tight one for each.
    seed : int
        Seed of every random choice.
    steering : Steering, optional
        Tuning of the searches, for experiments: it decides how soon an answer is found, never which bound
        holds.
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
        A token with which another thread, or `on_progress`, may end the run as Ctrl-C does, with an interval.
    certificate : bool
        Write down what proves the bound, for `verify`; ``exact`` and one aggregator only. Where that
        fails, the result has no certificate and a note that says why.
    certificate_time_limit : float, optional
        Seconds for that, after the search; when absent, the search leaves a part of the time limit to it, or
        60 without one.
    on_progress : callable, optional
        Called with every `Progress`, from whichever thread makes it. Without one, a notebook shows the
        closing bound under its cell, unless the environment variable LINKRISK_PROGRESS is ``none``.
    command : str, optional
        The command line to note in the result.

    Returns
    -------
    FitResult or FitResults
        The second for several aggregators.

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the request or the files cannot be used; also where the engine would ignore an option.

    Examples
    --------
    >>> from linkrisk import fit
    >>> result = fit("original.csv", "masked.csv", aggregator="choquet", time_limit=60)  # doctest: +SKIP
    >>> result.linked, result.linked_upper_bound  # doctest: +SKIP
    (389, 389)
    """
    options = ProblemOptions(
        aggregator=aggregator if isinstance(aggregator, str) else ALL,
        direction=direction,
        attributes=attributes,
        id_column=id_column,
        row_by_row=row_by_row,
        drop_constant=drop_constant,
        ties=ties,
        standardisation=standardisation,
        differences=differences,
        k_additive=k_additive,
        nominal=nominal,
        ordinal=ordinal,
        schema=schema,
        masking=masking,
        missing=missing,
    )
    if certificate_time_limit is not None:
        check_limit(certificate_time_limit, "time limit of the certificate")
    request = fit_request(
        engine,
        seed=seed,
        threads=threads,
        backend=backend,
        margin=margin,
        big_c=big_c,
        steering=steering,
        limits=check_limits(time_limit, work_limit, memory_limit, cancel),
        sampling=sampling_choice(sample, samples, confidence, strata),
        workers=crew_choice(scheduler, workers),
        certificate=certificate,
        command=command,
    )
    with watched(on_progress) as told:
        asked = replace(request, report=told, own_seconds=certificate_time_limit is not None)
        found = find(original, masked, aggregator, options, asked)
    if isinstance(found, FitResults):
        return found
    return found.certified(certificate_time_limit) if certificate else found.result


def fit_request(
    engine: str | None,
    *,
    seed: int,
    threads: int | None,
    backend: str | None,
    margin: float | None,
    big_c: float | None,
    limits: Limits,
    sampling: SamplingChoice | None = None,
    workers: CrewChoice | None = None,
    steering: Steering | None = None,
    certificate: bool = False,
    report: Reporter | None = None,
    command: str | None = None,
    modelling: bool = False,
) -> FitRequest:
    """How to solve, checked before anything is read; UsageError when it cannot be done that way.

    Where no engine is named, `modelling` asks for one that makes a model.
    """
    options, given = engine_options(
        seed=seed, threads=threads, backend=backend, margin=margin, big_c=big_c, steering=steering
    )
    runner = get_engine(engine or choose_engine(given, modelling=modelling), options)
    check_taken(runner, given)
    if certificate and not runner.proves:
        able = next(name for name, kind in ENGINES.items() if kind.proves)
        raise UsageError(
            f"the engine {runner.name} gives no proof that could be checked: use {called('engine', able)}",
            option="engine",
        )
    if limits.work is not None and not runner.counts:
        able = next(name for name, kind in ENGINES.items() if kind.counts)
        raise UsageError(
            f"the work of the engine {runner.name} is done by its optimiser, which is not counted: use "
            f"{called('engine', able)}, or {called('time_limit')}",
            option="engine",
        )
    sampling, workers = sampling or SamplingChoice(), workers or CrewChoice()
    return FitRequest(runner, options, limits, certificate, sampling, report, command, workers)


def find(
    original: TableLike | None,
    masked: TableLike | None,
    aggregator: str | Sequence[str],
    options: ProblemOptions,
    request: FitRequest,
) -> Fitted | FitResults:
    """Search the family that is asked for, ready to be certified; or all of several.

    Parameters
    ----------
    original, masked, aggregator
        As `fit` takes them.
    options : ProblemOptions
        The problem; of several families, its aggregator does not matter.
    request : FitRequest
    """
    names, options = several(aggregator), recorded(options)
    with request.hired() as hired:
        if names is not None:
            return fit_families(original, masked, names, options, hired)
        return fit_one(make_problem(original, masked, options), hired)
