"""The headline numbers: every family with the state of its proof, and what little and much are here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.document import Block, Numbers, Paragraph, Section
from linkrisk.solver.documents.formats import count
from linkrisk.solver.measures.base import OF_WEIGHTS
from linkrisk.solver.report.content.meanings import meaning_of
from linkrisk.solver.report.content.results import Json, Results
from linkrisk.solver.report.content.wording import (
    drawn,
    family_heading,
    family_words,
    number_of,
    proof,
    table,
)
from linkrisk.solver.report.words import sum_of_parts

_OUT_OF_REACH = (
    "Out of reach are records that one other candidate keeps from being re-identified, whatever the "
    "parameters."
)

_FAMILIES = [
    ("family", "Family of distances", Of.TEXT),
    ("low", "Re-identified", Of.COUNT),
    ("high", "At most", Of.COUNT),
    ("low_share", "Share", Of.SHARE),
    ("high_share", "At most, share", Of.SHARE),
    ("lost", "Out of reach, records", Of.COUNT),
    ("state", "State", Of.TEXT),
]


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
    yield table(f"Worst case of every family of distances{unit}", _FAMILIES, list(_families(results)))
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
            lines = [
                number_of(one, one.get("words") or meaning_of(one["key"]).words, meaning_of(one["key"]).says)
                for one in found
            ]
            yield Numbers(f"{title}{unit}", tuple(lines))
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


def _families(results: Results) -> Iterator[list[Any]]:
    for family in results.families:
        heading = family_heading(family.name)
        if family.reason is not None:
            yield [heading, None, None, None, None, None, f"no result: {family.reason}"]
            continue
        interval = family.interval
        lost = None if interval.confidence is not None else family.content.get("lost")
        low, high = (round(end) if results.weighted else end for end in (interval.low, interval.high))
        if not interval.bounded:
            yield [heading, low, None, interval.shares[0], None, lost, f"no bound in time, {proof(family)}"]
            continue
        yield [heading, low, high, *interval.shares, lost, proof(family)]


def _limits(results: Results) -> Iterator[str]:
    """What the ends of the intervals rest on."""
    for family in results.found:
        content, name = family.content, family_heading(family.name)
        if not family.interval.proven and family.interval.confidence is None:
            lies = "The worst case lies between the two numbers"
            lies = lies if family.interval.bounded else "No bound was found in time"
            yield f"{name}: {_why_open(content)}. {lies}."
        if (outer := content.get("bound_from")) is not None:
            yield f"{name}: its bound is that of the {family_words(outer)}, which contains it."
        if (sampling := content.get("sampling")) is not None:
            yield _sampled(sampling)
        if (parts := content.get("parts")) is not None:
            said = sum_of_parts({key: int(parts[key]) for key in ("parts", "largest", "proven")})
            yield f"{name}: {said}."
        if (margin := content.get("margin")) is not None:
            yield f"{name}: the bound holds up to a margin of {margin:g}; smaller differences count as ties."
        if content.get("ties") == "share":
            yield "Candidates that equal the partner throughout share its link: numbers are expected ones."


_LIMITS = {
    "time": "the time limit was reached before attack and bound met",
    "work": "the work limit was reached before attack and bound met",
    "memory": "memory ran out before attack and bound met",
    "ties": "differences that count as ties keep attack and bound apart",
}


def _why_open(content: Json) -> str:
    """Why a search has ended before its interval was closed."""
    if content["status"] == "no_solution":
        return "no parameters were found to count with"
    if content["status"] == "interrupted" or content.get("limit") == "user":
        return "it was stopped by the user"
    return _LIMITS.get(content.get("limit") or "", "the engine stopped before attack and bound met")


def _sampled(sampling: Json) -> str:
    """What the limit rests on, and how far the attack was counted."""
    sample, counted = sampling["sample"], sampling["counted"]
    seen = "on all records" if counted["all"] else f"on {count(counted['records'])} records"
    return (
        f"What is re-identified was counted {seen}. What none exceeds comes from {count(sample['samples'])} "
        f"random samples, of whose {count(sample['records'])} records no parameters link more than "
        f"{count(sample['linked_upper_bound'])}."
    )


_BASELINES = {"euclid": "Equal weights", "mahalanobis": "Classical Mahalanobis distance"}


def _baselines(results: Results, unit: str) -> Iterator[Block]:
    """The two attacks that every fit has counted."""
    worst = results.worst
    baselines = {} if worst is None else worst.content.get("baselines") or {}
    rows = [
        [_BASELINES.get(name, name), linked, None if linked is None else linked / worst.interval.total]
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
