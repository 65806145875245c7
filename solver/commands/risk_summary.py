"""What `risk` prints: the verdict, the findings of every measure, and what has to be known."""

from __future__ import annotations

from linkrisk.solver.commands.headline import headline
from linkrisk.solver.commands.wording import files_line
from linkrisk.solver.measures.base import Finding, Kind, Unit, jsonable
from linkrisk.solver.measures.registry import MEASURES
from linkrisk.solver.measures.results import RiskResult
from linkrisk.solver.measures.verdict import grounds_of
from linkrisk.solver.report.formats import count
from linkrisk.solver.run.percent import percent

_WIDTH = 44
_MANY = 10_000.0
"""From here on numbers are written without decimals."""

_KINDS = {Kind.CERTAIN: "for certain", Kind.CONFIDENCE: "95 %", Kind.RANGE: "range"}


def summary(result: RiskResult) -> str:
    """All of it."""
    lines = [*files_line(result.details, result.details["records"]), ""]
    lines += [_sentence(result.verdict.sentence), *grounds_of(jsonable(result.verdict))]
    lines += ["", *headline(result.worst)]
    for name, found in result.measures.items():
        lines += ["", MEASURES[name].title, *(_line(finding) for finding in found.findings)]
    left_out = [f"  {name}: {reason}" for name, reason in result.not_measured.items()]
    lines += ["", "Not measured", *left_out] if left_out else []
    notes = [f"note: {note}" for note in result.notes]
    lines += ["", *notes] if notes else []
    lines += ["", f"seed {result.details['seed']}, {result.details['seconds']:.1f} s"]
    return "\n".join(lines) + "\n"


def _line(finding: Finding) -> str:
    """One number, with the ends of its interval."""
    value = "-" if finding.value is None else _written(finding.value, finding.unit)
    if finding.kind is None:
        return f"  {finding.words:<{_WIDTH}}{value:>9}"
    if finding.high is None and finding.kind is Kind.CERTAIN:
        return f"  {finding.words:<{_WIDTH}}{value:>9}  or more, no bound in time"
    if finding.kind is Kind.CERTAIN and finding.low == finding.high == finding.value:
        return f"  {finding.words:<{_WIDTH}}{value:>9}  proven"
    ends = [_written(end, finding.unit) for end in (finding.low, finding.high) if end is not None]
    said = " to ".join(ends) if finding.high is not None else f"{ends[0]} or more"
    return f"  {finding.words:<{_WIDTH}}{value:>9}  {said}, {_KINDS[finding.kind]}"


def _written(value: float, unit: Unit) -> str:
    if unit is Unit.SHARE:
        return percent(value)
    if unit in (Unit.RECORDS, Unit.PERSONS):
        return count(value)
    return f"{value:,.0f}" if abs(value) >= _MANY else f"{value:.4g}"


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."
