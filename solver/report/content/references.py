"""The headline numbers: every family with the state of its proof, and what little and much are here."""

from __future__ import annotations

from collections.abc import Iterator

from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.document import Block, Numbers, Paragraph, Section
from linkrisk.solver.documents.formats import count
from linkrisk.solver.documents.wording import (
    BASELINES,
    family_heading,
    family_words,
    sentence,
    sum_of_parts,
    table,
)
from linkrisk.solver.measures.base import OF_WEIGHTS
from linkrisk.solver.report.content.drawn import drawn
from linkrisk.solver.report.content.results import Results
from linkrisk.solver.report.short.risk import number_of
from linkrisk.solver.report.short.worst_case import families_table, sampled, why_not_proven

_OUT_OF_REACH = (
    "Out of reach are records that one other candidate keeps from being re-identified, whatever the "
    "parameters."
)

_FAMILIES = ("family", "low", "high", "low_share", "high_share", "lost", "state")


def worst_case(results: Results) -> Section:
    """How many at worst, beside simple attacks and references."""
    if not results.families:
        lead = "No single release was searched: each masking of the sweep has a worst case of its own, below."
        return Section("worst-case", "How many at worst", lead)
    lead = (
        "For every family of distances, what the worst one found re-identifies, and what none of the family "
        "can exceed; beside it what simple attacks get, and what chance would."
    )
    return Section("worst-case", "How many at worst", lead, tuple(_blocks(results)))


def _blocks(results: Results) -> Iterator[Block]:
    yield from drawn(results, "headline")
    unit = f", {OF_WEIGHTS}" if results.weighted else ""
    yield families_table(results, _FAMILIES, f"Worst case of every family of distances{unit}")
    # Notes, the most important first: what limits the claim, what it counts, the files and searches, words.
    yield from (Paragraph(text, quiet=True) for text in _limits(results))
    if results.weighted:
        yield from _unweighted(results)
    yield from (Paragraph(note, quiet=True) for note in results.notes)
    if any(family.content.get("lost") and family.interval.confidence is None for family in results.found):
        yield Paragraph(_OUT_OF_REACH, quiet=True)
    for measure, title in (("simple-attacks", "Simple attacks"), ("references", "References")):
        found = results.of_measure(measure, "findings")
        if found:
            yield Numbers(f"{title}{unit}", tuple(map(number_of, found)))
    if not results.of_measure("simple-attacks", "findings"):
        yield from _baselines(results, unit)


def _unweighted(results: Results) -> Iterator[Block]:
    """What the counts are, where records have sampling weights."""
    assert results.worst is not None
    content = results.worst.content
    yield Paragraph(
        "Counts are sums of sampling weights, of what records stand for. Counted as one each, "
        f"{count(content['linked'])} of {count(content['records'])} records are re-identified by the worst "
        "distance.",
        quiet=True,
    )


def _limits(results: Results) -> Iterator[str]:
    """What the ends of the intervals rest on."""
    for family in results.found:
        content, name = family.content, family_heading(family.name)
        if not family.interval.proven and family.interval.confidence is None:
            lies = "The worst case lies between the two numbers"
            lies = lies if family.interval.bounded else "No bound was found in time"
            yield f"{name}: {why_not_proven(content)}. {lies}."
        if (outer := content.get("bound_from")) is not None:
            yield f"{name}: its bound is that of the {family_words(outer)}, which contains it."
        if "sampling" in content:
            yield from (f"{name}: {said}." for said in sampled(family))
        if (parts := content.get("parts")) is not None:
            said = sum_of_parts({key: int(parts[key]) for key in ("parts", "largest", "proven")})
            yield f"{name}: {said}."
        if (margin := content.get("margin")) is not None:
            yield f"{name}: the bound holds up to a margin of {margin:g}; smaller differences count as ties."
        if content.get("ties") == "share":
            yield "Candidates that equal the partner throughout share its link: numbers are expected ones."


def _baselines(results: Results, unit: str) -> Iterator[Block]:
    """The two attacks that every fit has counted."""
    worst = results.worst
    baselines = {} if worst is None else worst.content.get("baselines") or {}
    rows = [
        [sentence(BASELINES[name]), linked, None if linked is None else linked / worst.interval.total]
        for name, linked in baselines.items()
        if worst is not None
    ]
    if rows:
        columns = [
            ("attack", "Attack", Of.TEXT),
            ("linked", "Re-identified", Of.COUNT),
            ("share", "Share", Of.SHARE),
        ]
        yield table(f"Simple attacks, which learn nothing{unit}", columns, rows)
