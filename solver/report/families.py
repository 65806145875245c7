"""The part of the report about several families: a row for each, and one headline for all."""

from __future__ import annotations

from dataclasses import dataclass

from linkrisk.formulations.linkage.aggregators import words_of
from linkrisk.solver.report.fields import Fields
from linkrisk.solver.report.headline import Headline, headline, state
from linkrisk.solver.report.making import aggregator_title
from linkrisk.solver.run.errors import UsageError


@dataclass(frozen=True)
class FamilyRow:
    """One family: its interval and how its search ended, or the reason why there is none.

    Attributes
    ----------
    title : str
    fields : Fields or None
        Its result.
    lower, upper, seconds : float
    state : str
    reason : str
        Empty where there is a result.
    worst : bool
        Whether it is the worst of all.
    confidence : float or None
        With which `upper` holds; None where it is certain.
    """

    title: str
    fields: Fields | None
    lower: float = 0.0
    upper: float = 0.0
    seconds: float = 0.0
    state: str = ""
    reason: str = ""
    worst: bool = False
    confidence: float | None = None


def families(result: Fields) -> list[FamilyRow]:
    """Read the families of a result in their order."""
    worst, rows = result.text("worst"), []
    for at, content in enumerate(result.sequence("families")):
        if not isinstance(content, dict):
            raise UsageError(f"the result's 'families[{at}]' is not an object: give what `fit --json` wrote")
        fields = Fields(content, f"families[{at}].")
        name = fields.text("aggregator")
        if "reason" in fields:
            rows.append(FamilyRow(words_of(name).title, None, reason=fields.text("reason")))
            continue
        head = headline(fields)
        limit = None if fields.value("limit") is None else fields.text("limit")
        row = FamilyRow(
            title=aggregator_title(fields),
            fields=fields,
            lower=head.lower,
            upper=head.upper,
            seconds=fields.number("seconds"),
            state=state(fields.text("status"), limit, head.confidence),
            worst=name == worst,
            confidence=head.confidence,
        )
        rows.append(row)
    return rows


def families_headline(result: Fields, rows: list[FamilyRow]) -> Headline:
    """One interval for all families that have a result."""
    found = [row for row in rows if row.fields is not None]
    lower, upper = max(row.lower for row in found), max(row.upper for row in found)
    confidence = found[0].confidence
    proven = confidence is None and upper <= lower * (1.0 + 1e-9)
    missing = len(rows) - len(found)
    without = f" {missing} of {len(rows)} families have no result and are not covered." if missing else ""
    said = (
        "No parameters of these families link more records than the ones found."
        if proven
        else "Not every search was finished, as the table says. Both numbers hold: the worst case of these "
        "families lies between them."
    )
    if confidence is not None:
        said = (
            f"The upper number holds with {100.0 * confidence:.4g} % confidence, for all these families "
            "together: it comes from random samples."
        )
    weighted = "weighted_links" in result
    expected = result.text("ties") == "share"
    total = result.number("total_weight" if weighted else "records")
    title = "Proven" if proven else "Interval" if confidence is None else "Samples"
    return Headline(lower, upper, total, expected, proven, title, said + without, weighted, confidence)
