"""Sections of a report about attributes, records and groups that the worst distance re-identifies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from linkrisk.datasets.microdata.names import names_in_words
from linkrisk.solver.charts.chart import Column, Of, Table
from linkrisk.solver.documents.document import Block, Choice, Paragraph, Records
from linkrisk.solver.documents.wording import (
    count,
    counts,
    family_heading,
    family_words,
    joined,
    shares,
    table,
    texts,
)
from linkrisk.solver.report.results import FamilyResult, Results
from linkrisk.solver.schemas.keys import Json

DIGITS = 4
"""Significant digits of distances: what a reader compares, and no more bytes than that takes."""

RANK_CLASSES = {"1": 1, "2": 2, "3": 3, "4 to 5": 5, "6 to 10": 10}
"""Upper ends of the classes in which ranks of the partner are counted; one more is open."""

_COLUMNS = {
    "record": ("Record", Of.TEXT),
    "linked": ("Re-identified", Of.FLAG),
    "rank": ("Rank of partner", Of.COUNT),
    "distance": ("Distance to partner", Of.NUMBER),
    "nearest_other": ("Distance to nearest other", Of.NUMBER),
    "margin": ("Margin", Of.NUMBER),
    "ties": ("Ties", Of.COUNT),
}


def who_leaks(results: Results) -> Iterator[str | Block]:
    """Weights with ranges, interactions, matrices, and the fall when an attribute is withheld."""
    if not results.found:
        return
    yield (
        "What the worst distance goes by. A range says how far a weight may move while the same records stay "
        "re-identified: one that includes 0 need not leak."
    )
    options = tuple((family_heading(one.name), tuple(_family(results, one))) for one in results.found)
    yield Choice("Family of distances", options)
    for note in results.of_measure("attributes", "notes"):
        yield Paragraph(note.removeprefix("attributes: "), quiet=True)


def _family(results: Results, family: FamilyResult) -> Iterator[Block]:
    if not family.interval.low:
        yield Paragraph("No record is re-identified, so that the parameters are arbitrary.")
    yield from results.shown("weights", "shapley", family=family.name)
    if breaking := family.content.get("tie_breaking"):
        owners = [str(one) for value in breaking.values() if isinstance(value, list) for one in value]
        left, found = breaking["linked_without"], count(family.content["linked"])
        counted = f"Without it, {count(left)} records are re-identified instead of {found}."
        counted = "There was no time to count without it." if left is None else counted
        yield Paragraph(f"What looks like 0 and breaks ties: {joined(owners)}. {counted}", quiet=True)
    yield from results.shown("withheld", "interactions", "matrix", family=family.name)
    for one in results.of_measure("attributes", "families"):
        if one["aggregator"] == family.name and one["directions"]:
            columns = [*shares(share="Share of the form"), *texts(words="Sum of differences")]
            caption = "The sums of differences whose squares the distance adds up"
            yield table(caption, columns, one["directions"])


def which_records(results: Results) -> Iterator[str | Block]:
    """The table of records, how partners rank, and groups."""
    if (worst := results.worst) is None:
        return
    yield (
        f"What the worst distance found, the {family_words(worst.name)}, makes of every record. A record is "
        "re-identified when its own partner is nearer than every other candidate."
    )
    listed = worst.content["records_table"]
    yield from [*results.drawn("ranks")] or _ranks(listed)
    yield from results.shown("groups")
    if left_out := listed.get("left_out"):
        yield Paragraph(
            f"{count(left_out)} records are too many to be listed here; --table FILE of fit writes them all."
        )
    else:
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
    shown = Records(Table(tuple(columns), rows))
    attacks = results.of_measure("records", "attacks")
    attack: Json = next((one for one in attacks if one["attack"] == worst.name), {})
    partner, rival = (attack.get(f"to_{to}", ()) for to in ("partner", "rival"))
    if not rows or not len(partner) == len(rival) == len(rows):
        return shown  # of many records they are not kept
    from linkrisk.solver.charts.records import blank  # the chart of a record, before one is picked

    attributes = tuple(names_in_words(attack["attributes"], worst.content.get("labels", {})))
    return replace(
        shown,
        attributes=attributes,
        partner=_parts(partner),
        rival=_parts(rival),
        waterfall=blank(attributes),
    )


def _flags(results: Results, worst: FamilyResult, many: int) -> Iterator[tuple[str, str, Sequence[bool]]]:
    """Which other attacks link each record, and which records none of any family can."""
    attacks = {one["attack"]: one["linked"] for one in results.of_measure("records", "attacks")}
    others = {name: flags for name, flags in attacks.items() if name != worst.name}
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
    never = list((results.measures.get("records", {}).get("out_of_reach") or {}).values())
    if never and all(len(one) == many for one in never):
        yield "never", "By no parameters of any family", [all(flags) for flags in zip(*never, strict=True)]


def _parts(rows: Sequence[Sequence[float | None]]) -> list[list[Any]]:
    """What every attribute contributes to a distance of every record."""
    return [[] if None in row else list(map(_short, row)) for row in rows]


def _short(value: Any) -> Any:
    """A number with the digits that a reader compares."""
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def _ranks(listed: Json) -> Iterator[Block]:
    """Count partners by rank, where ranks are known."""
    if listed.get("left_out"):
        ranks = Counter({rank: many or 0 for rank, many in enumerate(listed["ranks"], start=1)})
    elif "rank" in listed["columns"]:
        at = listed["columns"].index("rank")
        ranks = Counter(row[at] for row in listed["rows"] if row[at])
    else:
        return
    last = f"above {max(RANK_CLASSES.values())}"
    classes = dict.fromkeys((*RANK_CLASSES, last), 0)
    for rank, many in ranks.items():
        classes[next((name for name, top in RANK_CLASSES.items() if rank <= top), last)] += many
    columns = [*texts(rank="Rank of the partner"), *counts(records="Records")]
    caption = "How near partners are: at rank 2 one other candidate is nearer"
    yield table(caption, columns, list(map(list, classes.items())))


def group_columns(share: str) -> list[tuple[str, str, Of]]:
    """The columns of a table of groups, which name their units where two are used.

    `share`: what shares are of, where records have sampling weights; else empty.
    """
    records, linked = (
        ("Records, unweighted", "Re-identified records") if share else ("Records", "Re-identified")
    )
    return [
        *texts(column="Column", category="Group"),
        *counts(records=records, linked=linked),
        *shares(share=f"Share {share}".strip()),
    ]
