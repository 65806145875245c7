"""The headline numbers: every family with the state of its proof, and what little and much are here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from linkrisk.solver.charts.table import Of
from linkrisk.solver.report.content.meanings import meaning_of
from linkrisk.solver.report.content.results import Results
from linkrisk.solver.report.content.wording import family_heading, number_of, proof, table
from linkrisk.solver.report.document import Block, Numbers, Paragraph, Section

_FAMILIES = [
    ("family", "Family of distances", Of.TEXT),
    ("low", "Re-identified", Of.COUNT),
    ("high", "At most", Of.COUNT),
    ("low_share", "Share", Of.SHARE),
    ("high_share", "At most, share", Of.SHARE),
    ("state", "State", Of.TEXT),
]


def worst_case(results: Results) -> Section:
    """How many at worst, beside simple attacks and references."""
    if not results.families:
        lead = "No single release was searched: each masking of the sweep has a worst case of its own, below."
        return Section("worst-case", "How many at worst", lead)
    lead = (
        "For every family of distances, what the worst one found re-identifies, and what none of the family can "
        "exceed; beside it what simple attacks get, and what chance would."
    )
    return Section("worst-case", "How many at worst", lead, tuple(_blocks(results)))


def _blocks(results: Results) -> Iterator[Block]:
    yield table("Worst case of every family of distances", _FAMILIES, list(_families(results)))
    if results.weighted:
        yield Paragraph("Counts are sums of sampling weights: what records stand for.", quiet=True)
    for measure, title in (("simple-attacks", "Simple attacks"), ("references", "References")):
        found = results.of_measure(measure, "findings")
        if found:
            lines = [
                number_of(one, one.get("words") or meaning_of(one["key"]).words, meaning_of(one["key"]).says)
                for one in found
            ]
            yield Numbers(title, tuple(lines))
    if not results.of_measure("simple-attacks", "findings"):
        yield from _baselines(results)
    yield from (Paragraph(note, quiet=True) for note in results.notes)


def _families(results: Results) -> Iterator[list[Any]]:
    for family in results.families:
        heading = family_heading(family.name)
        if family.reason is not None:
            yield [heading, None, None, None, None, f"no result: {family.reason}"]
            continue
        interval = family.interval
        yield [heading, interval.low, interval.high, *interval.shares, proof(family)]


_BASELINES = {"euclid": "Equal weights", "mahalanobis": "Classical Mahalanobis distance"}


def _baselines(results: Results) -> Iterator[Block]:
    """The two attacks that every fit has counted."""
    worst = results.worst
    baselines = {} if worst is None else worst.content.get("baselines") or {}
    rows = [
        [_BASELINES.get(name, name), linked, None if linked is None else linked / worst.content["records"]]
        for name, linked in baselines.items()
        if worst is not None
    ]
    if rows:
        columns = [("attack", "Attack", Of.TEXT), ("linked", "Re-identified", Of.COUNT), ("share", "Share", Of.SHARE)]
        yield table("Simple attacks, which learn nothing", columns, rows)
