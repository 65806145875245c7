"""Who leaks: which attributes the worst distance goes by, and what it makes of every record and group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from linkrisk.datasets.microdata.names import group_in_words, names_in_words
from linkrisk.formulations.linkage.aggregators import words_of
from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.table import Column, Of, Table
from linkrisk.solver.documents.document import Block, Choice, Paragraph, Records, Section
from linkrisk.solver.documents.formats import count
from linkrisk.solver.documents.wording import family_heading, family_words, joined, table
from linkrisk.solver.measures.base import OF_WEIGHTS
from linkrisk.solver.report.content.drawn import drawn, drawn_or
from linkrisk.solver.report.content.results import FamilyResult, Results
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.schemas.reading import is_weighted

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


DIGITS = 4
"""Significant digits of distances: what a reader compares, and no more bytes than that takes."""

RANK_CLASSES = (1, 2, 3, 5, 10)
"""Upper ends of the classes in which ranks of the partner are counted; the last class is open."""

_COLUMNS = {
    "record": ("Record", Of.TEXT),
    "linked": ("Re-identified", Of.FLAG),
    "rank": ("Rank of partner", Of.COUNT),
    "distance": ("Distance to partner", Of.NUMBER),
    "nearest_other": ("Distance to nearest other", Of.NUMBER),
    "margin": ("Margin", Of.NUMBER),
    "ties": ("Ties", Of.COUNT),
}


def which_records(results: Results) -> Section:
    """The table of records, how partners rank, and groups."""
    title, worst = "Which records", results.worst
    if worst is None:
        return Section("which-records", title, "No distance was learned, so no record can be named.")
    lead = (
        f"What the worst distance found, the {family_words(worst.name)}, makes of every record. A record is "
        "re-identified when its own partner is nearer than every other candidate."
    )
    return Section("which-records", title, lead, tuple(_blocks(results, worst)))


def _blocks(results: Results, worst: FamilyResult) -> Iterator[Block]:
    listed = worst.content["records_table"]
    yield from drawn_or(drawn(results, "ranks"), _rank_table(listed))
    if groups := results.of_measure("records", "groups"):
        yield from drawn(results, "groups")
        yield _groups(groups)
    if left_out := listed.get("left_out"):
        yield Paragraph(
            f"{count(left_out)} records are too many to be listed here; --table FILE of fit writes them all."
        )
        return
    yield _records(results, worst, listed)


def _records(results: Results, worst: FamilyResult, listed: Json) -> Records:
    """Every record, with the parts of its distances where they are known."""
    names = [name for name in listed["columns"] if name in _COLUMNS]
    columns = [Column(name, *_COLUMNS[name]) for name in names]
    places = [listed["columns"].index(name) for name in names]
    rows = [[_short(row[place]) for place in places] for row in listed["rows"]]
    for name, title, flags in _flags(results, worst, len(rows)):
        columns.append(Column(name, title, Of.FLAG))
        for row, flag in zip(rows, flags, strict=True):
            row.append(flag)
    attack = _attack(results, worst.name)
    parts = {"partner": (), "rival": ()} if attack is None else _parts(attack, len(rows))
    named = () if attack is None or not parts["partner"] else attack["attributes"]
    attributes = tuple(names_in_words(named, worst.content.get("labels", {})))
    waterfall = _blank(attributes) if attributes else None
    return Records(Table(tuple(columns), rows), attributes, parts["partner"], parts["rival"], waterfall)


def _blank(attributes: Sequence[str]) -> Chart:
    """The chart of a record, before one is picked."""
    from linkrisk.solver.charts.records import blank

    return blank(attributes)


def _flags(results: Results, worst: FamilyResult, many: int) -> Iterator[tuple[str, str, Sequence[bool]]]:
    """Which other attacks link each record, and which records none of any family can."""
    others = {
        attack["attack"]: attack["linked"]
        for attack in results.of_measure("records", "attacks")
        if attack["attack"] != worst.name
    }
    if not others:
        for family in results.found:
            rows = family.content["records_table"]
            if family is not worst and "linked" in rows["columns"]:
                at = rows["columns"].index("linked")
                others[family.name] = [row[at] for row in rows["rows"]]
    for name, flags in others.items():
        if len(flags) == many:
            words = {"equal-weights": "equal weights", "classical-mahalanobis": "classical Mahalanobis"}
            yield f"linked_{name}", f"By {words.get(name) or family_words(name)}", flags
    never = list((results.measure("records") or {}).get("out_of_reach", {}).values())
    if never and all(len(one) == many for one in never):
        yield "never", "By no parameters of any family", [all(flags) for flags in zip(*never, strict=True)]


def _attack(results: Results, name: str) -> Json | None:
    attacks: Sequence[Json] = results.of_measure("records", "attacks")
    return next((attack for attack in attacks if attack["attack"] == name), None)


def _parts(attack: Json, many: int) -> dict[str, Sequence[Sequence[float]]]:
    """What every attribute contributes to both distances of every record; of many records nothing."""
    found: dict[str, Sequence[Sequence[float]]] = {}
    for to in ("partner", "rival"):
        rows = attack[f"to_{to}"]
        if len(rows) != many:
            return {"partner": (), "rival": ()}
        found[to] = [[] if None in row else [_short(value) for value in row] for row in rows]
    return found


def _short(value: Any) -> Any:
    """A number with the digits that a reader compares."""
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def _rank_table(listed: Json) -> Iterator[Block]:
    ranks = _ranks(listed)
    if ranks:
        columns = [("rank", "Rank of the partner", Of.TEXT), ("records", "Records", Of.COUNT)]
        yield table("How near partners are: at rank 2 one other candidate is nearer", columns, ranks)


def _ranks(listed: Json) -> list[list[Any]]:
    """How many partners stand at which rank; nothing where no rank is known."""
    if listed.get("left_out"):
        counted = Counter(dict(enumerate((number or 0 for number in listed["ranks"]), start=1)))
    elif "rank" in listed["columns"]:
        at = listed["columns"].index("rank")
        counted = Counter(row[at] for row in listed["rows"] if row[at])
    else:
        return []
    classes: Counter[int | None] = Counter()
    for rank, many in counted.items():
        classes[next((top for top in RANK_CLASSES if rank <= top), None)] += many
    rows: list[list[Any]] = []
    above = 0
    for top in RANK_CLASSES:
        rows.append([f"{top}" if top == above + 1 else f"{above + 1} to {top}", classes[top]])
        above = top
    return [*rows, [f"above {above}", classes[None]]]


def group_columns(share: str = "") -> list[tuple[str, str, Of]]:
    """The columns of a table of groups, which name their units where two are used.

    Parameters
    ----------
    share : str
        What shares are of, where records have sampling weights; else empty.
    """
    records = "Records, unweighted" if share else "Records"
    return [
        ("column", "Column", Of.TEXT),
        ("category", "Group", Of.TEXT),
        ("records", records, Of.COUNT),
        ("linked", "Re-identified records" if share else "Re-identified", Of.COUNT),
        ("share", f"Share {share}".strip(), Of.SHARE),
    ]


def _groups(groups: Sequence[Json]) -> Table:
    columns = group_columns(OF_WEIGHTS if is_weighted(groups) else "")
    columns.insert(-1, ("by_any", "By any attack", Of.COUNT))
    rows = [[*group_in_words(group), *(group[name] for name, _, _ in columns[2:])] for group in groups]
    return table("Risk by group", columns, rows)
