"""What is said of `verify` in short: what is proved, in the words that the result has for it."""

from __future__ import annotations

from linkrisk.solver.documents.document import Document, Headline
from linkrisk.solver.documents.short import short
from linkrisk.solver.report.content.results import FamilyResult
from linkrisk.solver.report.short.wording import Json
from linkrisk.solver.run.counts import several
from linkrisk.solver.run.results import WEIGHTED, objective
from linkrisk.solver.run.worst_sentence import shares_of, worst_sentence


def verification(result: Json) -> Document:
    """Of the JSON of `verify`: of a fit, of several, or of a table."""
    if (parts := result.get("certificates")) is not None:
        verified = sum(one["verified"] for one in parts.values())
        said = f"verified: {verified} of {several(len(parts), 'family', 'families')}"
        return short(said=said, asked=[line for one in parts.values() for line in one["said"]])
    if "seconds" not in result:
        return short(said=_answer(result), asked=result["said"])
    return short(said=_of_fit(result), asked=result["said"])


def _answer(result: Json) -> str:
    return "Verified." if result["verified"] else f"Rejected: {result['rejected']}"


def _of_fit(result: Json) -> Headline:
    """Whether the certificate proves what the fit claims, and the worst case that it proves."""
    proved = result["proved"]
    if proved is None:
        return Headline("unknown", _answer(result))
    interval = FamilyResult(proved["aggregator"], proved).interval
    ends = interval.low, interval.high, interval.total
    said = worst_sentence(*ends, weighted=objective(proved) == WEIGHTED)
    return Headline("unknown", _answer(result), f"Proved: {said}", bar=shares_of(*ends))
