"""What `risk` returns: all measures of one file pair, one table of their findings, one verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pandas as pd

from linkrisk.solver.measures.base import MeasureResult, jsonable
from linkrisk.solver.measures.verdict import Verdict
from linkrisk.solver.run.plots import Plots
from linkrisk.solver.run.result import Result
from linkrisk.solver.worst_case.result import FitResult

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
        """What has to be known of the files and of the measures, each once."""
        said = [*self.details["notes"]]
        said += [note for result in self.measures.values() for note in result.notes]
        return tuple(dict.fromkeys(said))

    def content(self) -> dict[str, Any]:
        """The JSON of `risk --json` as a dictionary."""
        from linkrisk.solver.measures.registry import MEASURES

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
