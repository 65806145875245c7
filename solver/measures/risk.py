"""`risk`: every measure of one release, from files or frames to one table and one verdict."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import pandas as pd

from linkrisk.datasets.masking.base import CategoricalMethod, MaskingMethod
from linkrisk.datasets.masking.registry import masking_method
from linkrisk.datasets.microdata.scale_inference import of_days
from linkrisk.datasets.microdata.schema_files import schema_of
from linkrisk.datasets.options.kinds import words
from linkrisk.datasets.options.option import part, recorded_of
from linkrisk.datasets.pairs.categorical import NOT_INFERRED, Masking
from linkrisk.datasets.pairs.several_files import check_alike
from linkrisk.errors import called
from linkrisk.solver.compiling.parts import LINKAGE, RISK, compile_once
from linkrisk.solver.inputs.limits import engine_options, limits_of
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.inputs.recorded_masking import with_records
from linkrisk.solver.inputs.releases import Given, Releases, Way, aligned_groups, given_releases
from linkrisk.solver.linkage.records_table import MOST_ROWS
from linkrisk.solver.measures.base import Measure, MeasureResult, jsonable
from linkrisk.solver.measures.registry import MEASURES
from linkrisk.solver.measures.releases import SeveralReleases
from linkrisk.solver.measures.task import MOMENT, MeasureChoices, RiskTask
from linkrisk.solver.measures.verdict import Verdict
from linkrisk.solver.measures.verdict_findings import Known, verdict_of
from linkrisk.solver.options.measuring import RiskOptions
from linkrisk.solver.options.pair import ALL, ProblemOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run import progress
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError, noted
from linkrisk.solver.run.interruption import interruptible
from linkrisk.solver.run.limits import in_time, no_time
from linkrisk.solver.run.pool import pool_choice
from linkrisk.solver.run.progress import Progress, Reporter, part_of_call
from linkrisk.solver.run.result import Plots, Result
from linkrisk.solver.run.versions import library_versions
from linkrisk.solver.worst_case.families import (
    check_k_additive,
    family_problems,
    read_once,
    search_families,
    several,
)
from linkrisk.solver.worst_case.operations.fitting import fit_request, sampling_choice
from linkrisk.solver.worst_case.operations.live import watched
from linkrisk.solver.worst_case.request import CERTIFICATE_SECONDS, FitRequest
from linkrisk.solver.worst_case.result import FitResult
from linkrisk.solver.worst_case.search_state import pairs_of

FINDING_COLUMNS = ("measure", "key", "finding", "value", "low", "high", "interval", "unit", "worse")


@dataclass(frozen=True, eq=False)
class RiskResult(Result):
    """Every measure of one release.

    Attributes
    ----------
    verdict : Verdict
    measures : mapping of str to MeasureResult
        By name, in the order of the registry.
    not_measured : mapping of str to str
        Why others could not be taken.
    worst : FitResult
        The worst cases that the measures go by.
    details : dict
        Files, options, seconds and versions of the call.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> found = linkrisk.risk(iris, masked, aggregator="weighted-mean", measures=["uniqueness"])
    >>> found.worst.proven
    True
    """

    kind: ClassVar[str] = "risk"

    verdict: Verdict
    measures: Mapping[str, MeasureResult]
    not_measured: Mapping[str, str]
    worst: FitResult = field(repr=False)
    details: dict[str, Any] = field(repr=False)

    def __getitem__(self, name: str) -> MeasureResult:
        """One measure."""
        return self.measures[name]

    def to_frame(self) -> pd.DataFrame:
        """All findings: measure, key, finding (in words), value, low, high, interval, unit, worse."""
        rows = []
        for name, result in self.measures.items():
            for found in result.findings:
                each = jsonable(found)
                row = {"measure": name, "finding": each["words"], "interval": each["kind"], **each}
                rows.append([row[column] for column in FINDING_COLUMNS])
        return pd.DataFrame(rows, columns=list(FINDING_COLUMNS))

    @property
    def notes(self) -> tuple[str, ...]:
        """Collect the notes on the files and the measures, each once."""
        notes = [*self.details["notes"]]
        notes += [note for result in self.measures.values() for note in result.notes]
        return tuple(dict.fromkeys(notes))

    def content(self) -> dict[str, Any]:
        """The JSON of `risk --json` as a dictionary."""
        return {
            "verdict": jsonable(self.verdict),
            **self.details,
            "measures": {name: result.content() for name, result in self.measures.items()},
            "not_measured": dict(self.not_measured),
            "titles": {
                name: MEASURES[name].heading(weighted=self.verdict.weighted)
                for name in (*self.measures, *self.not_measured)
            },
            "worst_case": self.worst.of_families(),
        }

    @property
    def plot(self) -> Plots:
        """Charts of the result: ``result.plot.bound()``, and what else ``dir(result.plot)`` lists."""
        return Plots(self.to_dict)

    def __repr__(self) -> str:
        lines = [repr(result) for result in self.measures.values()]
        lines += [f"{name}: not measured, {reason}" for name, reason in self.not_measured.items()]
        return "\n".join([f"RiskResult: {self.verdict.sentence}", *(f"  {line}" for line in lines)])


_STOPPED = "stopped before it was begun"
_UNFINISHED = "stopped before it had ended"

_AT_ONCE = 0.05
"""Seconds up to which a measure is computed even when time is over."""

_BEYOND = 1.0
"""Seconds that it then has on a busy machine: the promised limit includes two of them."""

_MOST = 0.5
"""Share of the remaining time that a measure may overrun before it is abandoned."""


def take_measures(
    measures: Sequence[Measure], task: RiskTask, report: Reporter | None, searched: float
) -> tuple[dict[str, MeasureResult], dict[str, str], dict[str, float]]:
    """Compute the measures, the cheapest first, each in its share of time; returned in their own order.

    So time that runs out is that of dear ones. Returns results, reasons of those left out, and seconds.
    """
    outcomes: dict[str, MeasureResult | str] = {}
    seconds: dict[str, float] = {}
    possible: list[Measure] = []
    for measure in measures:
        if (reason := _lacking(measure, task)) is None:
            possible.append(measure)
        else:
            outcomes[measure.name] = reason
    possible.sort(key=lambda measure: measure.cost)
    for at, measure in enumerate(possible):
        remaining = task.clock.remaining
        late = remaining is not None and remaining < measure.least(task)
        at_once = not task.clock.stopped and 0.0 < measure.least(task) <= _AT_ONCE
        if (late or task.clock.expired) and measure.cost > 0.0 and not at_once:
            outcomes[measure.name] = _STOPPED if task.clock.stopped else no_time("take")
            continue
        if report is not None:
            low, high = task.worst.interval
            done = searched + (1.0 - searched) * at / len(possible)
            seconds_now, total = task.clock.seconds, task.worst.worst.total
            report(Progress(seconds_now, low, high, progress.MEASURES, "", measure.name, total, done))
        began = time.perf_counter()
        outcomes[measure.name] = _taken(measure, task, _share(task, possible[at:]), at_once)
        seconds[measure.name] = round(time.perf_counter() - began, 3)
    ordered = {measure.name: outcomes[measure.name] for measure in measures}
    taken = {name: found for name, found in ordered.items() if isinstance(found, MeasureResult)}
    left_out = {name: found for name, found in ordered.items() if isinstance(found, str)}
    return taken, left_out, {name: seconds[name] for name in taken}


def _lacking(measure: Measure, task: RiskTask) -> str | None:
    try:
        return measure.lacking(task)
    except Exception as error:  # a measure that fails here must not cost all others
        return noted(error)


@dataclass(frozen=True)
class _Taking:
    """One measure as work without intermediate answers."""

    measure: Measure
    task: RiskTask
    clock: Clock

    def do(self) -> MeasureResult | None:
        """Compute the measure."""
        return self.measure.take(self.task, self.clock)

    def so_far(self) -> MeasureResult | None:
        """Return nothing before the end."""
        return None


def _taken(measure: Measure, task: RiskTask, clock: Clock, at_once: bool) -> MeasureResult | str:
    """Return the result of a measure, or the reason why there is none, such as an overrun.

    It may take twice its share, and `_MOST` of what is left, where that is more. The last one may take all.
    """
    work, whole, limit = _Taking(measure, task, clock), task.clock.remaining, clock.time_limit
    try:
        if whole is None or limit is None or clock.counts:
            found = work.do()
        elif at_once and whole < _BEYOND:
            found = in_time(work, Clock(_BEYOND))
        else:
            found = in_time(work, task.clock.part(min(whole, max(2.0 * limit, _MOST * whole))))
    except Exception as error:  # a measure that fails must not cost all others
        return noted(error)
    if found is not None:
        return found
    longer = f"it had not ended when its time was over; a longer {called('time_limit')} would take it too"
    return _UNFINISHED if task.clock.stopped else longer


def _share(task: RiskTask, left: Sequence[Measure]) -> Clock:
    """Allot time to the first of the remaining measures."""
    costs = [measure.cost + measure.least(task) for measure in left]
    remaining = task.clock.remaining
    if remaining is None or sum(costs) == 0.0:
        return task.clock.part(remaining)
    return task.clock.part(max(1e-9, remaining * costs[0] / sum(costs)))


_SEARCHES = 0.5
"""Share of the time limit for the worst cases, on which most measures depend."""

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

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> found = linkrisk.risk(iris, masked, aggregator="weighted-mean", measures=["held-out"])
    >>> found.verdict.answer
    <Answer.ABOVE: 'above'>
    >>> sorted(found.measures)
    ['held-out']
    """
    measures = asked_measures(asked.measures)
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
    limits = limits_of(asked.time_limit, asked.work_limit, asked.memory_limit, asked.cancel)
    request = replace(
        fit_request(engine_options(seed=asked.seed)[0], limits),
        sampling=sampling_choice(asked.sample, asked.samples, asked.confidence, None),
        workers=pool_choice(asked.scheduler, asked.workers),
        command=asked.command,
        proofs=asked.certificates,
        settings=recorded_of(asked),
    )
    names = several(asked.aggregator) or (str(asked.aggregator),)
    check_k_additive(names, options)
    reading = Clock(None)
    with watched(asked.on_progress) as report, replace(request, report=report).with_pool() as ready:
        given = given_releases(asked.original, asked.masked, options, asked.releases, versions=asked.versions)
        wanted = Measuring(measures, options, names, choices, asked.tolerated, asked.releases)
        return measured(given, wanted, ready, reading)


def page_seconds(records: int, limit: float) -> float:
    """Reserve seconds of the time limit for the page of a report on so many records."""
    return min(_CHARTS + _EACH_RECORD * _listed(records), _WRITING * limit)


def _listed(records: int) -> int:
    """Count the records listed, on a page as in JSON."""
    return records if records <= MOST_ROWS else 0


def _after(first: Problem, limit: float, *, report: bool) -> float:
    """Reserve seconds for the JSON; or for the page, and for certificates where quick."""
    if not report:
        return min(_EACH_WRITTEN * _listed(first.pair.blocks), _WRITING * limit)
    page = page_seconds(first.pair.blocks, limit)
    if pairs_of(first.searched) > MOMENT:
        return page
    return min(max(_PROVING * limit, page + _LEAST_PROVING * limit), page + CERTIFICATE_SECONDS)


def asked_measures(measures: str | Sequence[str]) -> list[Measure]:
    """Select the measures of these names, in the order of the registry."""
    names = words(measures) if isinstance(measures, str) else measures
    return [measure for name, measure in MEASURES.items() if name in names or ALL in names]


def by_kind(masking: Masking) -> tuple[Masking, list[tuple[str, MaskingMethod]]]:
    """Split masking methods into those of categories, and those of numbers with their text."""
    texts = [item for item in masking if isinstance(item, str) and item != NOT_INFERRED]
    methods = [(item, masking_method(item)) for item in texts]
    numbers = [(text, method) for text, method in methods if not isinstance(method, CategoricalMethod)]
    masked = {text for text, _ in numbers}
    return [item for item in masking if not isinstance(item, str) or item not in masked], numbers


def _read(given: Sequence[Given], way: str, options: ProblemOptions) -> tuple[Problem, Releases | None]:
    """Read the last release, and all of them where there are several."""
    problems = [read_once(one.original, one.masked, one.options) for one in given]
    if len(problems) < 2:
        return problems[-1], None
    files = tuple(problem.files for problem in problems)
    releases = Releases(files, aligned_groups(way, len(files)), options)
    check_alike(releases.files)
    return problems[-1], releases


@dataclass(frozen=True)
class Measuring:
    """A checked request of measures."""

    measures: Sequence[Measure]
    options: ProblemOptions  # of the releases; the family is left to `families`
    families: Sequence[str]  # of distances, whose worst cases are searched
    choices: MeasureChoices
    tolerated: float  # share of records
    way: str = Way.TOGETHER  # whether records of several releases can be aligned (`Way`)


def measured(
    given: Sequence[Given], asked: Measuring, request: FitRequest, reading: Clock | None = None
) -> RiskResult:
    """Measure a checked request, when its workers are ready; `reading` runs since the call."""
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
