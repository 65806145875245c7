"""Words that the page, the document and printed summaries share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linkrisk.formulations.linkage.aggregators import words_of
from linkrisk.solver.documents.formats import count


def family_title(details: Mapping[str, Any]) -> str:
    """The family of distances in words, with what restricts it."""
    k = details["aggregator_options"].get("k_additive")
    return words_of(str(details["aggregator"])).title + (f", {k}-additive" if k else "")


def state(
    status: str, limit: str | None, confidence: float | None = None, bound_from: str | None = None
) -> str:
    """How a search ended, in a word or two; of samples, how sure their limit is; and whose bound it has."""
    said = _ended(status, limit, confidence)
    return said if bound_from is None else f"{said}, bound of the {words_of(bound_from).title}"


def _ended(status: str, limit: str | None, confidence: float | None) -> str:
    if confidence is not None:
        return f"{100.0 * confidence:.4g} % confidence"
    if status == "optimal":
        return "proven"
    if status == "interrupted" or limit == "user":
        return "stopped"
    said = {"time": "time limit", "work": "work limit", "memory": "memory limit", "ties": "ties"}
    return said.get(limit or "", "open")


def sum_of_parts(parts: Mapping[str, int]) -> str:
    """What a bound is the sum of."""
    many, largest, closed = (count(parts[key]) for key in ("parts", "largest", "proven"))
    if parts["parts"] == 1:
        return f"the bound is that of one part, the {largest} records that are not out of reach"
    return f"the bound is the sum over {many} parts of at most {largest} records, {closed} of them closed"
