"""Mask a file in many ways, and find the Pareto front of risk and information loss."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.schema_files import schema_of
from linkrisk.datasets.options.option import options_of, recorded_of
from linkrisk.datasets.pairs.attributes import text_columns
from linkrisk.datasets.pairs.categorical import listed_categories
from linkrisk.errors import called
from linkrisk.solver.inputs.limits import limits_of
from linkrisk.solver.inputs.reading import check_problem_options
from linkrisk.solver.inputs.source import read_source
from linkrisk.solver.masking.mask import methods_of
from linkrisk.solver.measures.base import Finding
from linkrisk.solver.measures.registry import MEASURES as MEASURES_BY_NAME
from linkrisk.solver.measures.risk import asked_measures
from linkrisk.solver.options.measuring import SECONDS_EACH, SweepOptions
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.risk_utility.course import Course, Store
from linkrisk.solver.risk_utility.maskings import Masking, maskings_of
from linkrisk.solver.risk_utility.runs import (
    HELD_OUT,
    LOSS,
    WORST_CASE,
    Status,
    SweepJob,
    SweepRun,
    SweepTask,
)
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.pool import pool_choice
from linkrisk.solver.run.result import Plots, Result
from linkrisk.solver.run.versions import library_versions
from linkrisk.solver.schemas.intervals import percents
from linkrisk.solver.worst_case.families import check_k_additive, several
from linkrisk.solver.worst_case.operations.live import watched


class Place(StrEnum):
    """Place of a masking on the risk-utility map."""

    FRONT = "on the front"
    DOMINATED = "dominated"
    OPEN = "open"


class Point(NamedTuple):
    """A masking on the map; less of either is better."""

    low: float  # certified ends of its risk
    high: float  # certified ends of its risk
    loss: float  # what it costs


def places(points: Sequence[Point]) -> list[Place]:
    """Place of every masking on the Pareto front of risk and loss.

    A masking dominates another one if it has neither more risk nor more loss, and less of one of them. The
    risks are somewhere in their intervals. ``dominated``: for all of their values, some other masking
    dominates it; then a single one does, since at the best for the masking (its own risk at the lower end,
    all others at the upper end) one still has to dominate it. ``on the front``: for none of their values
    another one dominates it. ``open``: that depends on the values; narrower intervals may decide.
    """
    if not points:
        return []
    low, high, loss = np.array(points, dtype=np.float64).T
    found = []
    for at, own in enumerate(points):
        possibly = _dominating(low, loss, own.high, own.loss)
        possibly[at] = False  # a masking is no rival of itself, however wide its interval is
        if _dominating(high, loss, own.low, own.loss).any():
            found.append(Place.DOMINATED)
        else:
            found.append(Place.OPEN if possibly.any() else Place.FRONT)
    return found


def _dominating(risk: FloatArray, loss: FloatArray, own_risk: float, own_loss: float) -> BoolArray:
    """Maskings that dominate one."""
    less = (risk < own_risk) | (loss < own_loss)
    return np.asarray((risk <= own_risk) & (loss <= own_loss) & less)


OF_ALL = "il1s_of_all"
"""The loss that is not a finding of a single release: IL1s over all attributes, 0 for those left alone."""

LOSSES = (
    *(OF_ALL, "pmse", "pmse_ratio", "il1s", "mean_difference", "variance_difference"),
    *("covariance_difference", "correlation_difference", "eigenvalue_difference", "regression_difference"),
    *("overlap_lost", "total_variation", "hellinger", "suppressed"),
)
"""What the front may go by."""

_USUAL = LOSSES[:2]
"""Of these the one that most maskings have."""

_EQUAL = "held_out_equal_weights"


@dataclass(frozen=True, eq=False)
class SweepResult(Result):
    """The risk-utility map of many maskings of one file.

    Attributes
    ----------
    runs : tuple of SweepRun
        Those that have come to an end, in the order of the plan.
    unfinished : tuple of str
        The maskings that have not, because the sweep was stopped.
    loss : str
        The information loss that the front goes by, one of `LOSSES`; more is worse.
    details : dict
        What was swept, with notes, seconds and versions.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> found = linkrisk.sweep(iris, ["noise percent=10,50"], aggregator="weighted-mean", seed=1)
    >>> len(found.to_frame())
    2
    """

    kind: ClassVar[str] = "sweep"

    runs: tuple[SweepRun, ...]
    unfinished: tuple[str, ...]
    loss: str
    details: dict[str, Any] = field(repr=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on the sweep."""
        return tuple(self.details["notes"])

    @property
    def done(self) -> tuple[SweepRun, ...]:
        """Runs with measures."""
        return tuple(run for run in self.runs if run.status is Status.DONE)

    @cached_property
    def places(self) -> dict[str, Place]:
        """Place of each masking by its text; without those of unknown loss."""
        known = {run.masking: loss for run in self.done if (loss := loss_of(run, self.loss)) is not None}
        runs = [run for run in self.done if run.masking in known]
        # A family that one run has measured and another has not may link any number there.
        families = {name for run in runs for name in run.measured}
        points = [
            Point(
                run.interval[0], run.interval[1] if set(run.measured) == families else 1.0, known[run.masking]
            )
            for run in runs
        ]
        return {run.masking: place for run, place in zip(runs, places(points), strict=True)}

    @property
    def front(self) -> tuple[SweepRun, ...]:
        """Runs that no other one dominates, for all risks within their intervals."""
        return tuple(run for run in self.done if self.places.get(run.masking) is Place.FRONT)

    def to_frame(self) -> pd.DataFrame:
        """One row per masking.

        Columns: masking, name, status, reason, pareto, loss; worst_low, worst_high, confidence; low and high
        of every family; held_out, held_out_low, held_out_high (of the family that is strongest there); every
        finding of the measures by its key, with its ends where it has an interval; seconds, seed, records.
        Shares are between 0 and 1.
        """
        rows = [self._row(run) for run in self.runs]
        names = dict.fromkeys(name for row in rows for name in row)
        last = ("seconds", "seed", "records")
        frame = pd.DataFrame(rows, columns=[*(name for name in names if name not in last), *last])
        # A column of a finding that no run has stays a column of numbers.
        numbers = [name for name in frame if name not in _TEXTS and frame[name].dtype == object]
        return frame.astype(dict.fromkeys(numbers, "float64"))

    def _row(self, run: SweepRun) -> dict[str, Any]:
        place = self.places.get(run.masking)
        row: dict[str, Any] = {
            "masking": run.masking,
            "name": run.name,
            "status": run.status.value,
            "reason": run.reason,
            "pareto": None if place is None else place.value,
            "loss": loss_of(run, self.loss),
            "worst_low": None,
            "worst_high": None,
            "confidence": run.confidence,
        }
        if run.status is Status.DONE:
            row["worst_low"], row["worst_high"] = run.interval
        for family in run.families:
            key = family.aggregator.replace("-", "_")
            for end, links in (("low", family.linked), ("high", family.most)):
                row[f"{key}_{end}"] = None if links is None else links / run.total
        best = strongest(run)
        if best is not None:
            row.update(held_out=best.value, held_out_low=best.low, held_out_high=best.high)
        row[OF_ALL] = run.loss
        for finding in (each for findings in run.findings.values() for each in findings):
            row.update(_columns_of(finding))
        return {**row, "seconds": run.seconds, "seed": run.seed, "records": run.records}

    def content(self) -> dict[str, Any]:
        """The JSON of `sweep --json` as a dictionary."""
        return {
            **self.details,
            "loss": self.loss,
            "runs": [{"pareto": self.places.get(run.masking), **run.to_dict()} for run in self.runs],
            "unfinished": list(self.unfinished),
        }

    @property
    def plot(self) -> Plots:
        """Charts of the result: ``result.plot.bound()``, and what else ``dir(result.plot)`` lists."""
        return Plots(self.to_dict)

    def __repr__(self) -> str:
        lines = [f"  {run.masking}: {self._in_short(run)}" for run in self.runs]
        lines += [f"  {text}: stopped before it was done" for text in self.unfinished]
        return "\n".join([f"SweepResult({self.details['name']}, loss {self.loss})", *lines])

    def _in_short(self, run: SweepRun) -> str:
        if run.status is not Status.DONE:
            return f"{run.status}, {run.reason}"
        loss, place = loss_of(run, self.loss), self.places.get(run.masking)
        cost = "no loss measured" if loss is None else f"loss {loss:.3g}, {place}"
        return f"worst case {percents(*run.interval)}, {cost}"


_TEXTS = ("masking", "name", "status", "reason", "pareto")


def loss_of(run: SweepRun, name: str) -> float | None:
    """An information loss of a run; None if it has none."""
    if name == OF_ALL:
        return run.loss
    found = run.finding(LOSS, name)
    return None if found is None else found.value


def usual_loss(runs: Sequence[SweepRun]) -> str:
    """The loss known of most runs; of equals, the one that is easier to read."""
    return max(_USUAL, key=lambda name: sum(loss_of(run, name) is not None for run in runs))


def strongest(run: SweepRun) -> Finding | None:
    """Held-out rate of the strongest learned family; of equal weights if none was learned."""
    found = [each for each in run.findings.get(HELD_OUT, ()) if each.key.startswith("held_out_")]
    learned = [each for each in found if each.key != _EQUAL] or found
    return max(learned, key=lambda each: each.value or 0.0, default=None)


def _columns_of(finding: Finding) -> Mapping[str, Any]:
    ends = {} if finding.kind is None else {"low": finding.low, "high": finding.high}
    return {finding.key: finding.value, **{f"{finding.key}_{end}": value for end, value in ends.items()}}


@taking(SweepOptions)
def sweep(asked: SweepOptions) -> SweepResult:
    """Mask a file in many ways, and measure each release as `risk` does.

    Parameters
    ----------
    {options}

    Returns
    -------
    SweepResult

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the request or the file cannot be used, or no masking can be measured.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> found = linkrisk.sweep(iris, ["noise percent=10,50"], aggregator="weighted-mean", seed=1)
    >>> found.to_frame()["masking"].tolist()
    ['noise percent=10', 'noise percent=50']
    """
    began = time.perf_counter()
    if asked.original is None:
        raise UsageError(f"which file? give {called('original')}", option="original")
    columns = schema_of(asked.schema)
    options = _options(asked, columns)
    families = several(asked.aggregator) or (str(asked.aggregator),)
    check_k_additive(families, options)
    check_problem_options(options)
    measures = _measures(asked.measures, asked.loss)
    choice = pool_choice(asked.scheduler, asked.workers)
    limits = limits_of(asked.time_limit, asked.work_limit, usual=SECONDS_EACH)
    tasks = _tasks(asked.methods, columns, asked.seed)
    text = (*listed_categories(asked.nominal, asked.ordinal, columns), *text_columns(columns))
    source = read_source(asked.original, [each for task in tasks for each in task.methods], asked.id, text)
    job = SweepJob(source, options, families, measures, limits, asked.seed, float(asked.tolerated))
    with watched(asked.on_progress) as report:
        clock, store = Clock(None, cancel=asked.cancel), Store(asked.folder)
        course = Course(job, tasks, store, clock, report or (lambda _: None))
        course.run(choice)
    _check_any(course)
    runs = course.in_order
    details = {
        "name": source.name,
        "records": len(source.stored.frame),
        "columns": len(source.stored.frame.columns),
        "maskings": len(tasks),
        "kept_before": course.kept,
        "folder": None if asked.folder is None else str(asked.folder),
        **job.describe(),
        "workers": course.workers,
        "scheduler": asked.scheduler,
        **recorded_of(asked),
        "seconds": round(time.perf_counter() - began - course.compiling, 3),
        "command": asked.command,
        "notes": course.notes,
        "versions": library_versions(),
    }
    return SweepResult(runs, course.unfinished, asked.loss or usual_loss(runs), details)


def _options(asked: SweepOptions, columns: Schema | None) -> ProblemOptions:
    """Options of the problem in each release."""
    known = {name: getattr(asked, name) for name in options_of(ProblemOptions) if hasattr(asked, name)}
    del known["aggregator"]
    return ProblemOptions(**known | {"row_by_row": asked.id is None, "schema": columns})


def _measures(measures: str | Sequence[str], loss: str | None) -> tuple[str, ...]:
    """Names of the measures, with the worst case; a UsageError if the loss is not among them."""
    names = {measure.name for measure in asked_measures(measures)} | {WORST_CASE}
    if loss is not None and LOSS not in names:
        raise UsageError(
            f"a loss needs the measure {LOSS}: add it to {called('measures')}", option="measures"
        )
    return tuple(name for name in MEASURES_BY_NAME if name in names)


def _tasks(
    maskings: Sequence[str | Sequence[str] | Masking], schema: Schema | None, seed: int
) -> list[SweepTask]:
    """All maskings with their methods."""
    if isinstance(maskings, str):
        maskings = [maskings]
    found: dict[str, Masking] = {}
    for each in maskings:
        for masking in [each] if isinstance(each, Masking) else maskings_of([each], schema=schema):
            found.setdefault(masking.text, masking)
    if not found:
        raise UsageError(
            f"there is no masking to sweep; give {called('methods')}, such as 'microaggregation k=2..20'",
            option="methods",
        )
    declared = {} if schema is None else {"schema": schema}
    return [
        SweepTask(at, masking, tuple(methods_of(masking.methods, declared)), masking.seed(seed))
        for at, masking in enumerate(found.values())
    ]


def _check_any(course: Course) -> None:
    """Refuse a sweep without any measurable masking, as the fault is likely the same for all."""
    runs = course.in_order
    if not runs or course.unfinished or any(run.status is not Status.REFUSED for run in runs):
        return
    many = "the masking cannot" if len(runs) == 1 else f"none of the {len(runs)} maskings can"
    raise UsageError(f"{many} be measured; {runs[0].masking}: {runs[0].reason}")
