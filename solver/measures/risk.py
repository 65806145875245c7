"""`risk`: every measure of one release, from files or frames to one table and one verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real

from linkrisk.datasets.masking.base import MaskingMethod
from linkrisk.datasets.masking.recoding import CategoricalMethod
from linkrisk.datasets.masking.spelled import masking_method
from linkrisk.datasets.microdata.dated import of_days
from linkrisk.datasets.options.kinds import words
from linkrisk.datasets.options.option import part, recorded_of
from linkrisk.datasets.pairs.categorical import NOT_INFERRED, Masking
from linkrisk.datasets.pairs.releases import check_alike
from linkrisk.solver.compiling.ahead import LINKAGE, RISK, compile_once
from linkrisk.solver.inputs.limits import check_limits, engine_options
from linkrisk.solver.inputs.mask_records import with_records
from linkrisk.solver.inputs.problem import Problem, schema_of
from linkrisk.solver.inputs.releases import Given, Releases, Way, aligned_groups, given_releases
from linkrisk.solver.measures.base import Measure
from linkrisk.solver.measures.choices import MeasureChoices
from linkrisk.solver.measures.registry import MEASURES
from linkrisk.solver.measures.releases import SeveralReleases
from linkrisk.solver.measures.results import RiskResult
from linkrisk.solver.measures.taking import take_measures
from linkrisk.solver.measures.task import MOMENT, RiskTask
from linkrisk.solver.measures.verdict_findings import Known, verdict_of
from linkrisk.solver.options.operations.risk import RiskOptions
from linkrisk.solver.options.pair import ALL, ProblemOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.crew import crew_choice
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import interruptible
from linkrisk.solver.run.progress import part_of_call
from linkrisk.solver.run.records import MOST_ROWS
from linkrisk.solver.run.versions import library_versions
from linkrisk.solver.worst_case.families import (
    check_k_additive,
    family_problems,
    read_once,
    search_families,
    several,
)
from linkrisk.solver.worst_case.operations.fit import fit_request
from linkrisk.solver.worst_case.operations.live import watched
from linkrisk.solver.worst_case.operations.sampling import sampling_choice
from linkrisk.solver.worst_case.problem_rows import pairs_of
from linkrisk.solver.worst_case.single_fit import CERTIFICATE_SECONDS, FitRequest

_SEARCHES = 0.5
"""Share of the time limit for the worst cases, which most measures go by."""

_PROVING, _LEAST_PROVING = 0.2, 0.1
"""Shares of the time limit that measures of a report leave to certificates where these are quick: with its
page, and at least."""

_WRITING, _CHARTS, _EACH_RECORD, _EACH_WRITTEN = 0.35, 2.5, 1.5e-4, 9e-5
"""Share of the limit that is left to page or JSON at most; seconds of the charts, and of a record in each."""


@taking(RiskOptions)
def risk(asked: RiskOptions) -> RiskResult:
    """Take every measure of a release: the certified worst case, and what stands beside it.

    Parameters
    ----------
    {options}

    Returns
    -------
    RiskResult

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the request or the files cannot be used.
    """
    measures = asked_measures(asked.measures)
    check_tolerated(asked.tolerated)
    several_releases = isinstance(asked.masked, list | tuple) and len(asked.masked) > 1
    if several_releases and SeveralReleases.name not in [measure.name for measure in measures]:
        raise UsageError(
            f"several releases are given, and {SeveralReleases.name} is not among the measures: add it, or "
            "give the last release alone"
        )
    options = part(ProblemOptions, asked, aggregator=ProblemOptions.aggregator, masking=())
    spelled, masked_by = by_kind(with_records(asked.masking, options))
    options = replace(options, masking=spelled)
    choices = MeasureChoices.of(asked.groups, asked.fraction, masked_by)
    limits = check_limits(asked.time_limit, asked.work_limit, asked.memory_limit, asked.cancel)
    request = replace(
        fit_request(engine_options(seed=asked.seed)[0], limits),
        sampling=sampling_choice(asked.sample, asked.samples, asked.confidence, None),
        workers=crew_choice(asked.scheduler, asked.workers),
        command=asked.command,
        proofs=asked.certificates,
        settings=recorded_of(asked),
    )
    names = several(asked.aggregator) or (str(asked.aggregator),)
    check_k_additive(names, options)
    reading = Clock(None)
    with watched(asked.on_progress) as told, replace(request, report=told).hired() as hired:
        given = given_releases(asked.original, asked.masked, options, asked.releases, versions=asked.versions)
        wanted = Measuring(measures, options, names, choices, asked.tolerated, asked.releases)
        return measured(given, wanted, hired, reading)


def page_seconds(records: int, limit: float) -> float:
    """Seconds of the time limit that are left to the page of a report on so many records."""
    return min(_CHARTS + _EACH_RECORD * _listed(records), _WRITING * limit)


def _listed(records: int) -> int:
    """How many of these are listed, on a page as in JSON."""
    return records if records <= MOST_ROWS else 0


def _after(first: Problem, limit: float, *, report: bool) -> float:
    """Seconds that measures leave to their JSON; or to the page, and to certificates where quick."""
    if not report:
        return min(_EACH_WRITTEN * _listed(first.pair.blocks), _WRITING * limit)
    page = page_seconds(first.pair.blocks, limit)
    if pairs_of(first.searched) > MOMENT:
        return page
    return min(max(_PROVING * limit, page + _LEAST_PROVING * limit), page + CERTIFICATE_SECONDS)


def asked_measures(measures: str | Sequence[str]) -> list[Measure]:
    """The measures of these names, in the order of the registry."""
    names = words(measures) if isinstance(measures, str) else measures
    return [measure for name, measure in MEASURES.items() if name in names or ALL in names]


def by_kind(masking: Masking) -> tuple[Masking, list[tuple[str, MaskingMethod]]]:
    """Masking methods of categories as they were given, and those of numbers with their text."""
    texts = [item for item in masking if isinstance(item, str) and item != NOT_INFERRED]
    methods = [(item, masking_method(item)) for item in texts]
    numbers = [(text, method) for text, method in methods if not isinstance(method, CategoricalMethod)]
    masked = {text for text, _ in numbers}
    return [item for item in masking if not isinstance(item, str) or item not in masked], numbers


def check_tolerated(tolerated: object) -> None:
    """Refuse a share that is none; UsageError."""
    if isinstance(tolerated, bool) or not isinstance(tolerated, Real) or not 0.0 <= float(tolerated) <= 1.0:
        raise UsageError(f"the tolerated share must be a number from 0 to 1, not {tolerated!r}")


def _read(given: Sequence[Given], way: str, options: ProblemOptions) -> tuple[Problem, Releases | None]:
    """The last release, and all of them where there are several."""
    problems = [read_once(one.original, one.masked, one.options) for one in given]
    if len(problems) < 2:
        return problems[-1], None
    files = tuple(problem.files for problem in problems)
    releases = Releases(files, aligned_groups(way, len(files)), options)
    check_alike(releases.files)
    return problems[-1], releases


@dataclass(frozen=True)
class Measuring:
    """What is to be measured, checked."""

    measures: Sequence[Measure]
    options: ProblemOptions  # of the releases; the family is left to `families`
    families: Sequence[str]  # of distances, whose worst cases are searched
    choices: MeasureChoices
    tolerated: float  # share of records
    # whether an intruder can tell which records of several releases belong together (`Way`)
    way: str = Way.TOGETHER


def measured(
    given: Sequence[Given], asked: Measuring, request: FitRequest, reading: Clock | None = None
) -> RiskResult:
    """What `risk` does, once the request has been checked, and whoever is to work has been hired.

    `reading` has run since the call began.
    """
    reading = reading or Clock(None)
    first, releases = _read(given, asked.way, asked.options)
    asked.choices.check(first.files)
    found = family_problems(first, asked.families, asked.options)
    problems = {name: problem for name, problem in found.items() if isinstance(problem, Problem)}
    spent = reading.seconds
    for name in (*problems, LINKAGE, RISK):  # while no clock runs
        compile_once(name, request.report)
    clock = request.limits.clock(spent)
    if clock.time_limit is not None:
        clock.leave(_after(first, clock.time_limit, report=request.proofs))
    with interruptible(clock):
        whole = clock.remaining
        part = clock.part(None if whole is None else _SEARCHES * whole)
        searching = replace(request, report=part_of_call(request.report, 0.0, _SEARCHES))
        worst = search_families(first, found, searching, part)
        schema = of_days(schema_of(asked.options.schema), first.files.dates)
        task = RiskTask(first, problems, schema, request, clock, worst, asked.choices, releases)
        taken, left_out, seconds = take_measures(asked.measures, task, request.report, _SEARCHES)
    details = {
        **first.describe(),
        "records": task.records,
        "notes": list(first.files.notes),
        "seed": request.options.seed,
        "seconds": round(clock.seconds, 3),
        "measure_seconds": seconds,
        "time_limit": request.limits.time,
        **request.settings,
        "command": request.command,
        "versions": library_versions(),
    }
    for about_one in ("aggregator", "aggregator_options", "differences"):
        details.pop(about_one)
    if asked.choices.masked_by:
        details["masking"] = [*details.get("masking", ()), *(text for text, _ in asked.choices.masked_by)]
    known = Known(task, taken, left_out, asked.tolerated)
    return RiskResult(verdict_of(known), taken, left_out, worst, details)
