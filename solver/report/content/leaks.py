"""Who leaks: what the worst distance of every family goes by, and what withholding an attribute brings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from linkrisk.formulations.linkage.aggregators import words_of
from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.document import Block, Choice, Paragraph, Section
from linkrisk.solver.documents.formats import count
from linkrisk.solver.report.content.drawn import drawn, drawn_or
from linkrisk.solver.report.content.results import FamilyResult, Json, Results
from linkrisk.solver.report.short.wording import family_heading, joined, table

FAMILY = "Family of distances"


def who_leaks(results: Results) -> Section:
    """Weights with ranges, interactions, matrices, and the fall when an attribute is withheld."""
    title = "Which attributes leak"
    if not results.found:
        return Section("who-leaks", title, "No distance was learned, so nothing can be said of attributes.")
    lead = (
        "What the worst distance goes by. A range says how far a weight may move while the same records stay "
        "re-identified: one that includes 0 need not leak."
    )
    measured = {one["aggregator"]: one for one in results.of_measure("attributes", "families")}
    options = tuple(
        (family_heading(family.name), tuple(_family(results, family, measured.get(family.name))))
        for family in results.found
    )
    notes = (results.measure("attributes") or {}).get("notes", ())
    unfinished = (Paragraph(note.removeprefix("attributes: "), quiet=True) for note in notes)
    return Section("who-leaks", title, lead, (Choice(FAMILY, options), *unfinished))


def _family(results: Results, family: FamilyResult, measured: Json | None) -> Iterator[Block]:
    if not family.interval.low:
        yield Paragraph("No record is re-identified, so that the parameters are arbitrary.")
    charts = (_owned(chart, family) for chart in drawn(results, "weights", "shapley", family=family.name))
    yield from drawn_or(charts, _importance(family, measured))
    yield from _breaking(family)
    yield from drawn(results, "withheld", family=family.name)
    yield from _withheld(results, family)
    names, parameters = family.content["attributes"], family.content["parameters"] or {}
    for name, found, caption in (
        ("interactions", family.content.get("interaction"), "Interaction of pairs"),
        ("matrix", parameters.get("matrix"), "Matrix of the distance"),
    ):
        yield from drawn_or(drawn(results, name, family=family.name), _square(names, found, caption))
    yield from _directions(measured)


def _owned(chart: Chart, family: FamilyResult) -> Chart:
    """The chart with the family's own words above the numbers behind it."""
    words, (owner, value, *rest) = words_of(family.name), chart.table.columns
    columns = replace(owner, title=words.owner), replace(value, title=words.column), *rest
    return replace(chart, table=replace(chart.table, columns=columns))


def _importance(family: FamilyResult, measured: Json | None) -> Iterator[Block]:
    """Weights or Shapley values, with the ranges that keep the same records linked."""
    words = words_of(family.name)
    if measured is not None:
        ends = (measured[name] for name in ("owners", "importance", "low", "high"))
        rows = [list(row) for row in zip(*ends, strict=True)]
    else:
        importance = (
            family.content.get("importance") or (family.content["parameters"] or {}).get("weights") or {}
        )
        rows = [[name, value, None, None] for name, value in importance.items()]
    if not rows:
        return
    known = any(row[2] is not None for row in rows)
    columns = [
        ("owner", words.owner, Of.TEXT),
        ("importance", words.column, Of.NUMBER),
        *([("low", "At least", Of.NUMBER), ("high", "At most", Of.NUMBER)] if known else []),
    ]
    yield table(
        f"{words.numbers[:1].upper()}{words.numbers[1:]}", columns, [row[: len(columns)] for row in rows]
    )


def _breaking(family: FamilyResult) -> Iterator[Block]:
    breaking = family.content.get("tie_breaking")
    if not breaking:
        return
    owners = [str(one) for value in breaking.values() if isinstance(value, list) for one in value]
    left, found = breaking["linked_without"], count(family.content["linked"])
    counted = (
        "There was no time to count without it."
        if left is None
        else f"Without it, {count(left)} records are re-identified instead of {found}."
    )
    yield Paragraph(f"What looks like 0 and breaks ties: {joined(owners)}. {counted}", quiet=True)


def _withheld(results: Results, family: FamilyResult) -> Iterator[Block]:
    rows = [row for row in results.of_measure("attributes", "withheld") if row["aggregator"] == family.name]
    if not rows:
        return
    total = family.interval.total
    columns = [
        ("attribute", "Attribute", Of.TEXT),
        ("linked", "Re-identified without it", Of.COUNT),
        ("most", "At most", Of.COUNT),
        ("fall_low", "Falls at least by", Of.POINTS),
        ("fall_high", "Falls at most by", Of.POINTS),
    ]
    cells = [
        [
            *(row[name] for name in ("attribute", "linked", "most")),
            *(None if row[name] is None else row[name] / total for name in ("fall_low", "fall_high")),
        ]
        for row in sorted(rows, key=lambda row: (row["most"] is None, row["most"] or 0.0, row["linked"]))
    ]
    yield table("What remains when an attribute is withheld: the largest help first", columns, cells)
    if any(None in line for line in cells):
        yield Paragraph("Where an end is left out, no bound was found in time.", quiet=True)


def _square(names: Sequence[str], matrix: Sequence[Sequence[float]] | None, caption: str) -> Iterator[Block]:
    """A symmetric matrix of attributes."""
    if not matrix:
        return
    columns = [("attribute", "Attribute", Of.TEXT), *((name, name, Of.NUMBER) for name in names)]
    yield table(caption, columns, [[name, *row] for name, row in zip(names, matrix, strict=True)])


def _directions(measured: Json | None) -> Iterator[Block]:
    if not measured or not measured["directions"]:
        return
    columns = [("share", "Share of the form", Of.SHARE), ("words", "Sum of differences", Of.TEXT)]
    yield table("The sums of differences whose squares the distance adds up", columns, measured["directions"])
