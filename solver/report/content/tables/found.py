"""What attackers find: intervals as a picture and a table, cells that are short, cells known exactly."""

from __future__ import annotations

from linkrisk.solver.charts.intervals import Reach, intervals
from linkrisk.solver.charts.table import Of, Table
from linkrisk.solver.documents.document import Block, Number, Numbers, Paragraph, Section
from linkrisk.solver.documents.formats import count
from linkrisk.solver.report.content.tables.insiders import from_whom, insiders_find
from linkrisk.solver.report.content.tables.shown import levels
from linkrisk.solver.report.content.tables.words import Attacked, Json, attacked, exactly
from linkrisk.solver.report.content.wording import joined, table
from linkrisk.solver.run.percent import percent

MOST_LISTED = 2_000
"""Suppressed cells in a table of the page; the file of `--internal` has all."""

_COLUMNS = [
    ("cell", "Cell", Of.TEXT),
    *((name, name.capitalize(), Of.NUMBER) for name in ("value", "low", "high")),
]
_LEVELS = [
    ("levels", "Must remain possible", Of.TEXT),
    ("reached", "Of its level", Of.SHARE),
    ("short", "Short by", Of.NUMBER),
]


def what_attackers_find(given: Json) -> Section:
    """The interval of each suppressed cell, the worst first."""
    found = attacked(given)
    sensitive = [one for one in found if one.status == "u"]
    if not found:
        return Section(
            "intervals", "Intervals", "No cell is suppressed, so that there is nothing to find out."
        )
    lead = "What an outsider, who knows all published cells and relations, finds of each suppressed cell."
    blocks: list[Block] = []
    if sensitive:
        blocks.append(
            intervals([_reach(one) for one in sensitive], _listed(sensitive, "Sensitive cells", asked=True))
        )
    rest = [one for one in found if one.status != "u"]
    if rest:
        blocks.append(_listed(rest, "Cells suppressed with them", asked=False))
    if max(len(sensitive), len(rest)) > MOST_LISTED:
        text = (
            f"Of each kind the first {MOST_LISTED:,} cells are listed, those that reach least of their level."
        )
        blocks.append(Paragraph(text, quiet=True))
    return Section("intervals", "Intervals", lead, tuple(blocks))


def _listed(lines: list[Attacked], caption: str, *, asked: bool) -> Table:
    """Cells with their intervals; with their levels, too, where they are `asked` for."""
    rows = [
        [
            one.name,
            *(one.value, one.low, one.high),
            *((levels(one), one.share, one.short) if asked else ()),
        ]
        for one in lines[:MOST_LISTED]
    ]
    return table(caption, [*_COLUMNS, *(_LEVELS if asked else [])], rows)


def _reach(one: Attacked) -> Reach:
    below, above = max(one.value - one.low, 0.0), max(one.high - one.value, 0.0)
    short = f", short by {exactly(one.short)}" if one.short > 0 else ""
    return Reach(
        one.name,
        below,
        above,
        one.lower_level,
        one.upper_level,
        one.sliding_level,
        f"{one.interval}{short}",
        one.unsafe,
    )


def audited(given: Json) -> Section:
    """What the audit found, in short."""
    found = attacked(given)
    sensitive = [one for one in found if one.status == "u"]
    short = [one for one in sensitive if one.short > 0]
    undecided = [one for one in sensitive if one.undecided]
    exact = [one for one in found if one.exact]
    lead = (
        "Counted by code that knows values, relations and bounds, and nothing of how cells were chosen: two "
        "linear programs for each suppressed cell"
        + ("; what whole numbers say besides is looked for in these." if given.get("counts") else ".")
    )
    lines = [
        Number("Sensitive cells", count(given["sensitive"])),
        Number("Not protected", count(len(short)), meaning=_named(short)),
        *(
            [Number("Not known whether they are", count(len(undecided)), meaning=_named(undecided))]
            if undecided
            else []
        ),
        Number(
            "Suppressed cells that are known exactly",
            count(len(exact)),
            meaning=_named(exact) or "Every suppressed cell has several possible values.",
        ),
    ]
    if sensitive:
        worst = sensitive[0]
        reached = "" if worst.share == float("inf") else f", {percent(worst.share)} of its level"
        lines.append(Number("Nearest to its level", worst.name, meaning=f"{worst.interval}{reached}"))
    blocks = (Numbers("", tuple(lines)), from_whom(given), *insiders_find(given, found))
    return Section("audit", "What the audit found", lead, blocks)


def _named(lines: list[Attacked]) -> str:
    return joined([one.name for one in lines]) if lines else ""
