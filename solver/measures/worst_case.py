"""Report the certified worst case of every family of distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pandas as pd

from linkrisk.errors import called
from linkrisk.solver.measures.base import OF_WEIGHTS, Finding, Kind, Measure, MeasureResult
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.measures.verdict import kinds
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.number_format import percent
from linkrisk.solver.schemas.intervals import meets, says_more
from linkrisk.solver.worst_case.result import Family


@dataclass(frozen=True)
class FamilyRisk:
    """The worst case of one family."""

    aggregator: str
    linked: float | None  # what the learned distance links; None where the family has no result
    most: float | None  # no parameters of the family link more
    proven: bool  # whether the two meet
    confidence: float | None  # of `most`, where samples were searched; None where it is certain
    reason: str | None  # why there is no result

    def bounded(self, total: float) -> bool:
        """Whether there is a non-trivial bound."""
        if self.most is None or self.linked is None:
            return False
        return self.proven or says_more(self.linked, self.most, total)

    @classmethod
    def of(cls, family: Family) -> FamilyRisk:
        """Convert the result of a fit."""
        result = family.result
        if result is None:
            return cls(family.aggregator, None, None, False, None, family.reason)
        return cls(family.aggregator, *result.interval, result.proven, result.confidence, None)


@dataclass(frozen=True, eq=False, repr=False)
class WorstCaseRisk(MeasureResult):
    """Worst-case re-identification by distance-based record linkage, family by family."""

    measure: ClassVar[str] = "worst-case"
    total: float  # what all numbers are part of: records, or the sum of their sampling weights
    families: tuple[FamilyRisk, ...]  # more links are worse
    with_twins: int = 0  # not linked as others are identical to the partner

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Report the interval of every family, as shares."""
        return tuple(self._finding(family) for family in self.families if family.linked is not None)

    def _finding(self, family: FamilyRisk) -> Finding:
        assert family.linked is not None
        assert family.most is not None
        low = family.linked / self.total
        high = family.most / self.total if family.bounded(self.total) else None
        kind = Kind.CERTAIN if family.confidence is None else Kind.CONFIDENCE
        key = f"worst_case_{family.aggregator.replace('-', '_')}"
        return Finding(key, f"worst case, {family.aggregator}", low, low=low, high=high, kind=kind)

    @property
    def paragraph(self) -> str:
        """Report the worst family, and the bound on all."""
        found = [family for family in self.families if family.linked is not None]
        worst = max(found, key=lambda family: family.linked or 0.0)
        least = worst.linked or 0.0
        text = f"the worst distance found ({worst.aggregator}) re-identifies {percent(least / self.total)}"
        bounded = [family for family in found if family.bounded(self.total)]
        if not bounded:
            return f"{text}; no bound was found in time."
        most = max(least, *(family.most or 0.0 for family in bounded))
        proven = meets(least, most) and all(family.proven for family in bounded)
        more = "more" if proven else f"more than {percent(most / self.total)}"
        return f"{text}, and {kinds([family.aggregator for family in bounded])} re-identifies {more}."

    @property
    def notes(self) -> tuple[str, ...]:
        """Note whether the strict tie rule excludes links by chance."""
        if not self.with_twins:
            return ()
        return (
            f"worst case: {self.with_twins:,} records are nearest to several identical records, and so not "
            f"counted; {called('ties', 'share')} counts each with its chance",
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per family: aggregator, linked, most, proven, confidence, reason."""
        return pd.DataFrame([vars(family) for family in self.families])


class WorstCase(Measure):
    """Reports the results of `fit --aggregator all`."""

    name: ClassVar[str] = "worst-case"
    title: ClassVar[str] = "Worst case, with a bound"
    unit: ClassVar[str] = OF_WEIGHTS
    cost: ClassVar[float] = 0.0  # its searches have a share of their own

    def take(self, task: RiskTask, clock: Clock) -> WorstCaseRisk:
        """Return the worst cases, which were searched before all measures."""
        del clock
        tied = task.worst.worst.details.get("tied", {})
        families = tuple(FamilyRisk.of(family) for family in task.worst.families)
        return WorstCaseRisk(task.total, families, int(tied.get("with_twins", 0)))
