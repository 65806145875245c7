"""What `risk` prints: the verdict, the findings of every measure, and what has to be known."""

from __future__ import annotations

from linkrisk.solver.commands.headline import headline
from linkrisk.solver.documents.formats import count
from linkrisk.solver.measures.base import Finding, Kind, Unit, jsonable
from linkrisk.solver.measures.registry import MEASURES
from linkrisk.solver.measures.results import RiskResult
from linkrisk.solver.measures.verdict import grounds_of
from linkrisk.solver.report.short.wording import files_line
from linkrisk.solver.run.percent import percent
from linkrisk.solver.run.worst_sentence import ends_said

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
        title = MEASURES[name].heading(weighted=result.verdict.weighted)
        lines += ["", title, *(_line(finding) for finding in found.findings)]
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
    said = ends_said(
        finding.low, finding.high, _KINDS[finding.kind], lambda end: _written(end, finding.unit),
        certain=finding.kind is Kind.CERTAIN, share=finding.unit is Unit.SHARE,
    )  # fmt: skip
    return f"  {finding.words:<{_WIDTH}}{value:>9}  {said}"


def _written(value: float, unit: Unit) -> str:
    if unit is Unit.SHARE:
        return percent(value)
    if unit in (Unit.RECORDS, Unit.PERSONS):
        return count(value if unit is Unit.RECORDS else round(value))
    return f"{value:,.0f}" if abs(value) >= _MANY else f"{value:.4g}"


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."
