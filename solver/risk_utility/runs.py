"""One masking of a sweep: the file is masked, the release measured as `risk` does, and the run kept."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from linkrisk.datasets.masking.base import CategoricalMethod, MaskingMethod
from linkrisk.datasets.microdata.formats.base import StoredFile
from linkrisk.datasets.microdata.released_files import carried
from linkrisk.datasets.microdata.schema_files import schema_of
from linkrisk.datasets.microdata.tables import Table
from linkrisk.errors import LinkriskError
from linkrisk.solver.inputs.limits import engine_options
from linkrisk.solver.inputs.releases import Given
from linkrisk.solver.inputs.source import Source
from linkrisk.solver.masking.mask import mask_source
from linkrisk.solver.measures.base import Finding, Kind, Unit, Worse, jsonable
from linkrisk.solver.measures.information_loss import InformationLoss
from linkrisk.solver.measures.risk import Measuring, RiskResult, asked_measures, measured
from linkrisk.solver.measures.task import MeasureChoices
from linkrisk.solver.measures.verdict import TOLERATED
from linkrisk.solver.measures.worst_case import FamilyRisk, WorstCaseRisk
from linkrisk.solver.options.masking import MaskOptions
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.risk_utility.maskings import Masking
from linkrisk.solver.run.clock import Clock, Limits
from linkrisk.solver.run.remote import Asked
from linkrisk.solver.worst_case.operations.fitting import fit_request
from linkrisk.solver.worst_case.request import FitRequest

HELD_OUT, WORST_CASE, LOSS = "held-out", "worst-case", "information-loss"
"""Measures that have columns of their own."""


class Status(StrEnum):
    """End of the run of a masking."""

    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True)
class SweepRun:
    """One masking, and what was measured."""

    masking: str  # the methods as text, with + between them
    name: str  # of the family of maskings
    seed: int  # with which `mask` makes the same file
    # ``refused``: the masking does not fit the file, or its result cannot be measured. ``failed``: there
    # was a fault, and the same sweep would try again.
    status: Status
    reason: str | None = None  # why it is not done
    records: int = 0  # records with a partner
    total: float = 0.0  # what links are part of: records, or the sum of their sampling weights
    families: tuple[FamilyRisk, ...] = ()  # the certified worst case of each family of distances
    verdict: Mapping[str, Any] | None = None  # the JSON of the verdict on the release, at the usual tolerance
    # records that the worst distance does not link because others are identical to the partner
    with_twins: int = 0
    # of all other measures, by their names
    findings: Mapping[str, tuple[Finding, ...]] = field(default_factory=dict)
    # IL1s over all attributes (`il1s_of_all`); None where it does not see all of the loss
    loss: float | None = None
    not_measured: Mapping[str, str] = field(default_factory=dict)  # why other measures could not be taken
    seconds: float = 0.0  # for masking and all measures

    @property
    def measured(self) -> tuple[str, ...]:
        """Families with a result."""
        return tuple(family.aggregator for family in self.families if family.linked is not None)

    @property
    def interval(self) -> tuple[float, float]:
        """Worst risk of the release as shares: of all families and all counted attacks."""
        if self.verdict is None:
            return 0.0, 0.0
        return float(self.verdict["low"]), float(self.verdict["high"])

    @property
    def confidence(self) -> float | None:
        """Confidence of the upper end, if samples were searched."""
        return next((each.confidence for each in self.families if each.confidence is not None), None)

    def finding(self, measure: str, key: str) -> Finding | None:
        """One number of a measure, if it has it."""
        return next((each for each in self.findings.get(measure, ()) if each.key == key), None)

    def to_dict(self) -> dict[str, Any]:
        """JSON of the run."""
        kept: dict[str, Any] = jsonable(self)
        return kept

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> SweepRun:
        """Read `to_dict`; a TypeError, KeyError or ValueError for anything else."""
        found = {
            measure: tuple(_finding(each) for each in findings)
            for measure, findings in content["findings"].items()
        }
        return cls(
            **{
                **content,
                "status": Status(content["status"]),
                "total": float(content["total"]),
                "families": tuple(FamilyRisk(**family) for family in content["families"]),
                "findings": found,
                "loss": _number(content["loss"]),
                "seconds": float(content["seconds"]),
            }
        )


def _finding(content: Mapping[str, Any]) -> Finding:
    kind = content["kind"]
    return Finding(
        **{
            **content,
            **{end: _number(content[end]) for end in ("value", "low", "high")},
            "unit": Unit(content["unit"]),
            "worse": Worse(content["worse"]),
            "kind": None if kind is None else Kind(kind),
        }
    )


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


@dataclass(frozen=True)
class SweepJob:
    """Request that all maskings of a sweep share."""

    source: Source  # the original table
    options: ProblemOptions  # what is linked to what
    families: tuple[str, ...]  # names of both
    measures: tuple[str, ...]  # names of both
    limits: Limits  # of each masking
    seed: int  # of the searches and all other measures
    tolerated: float = TOLERATED  # share of records that may be re-identified, for the verdicts

    def describe(self) -> dict[str, Any]:
        """JSON of all but the table: what the numbers of a masking depend on."""
        asked = {each.name: getattr(self.options, each.name) for each in fields(self.options)}
        schema = schema_of(self.options.schema)
        asked |= {"schema": None if schema is None else schema.to_dict()}
        del asked["aggregator"], asked["row_by_row"], asked["masking"]
        return {
            "families": list(self.families),
            "measures": list(self.measures),
            **{name: list(value) if isinstance(value, tuple) else value for name, value in asked.items()},
            "seed": self.seed,
            "tolerated": self.tolerated,
            "time_limit": self.limits.time,
            "work_limit": self.limits.work,
        }

    def request(self, clock: Clock) -> FitRequest:
        """Search request, for as long as the sweep goes on."""
        limits = replace(self.limits, cancel=Asked(lambda: clock.expired), threads=clock.most_threads)
        return fit_request(engine_options(seed=self.seed)[0], limits)


@dataclass(frozen=True)
class SweepTask:
    """A masking to be measured."""

    at: int  # its place in the plan
    masking: Masking
    methods: tuple[MaskingMethod, ...]
    seed: int  # of masking

    def ended(self, status: Status, reason: str) -> SweepRun:
        """A run without numbers."""
        return SweepRun(self.masking.text, self.masking.name, self.seed, status, " ".join(reason.split()))


def run_masking(job: SweepJob, task: SweepTask, clock: Clock) -> SweepRun | None:
    """Mask the original table and measure the release; None if the sweep was stopped meanwhile.

    The numbers are those of `mask` with the same methods and seed, and then `risk` with the same options. A
    masking that does not fit the table costs its own row only, and so does a fault.
    """
    began = time.perf_counter()
    try:
        found = _measured(job, task, clock)
    except LinkriskError as error:
        return None if clock.expired else task.ended(Status.REFUSED, str(error))
    except Exception as error:  # such as too little memory: the other maskings go on
        reason = f"{type(error).__name__}: {error}".removesuffix(": ")  # some have no text
        return None if clock.expired else task.ended(Status.FAILED, reason)
    if clock.expired:
        return None
    worst, loss = found.worst.worst, found.measures.get(LOSS)
    cases = found[WORST_CASE]
    assert isinstance(cases, WorstCaseRisk)
    run = SweepRun(
        task.masking.text,
        task.masking.name,
        task.seed,
        Status.DONE,
        records=worst.records,
        total=worst.total,
        families=cases.families,
        verdict=jsonable(found.verdict),
        with_twins=cases.with_twins,
        findings={name: each.findings for name, each in found.measures.items() if name != WORST_CASE},
        loss=il1s_of_all(loss) if isinstance(loss, InformationLoss) else None,
        not_measured=dict(found.not_measured),
        seconds=round(time.perf_counter() - began, 3),
    )
    return SweepRun.from_dict(run.to_dict())  # the same, to the letter, as one that was kept and read


def _measured(job: SweepJob, task: SweepTask, clock: Clock) -> RiskResult:
    original = job.source.stored
    masking = MaskOptions(job.source.name, task.methods, id=job.options.id, drop=(), seed=task.seed)
    masked = mask_source(job.source, task.methods, masking)
    release = carried(original, masked.table, masked.masked)
    given = Given(_table(original, "original"), _table(release, "masked"), job.options)
    choices = MeasureChoices(masked_by=_of_numbers(task))
    asked = Measuring(asked_measures(job.measures), job.options, job.families, choices, job.tolerated)
    return measured([given], asked, job.request(clock))


def _of_numbers(task: SweepTask) -> tuple[tuple[str, MaskingMethod], ...]:
    """Methods for numbers; those for categories are withheld, as they would change the distances of links."""
    methods = zip(task.masking.methods, task.methods, strict=True)
    return tuple((text, method) for text, method in methods if not isinstance(method, CategoricalMethod))


def _table(stored: StoredFile, name: str) -> Table:
    """A table with the notes of its file."""
    frame = stored.frame.reset_index(drop=True)
    return Table(frame, name, notes=stored.columns, dialect=stored.dialect, remarks=stored.remarks)


def il1s_of_all(loss: InformationLoss) -> float | None:
    """Mean IL1s over all attributes, 0 for unmasked ones, so that maskings of different attributes compare.

    None if a masked attribute is not numeric, or values were suppressed: IL1s would not see that loss.
    """
    of_each = {row[1]: row[-1] for row in loss.numeric.rows if row[0] == "IL1s"}
    if loss.suppressed > 0.0 or not set(loss.masked) <= set(of_each):
        return None
    many = len(loss.masked) + len(loss.unchanged)
    return float(sum(of_each[name] for name in loss.masked) / many) if many else None
