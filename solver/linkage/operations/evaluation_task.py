"""What `evaluate` counts when the files are read, and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair, Ties
from linkrisk.solver.inputs.problem import Problem, shares
from linkrisk.solver.linkage.baselines import baselines
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.linkage.matching import assigned_blocks, check_assignable
from linkrisk.solver.linkage.records_table import RecordsTable
from linkrisk.solver.linkage.result import LinkResult
from linkrisk.solver.linkage.shared_counts import counting_by
from linkrisk.solver.run.clock import Clock, Status
from linkrisk.solver.run.errors import CancelledError
from linkrisk.solver.run.interruption import interruptible
from linkrisk.solver.run.limits import in_time, no_time
from linkrisk.solver.run.number_format import confident
from linkrisk.solver.run.pool import TASKS, WorkerPool
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.run.result import Result, plain
from linkrisk.solver.run.versions import library_versions
from linkrisk.solver.schemas.intervals import EXPECTED, LINKED, WEIGHTED, least_key, limit_key
from linkrisk.solver.worst_case.answers import in_population, records_table
from linkrisk.solver.worst_case.sampled.result import StagedCount, count_in_stages
from linkrisk.solver.worst_case.sampled.samples import CONFIDENCE, drawing_order, fingerprint

_EACH_WRITTEN, _MOST_LEFT = 1.5e-5, 1.0 / 3.0
"""Seconds that are left to what lists a record, and the share of the limit that they have at most."""


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
        """What parameters that a linker had learned re-identify."""
        matched = None if link.one_to_one is None else link.one_to_one.correct
        return cls(link.linked, link.records, matched, link.table, link.details, link)

    @property
    def counted(self) -> int:
        """How many records were counted: all, unless a limit or a cancellation came first."""
        counted: int = self.details.get("counted", self.records)
        return counted

    @property
    def interval(self) -> tuple[float, float]:
        """Linked records of all, at least and at most: with ``confidence`` where not all were counted."""
        keys = least_key(LINKED), limit_key(LINKED)
        low, high = (self.details.get(key, self.linked) for key in keys)
        return low, high

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `evaluate --json` as a dictionary."""
        return super().to_dict() if self.link is None else self.link.to_dict()

    def content(self) -> dict[str, Any]:
        """What it has besides its format; see `Result`."""
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
    """Parameters that are to be counted."""

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
        """Count until all is done, or the clock has run out."""
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
        """A random order that the files alone decide, and no search has seen."""
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
        """Sums over the linked records; with intervals for all where not all were counted."""
        problem, share, linked = self.problem, shares(self.problem), found.evaluation.linked
        weighted = problem.survey.links(linked, share)
        sums = {"expected_links": float(share[linked].sum()), **weighted}
        if found.all:
            return {**sums, **problem.survey.strata(linked)}
        ends = {LINKED: _integers(found.limits(np.ones(linked.size)))}
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


def _integers(ends: tuple[float, float]) -> tuple[float, float]:
    """Two sums of ones as integers."""
    low, high = ends
    return round(low), round(high)


@dataclass(frozen=True)
class _Assigned:
    """The assignment one to one, which cannot be stopped: None where it is not done in time."""

    pair: LinkagePair
    form: DistanceForm

    def do(self) -> int | None:
        """Count its correct links."""
        return int(assigned_blocks(self.pair, self.form).sum())

    def so_far(self) -> int | None:
        """Nothing is known before the end."""
        return None
