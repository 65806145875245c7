"""Which records: every record under the worst distance, what its distance is made of, and risk by group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from linkrisk.datasets.microdata.names import group_in_words, names_in_words
from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.reading import is_weighted
from linkrisk.solver.charts.table import Column, Of, Table
from linkrisk.solver.documents.document import Block, Paragraph, Records, Section
from linkrisk.solver.documents.formats import count
from linkrisk.solver.measures.base import OF_WEIGHTS
from linkrisk.solver.report.content.drawn import drawn, drawn_or
from linkrisk.solver.report.content.results import FamilyResult, Json, Results
from linkrisk.solver.report.short.wording import family_words, table

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
    from linkrisk.solver.charts.waterfall import blank

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
