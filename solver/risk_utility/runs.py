"""What a sweep has found of one masking, as it is kept and read again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from linkrisk.solver.measures.base import Finding, Kind, Unit, Worse, jsonable
from linkrisk.solver.measures.worst_case import FamilyRisk


class Status(StrEnum):
    """How the run of a masking has ended."""

    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True)
class SweepRun:
    """One masking, and what was measured.

    Attributes
    ----------
    masking : str
        The methods as text, with + between them.
    name : str
        Of the family of maskings.
    seed : int
        With which `mask` makes the same file.
    status : Status
        ``refused``: the masking does not fit the file, or its result cannot be measured. ``failed``: there
        was a fault, and the same sweep would try again.
    reason : str or None
        Why it is not done.
    records : int
        Records with a partner.
    total : float
        What links are part of: records, or the sum of their sampling weights.
    families : tuple of FamilyRisk
        The certified worst case of each family of distances.
    verdict : mapping or None
        The JSON of the verdict on the release, at the usual tolerance.
    with_twins : int
        Records that the worst distance does not link because others are identical to the partner.
    findings : mapping of str to tuple of Finding
        Of all other measures, by their names.
    loss : float or None
        IL1s over all attributes (`il1s_of_all`); None where it does not see all of the loss.
    not_measured : mapping of str to str
        Why other measures could not be taken.
    seconds : float
        For masking and all measures.
    """

    masking: str
    name: str
    seed: int
    status: Status
    reason: str | None = None
    records: int = 0
    total: float = 0.0
    families: tuple[FamilyRisk, ...] = ()
    verdict: Mapping[str, Any] | None = None
    with_twins: int = 0
    findings: Mapping[str, tuple[Finding, ...]] = field(default_factory=dict)
    loss: float | None = None
    not_measured: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def measured(self) -> tuple[str, ...]:
        """The families that have a result."""
        return tuple(family.aggregator for family in self.families if family.linked is not None)

    @property
    def interval(self) -> tuple[float, float]:
        """The worst that is known of the release, as shares: of all families, and of all counted attacks."""
        if self.verdict is None:
            return 0.0, 0.0
        return float(self.verdict["low"]), float(self.verdict["high"])

    @property
    def confidence(self) -> float | None:
        """Of the upper end, where samples were searched; None where it is certain."""
        return next((each.confidence for each in self.families if each.confidence is not None), None)

    def finding(self, measure: str, key: str) -> Finding | None:
        """One number of a measure; None where it has none."""
        return next((each for each in self.findings.get(measure, ()) if each.key == key), None)

    def to_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        kept: dict[str, Any] = jsonable(self)
        return kept

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> SweepRun:
        """What `to_dict` has written; TypeError, KeyError or ValueError where it is something else."""
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
