"""evaluate: apply learned parameters to a file pair and count links."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.datasets.microdata.strict_json import AmbiguousError, kind_of, parse
from linkrisk.datasets.options.option import given_of, recorded_of
from linkrisk.datasets.pairs.alignment import BY_ID, BY_ROW
from linkrisk.datasets.public.embedded import default_pair
from linkrisk.errors import called
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair, Ties
from linkrisk.solver.compiling.parts import LINKAGE, compile_once
from linkrisk.solver.inputs.limits import limits_of
from linkrisk.solver.inputs.problem import Problem, shares
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.inputs.recorded_masking import recorded, recorded_masking
from linkrisk.solver.linkage.baselines import baselines
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.linkage.matching import assigned_blocks, check_assignable
from linkrisk.solver.linkage.operations.link import relink
from linkrisk.solver.linkage.records_table import RecordsTable
from linkrisk.solver.linkage.registry import Run
from linkrisk.solver.linkage.result import LinkResult
from linkrisk.solver.linkage.shared_counts import counting_by
from linkrisk.solver.options.linking import LinkageOptions
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.options.worst_case import EvaluateOptions
from linkrisk.solver.run.clock import Clock, Status
from linkrisk.solver.run.errors import CancelledError, UsageError
from linkrisk.solver.run.interruption import interruptible
from linkrisk.solver.run.limits import cancellable, in_time, no_time
from linkrisk.solver.run.number_format import confident
from linkrisk.solver.run.pool import WorkerPool, open_pool, pool_choice
from linkrisk.solver.run.progress import TASKS, Progress, Reporter
from linkrisk.solver.run.result import Result, plain
from linkrisk.solver.run.versions import library_versions
from linkrisk.solver.schemas.intervals import EXPECTED, LINKED, WEIGHTED, least_key, limit_key
from linkrisk.solver.schemas.reading import learned_options
from linkrisk.solver.worst_case.answers import in_population, records_table
from linkrisk.solver.worst_case.sampled.result import StagedCount, count_in_stages
from linkrisk.solver.worst_case.sampled.samples import CONFIDENCE, drawing_order, fingerprint

_EACH_WRITTEN, _MOST_LEFT = 1.5e-5, 1.0 / 3.0
"""Seconds reserved for writing each record, and the largest share of the limit for it."""


@dataclass(frozen=True)
class EvaluationResult(Result):
    """What given parameters re-identify in a file pair.

    Attributes
    ----------
    linked : int
        Records whose partner is strictly nearest; where not all were counted, of those that were.
    records : int
        Number of blocks.
    one_to_one : int or None
        Correct links when records are assigned one to one, where requested.
    table : RecordsTable
        Rank and distance of every record.
    details : dict
        Everything else of the JSON.
    link : LinkResult or None
        The result of a linker, where a linker has learned the parameters.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> learned = linkrisk.fit(iris, masked)
    >>> counted = linkrisk.evaluate(iris, masked, parameters=learned, one_to_one=True)
    >>> counted.linked, counted.one_to_one, counted.records
    (14, 15, 15)
    """

    kind: ClassVar[str] = "evaluation"

    linked: int
    records: int
    one_to_one: int | None
    table: RecordsTable
    details: dict[str, Any] = field(repr=False)
    link: LinkResult | None = field(default=None, repr=False)

    @classmethod
    def of(cls, link: LinkResult) -> EvaluationResult:
        """Make the result of parameters that a linker had learned."""
        matched = None if link.one_to_one is None else link.one_to_one.correct
        return cls(link.linked, link.records, matched, link.table, link.details, link)

    @property
    def counted(self) -> int:
        """Number of counted records: all, unless a limit or a cancellation came first."""
        counted: int = self.details.get("counted", self.records)
        return counted

    @property
    def interval(self) -> tuple[float, float]:
        """Bounds on the linked records of all: with ``confidence`` where not all were counted."""
        keys = least_key(LINKED), limit_key(LINKED)
        low, high = (self.details.get(key, self.linked) for key in keys)
        return low, high

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `evaluate --json` as a dictionary."""
        return super().to_dict() if self.link is None else self.link.to_dict()

    def content(self) -> dict[str, Any]:
        """Build the JSON without its format; see `Result`."""
        headline = {"records": self.records, "linked": self.linked, "one_to_one": self.one_to_one}
        return {**headline, **self.details, "records_table": self.table.to_dict()}

    def __repr__(self) -> str:
        if self.link is not None:
            return f"EvaluationResult({self.link.summary})"
        name, counted = self.details["aggregator"], self.counted
        of = f"{self.linked} of {counted} linked ({100.0 * self.linked / counted:.1f} %)"
        if counted < self.records:
            low, high = self.interval
            of += f", {low} to {high} of all {self.records} with {confident(self.details['confidence'])}"
        return f"EvaluationResult({name}: {of})"


@dataclass(frozen=True)
class EvaluationTask:
    """Parameters to be counted."""

    problem: Problem
    theta: FloatArray  # the parameters
    one_to_one: bool
    pool: WorkerPool
    clock: Clock
    report: Reporter | None
    # notes on the linked records where they differ from those of the fit, when all were counted
    stale: Callable[[BoolArray], Sequence[str]] | None
    asked: Mapping[str, Any]  # of the request, kept in the result

    def count(self) -> EvaluationResult:
        """Count until done, or the clock has run out."""
        problem, clock, pair = self.problem, self.clock, self.problem.pair
        if self.one_to_one:
            check_assignable(pair)
        form = problem.aggregator.form(self.theta)
        workers = counting_by(self.pool, pair, self.report)
        evaluator = Evaluator(pair, stop=lambda: clock.expired, workers=workers)
        if clock.time_limit is not None:
            clock.leave(min(_MOST_LEFT * clock.time_limit, _EACH_WRITTEN * pair.blocks))
        with interruptible(clock):
            found = count_in_stages(evaluator, form, self._order(), clock, self._tell)
            if found is None:
                raise CancelledError("the run was cancelled before there was a result")
            others = baselines(evaluator, problem.aggregator)
            one_to_one = in_time(_Assigned(pair, form), clock) if self.one_to_one else None
        linked = found.evaluation.linked
        notes = [*problem.files.notes, *(self.stale(linked) if found.all and self.stale else ())]
        if self.one_to_one and one_to_one is None:
            notes.append(f"one to one: {no_time('assign')}")
        table = records_table(problem.labels, found.evaluation)
        details = {
            **problem.describe(),
            **self._sums(found),
            "among_three": table.within(3),
            "partner_tied": table.tied,
            "parameters": problem.aggregator.decode(self.theta),
            "baselines": in_population(others, problem.survey.unit),
            "notes": notes,
            **self.pool.describe(),
            **self.asked,
            "versions": library_versions(),
        }
        return EvaluationResult(
            linked=found.evaluation.count,
            records=pair.blocks,
            one_to_one=one_to_one,
            table=table,
            details=details,
        )

    def _order(self) -> NDArray[np.intp]:
        """Draw a random order that depends on the files alone, and so is independent of any search."""
        files = self.problem.files
        digest = fingerprint(files.original_values, files.masked_values, files.partner)
        return drawing_order(0, digest, self.problem.pair.blocks, b"evaluate")

    def _tell(self, counted: int) -> None:
        """Report the progress of the count."""
        if self.report is not None:
            blocks = self.problem.pair.blocks
            work = f"{counted:,} of {blocks:,} records"
            self.report(Progress.uncounted(TASKS, work, done=counted / blocks))

    def _sums(self, found: StagedCount) -> dict[str, Any]:
        """Sum over the linked records; with intervals for all where not all were counted."""
        problem, share, linked = self.problem, shares(self.problem), found.evaluation.linked
        weighted = problem.survey.links(linked, share)
        sums = {"expected_links": float(share[linked].sum()), **weighted}
        if found.all:
            return {**sums, **problem.survey.strata(linked)}
        low, high = found.limits(np.ones(linked.size))  # sums of ones
        ends: dict[Any, tuple[float, float]] = {LINKED: (round(low), round(high))}
        if problem.pair.ties is Ties.SHARE:
            ends[EXPECTED] = found.limits(share)
        if weighted:
            unit = problem.survey.unit
            low, high = found.limits(problem.pair.weight)
            ends[WEIGHTED] = low * unit, high * unit
        return {
            "status": (Status.INTERRUPTED if self.clock.stopped else Status.FEASIBLE).value,
            "limit": None if self.clock.limit is None else self.clock.limit.value,
            "counted": int(found.evaluation.settled.sum()),
            "confidence": CONFIDENCE,
            **{least_key(keys): plain(low) for keys, (low, _) in ends.items()},
            **{limit_key(keys): plain(high) for keys, (_, high) in ends.items()},
            **sums,
        }


@dataclass(frozen=True)
class _Assigned:
    """Optimal assignment as uninterruptible work: None where it is not done in time."""

    pair: LinkagePair
    form: DistanceForm

    def do(self) -> int | None:
        """Count the correct links of the assignment."""
        return int(assigned_blocks(self.pair, self.form).sum())

    def so_far(self) -> int | None:
        """Return nothing before the end."""
        return None


def fitted_files(fitted: Mapping[str, Any], source: str, folder: Path | None) -> tuple[str, str] | None:
    """Read the two files of a fit from its command line; None where that was the embedded pair."""
    name = fitted.get("name")
    if not isinstance(name, str) or name == default_pair().name:
        return None
    named = _named(fitted.get("command"))
    if named is None:
        raise UsageError(f"{source} is of {name}, and does not say where these files are: {_give()}")
    return _found(named[0], source, folder), _found(named[1], source, folder)


def fitted_alignment(fitted: Mapping[str, Any]) -> dict[str, Any]:
    """Read the alignment of the fit as options of a problem."""
    alignment = fitted.get("alignment")
    if alignment == BY_ROW:
        return {"row_by_row": True}
    if isinstance(alignment, str) and alignment.startswith(BY_ID):
        return {"id": alignment.removeprefix(BY_ID)}
    return {}


def check_same_records(fitted: Mapping[str, Any], records: int, candidates: int, source: str) -> None:
    """Refuse files that have other numbers of records than those of the fit (UsageError)."""
    for key, here in (("records", records), ("candidates", candidates)):
        before = fitted.get(key)
        if isinstance(before, int) and before != here:
            raise UsageError(
                f"{source} is of files with {before:,} {key}, and the files that it names have {here:,}: "
                f"they have changed; {_give()}"
            )


def changed(fitted: Mapping[str, Any], linked: NDArray[np.bool_]) -> tuple[str, ...]:
    """Note that files have changed since the fit, if other records are re-identified."""
    table = fitted.get("records_table")
    rows, ranks = (table.get(key) if isinstance(table, Mapping) else None for key in ("rows", "ranks"))
    before, records = fitted.get("linked"), linked.size
    if isinstance(ranks, list):  # records of large files are not listed
        same = before == int(linked.sum()) or sum(ranks) < records
    else:
        then = [row[1] for row in rows] if isinstance(rows, list) else linked.tolist()
        before = sum(map(bool, then))
        # Records that were not counted then may be linked or not.
        same = len(then) == records and all(
            was is None or was == now for was, now in zip(then, linked.tolist(), strict=True)
        )
    if same:
        return ()
    return (
        "the files are not as they were when the parameters were learned: "
        f"{before:,} of {records:,} records were re-identified then; learn anew with fit",
    )


def _give() -> str:
    return f"give {called('original')} and {called('masked')}"


def _named(command: object) -> tuple[str, str] | None:
    """Find the two files in a command line; None where it does not name each once."""
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return None
    found = {
        option: [
            *(word for before, word in pairwise(words) if before == option),
            *(word.removeprefix(f"{option}=") for word in words if word.startswith(f"{option}=")),
        ]
        for option in ("--original", "--masked")
    }
    first, second = found.values()
    return (first[0], second[0]) if len(first) == len(second) == 1 else None


def _found(name: str, source: str, folder: Path | None) -> str:
    """Locate a file."""
    for place in (folder, Path()):
        if place is not None and (place / name).exists():
            return str(place / name)
    raise UsageError(f"{source} is of {name}, which is not there: {_give()}")


_GIVE = "give the file that `fit --json` or `link --json` wrote"


def read_parameters(path: str | Path) -> dict[str, Any]:
    """Read the JSON that `fit --json` wrote; UsageError when it is not one, or is ambiguous."""
    try:
        content = parse(Path(path).read_bytes())
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"{path} cannot be read: {reason}; {_GIVE}") from None
    except AmbiguousError as error:
        raise UsageError(f"{path} cannot be used: {error}; {_GIVE}") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise UsageError(f"{path} is not valid JSON ({place}); {_GIVE}") from None
    except (ValueError, RecursionError):  # not text, or nested too deeply
        raise UsageError(f"{path} is not valid JSON; {_GIVE}") from None
    if not isinstance(content, dict) or not (
        isinstance(content.get("parameters"), dict) or isinstance(content.get("families"), list)
    ):
        raise UsageError(f"{path} has no parameters; {_GIVE}")
    known = ("fit", "link", "links")
    if "format" in content and kind_of(content) not in known:  # parameters alone need files
        raise UsageError(
            f"{path} has the format {content['format']!r}, version {content.get('version')!r}; {_GIVE}"
        )
    return content


def pick_family(fitted: Mapping[str, Any], aggregator: str | None, source: str) -> Mapping[str, Any]:
    """Choose the fit of one family: the requested one, or else the worst."""
    if not isinstance(fitted.get("families"), list):
        return fitted
    found = {
        family.get("aggregator"): family
        for family in fitted["families"]
        if isinstance(family, Mapping) and isinstance(family.get("parameters"), Mapping)
    }
    name = fitted.get("worst") if aggregator is None else aggregator
    if name not in found:
        known = ", ".join(str(other) for other in found) or "none"
        raise UsageError(
            f"{source} has no parameters of '{name}', only of {known}: choose with {called('aggregator')}",
            option="aggregator",
        )
    return found[name]


@taking(EvaluateOptions)
def evaluate(asked: EvaluateOptions) -> EvaluationResult:
    """Apply parameters learned by `fit`, or by a linker, to a file pair.

    Parameters
    ----------
    {options}

    Returns
    -------
    EvaluationResult
        Of what `link` learned, `link` has what that linker re-identifies.

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the request, the parameters or the files cannot be used.
    CancelledError
        If `cancel` has been used before enough records were counted.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> equal = {"weights": dict.fromkeys(iris, 0.25)}
    >>> mean = {"aggregator": "weighted-mean", "parameters": equal}
    >>> linkrisk.evaluate(iris, masked, parameters=mean).linked
    13
    """
    clock = limits_of(asked.time_limit, cancel=asked.cancel).clock()
    asked_for = pool_choice(asked.scheduler, asked.workers)

    def do() -> EvaluationTask | LinkResult:
        return _read(asked, given_of(asked, ProblemOptions), pool, clock)

    with open_pool(asked_for) as pool:
        read = cancellable(do, asked.cancel)
        return EvaluationResult.of(read) if isinstance(read, LinkResult) else read.count()


def _read(
    asked: EvaluateOptions, given: dict[str, Any], pool: WorkerPool, clock: Clock
) -> EvaluationTask | LinkResult:
    """Read the request; `given` are options that override learned ones."""
    parameters, original, masked = asked.parameters, asked.original, asked.masked
    one_to_one, report, cancel = asked.one_to_one, asked.on_progress, asked.cancel
    if isinstance(parameters, Mapping):
        fitted, source = parameters, "the parameters"
    elif isinstance(parameters, str | Path):
        fitted, source = read_parameters(parameters), str(parameters)
    else:
        fitted, source = parameters.to_dict(), "the parameters"
    content, fitted = fitted, pick_family(fitted, given.get("aggregator"), source)
    named = None
    if original is None and masked is None:
        folder = Path(parameters).parent if isinstance(parameters, str | Path) else None
        named = fitted_files(content, source, folder)
        original, masked = named or (None, None)
    if named is not None and not given.keys() & {"id", "row_by_row"}:
        given |= fitted_alignment(content)
    if "method" in fitted:
        matching = "hungarian" if one_to_one else None
        if clock.time_limit is not None:
            given |= {"time_limit": clock.time_limit}
        run = Run(pool, report, cancel)
        return relink(original, masked, fitted, run, one_to_one=matching, **_link_options(given, source))
    given.setdefault("masking", recorded_masking(fitted))
    options = recorded(ProblemOptions(**{**learned_options(fitted), **given}))
    problem = make_problem(original, masked, options)
    if named is not None:
        check_same_records(content, problem.pair.blocks, len(problem.pair.candidates), source)
    alone = original is None and masked is None and "name" not in fitted
    theta = _encode(problem, fitted["parameters"], source, alone)
    spent = clock.seconds
    compile_once(LINKAGE, report)
    pool.prepare(compile_once, LINKAGE)
    pool.know(problem.pair, problem.rereading)
    clock = Clock(clock.time_limit, spent=spent, cancel=cancel)
    same = named is not None and given.keys() <= {"id", "row_by_row", "masking"}
    stale = partial(changed, fitted) if same else None
    return EvaluationTask(problem, theta, one_to_one, pool, clock, report, stale, recorded_of(asked))


def _link_options(given: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Convert options of a problem to options of `link`."""
    known = {item.name for item in fields(LinkageOptions)}
    for name in given:
        if name not in known:
            raise UsageError(
                f"{source} is the result of a linker, which takes no {name.replace('_', ' ')}: leave it out"
            )
    return dict(given)


def _encode(problem: Problem, parameters: Mapping[str, Any], source: str, alone: bool) -> NDArray[np.float64]:
    """Encode parameters; errors name their source.

    Parameters `alone` come without files, which are required unless they fit the embedded pair.
    """
    try:
        return problem.aggregator.encode(parameters)
    except FormulationError as error:
        if alone:
            files = f"give {called('original')} and {called('masked')}"
            raise UsageError(f"{source} does not say which files it is about: {files}") from None
        raise UsageError(f"{source}: {error}", option=error.option) from None
