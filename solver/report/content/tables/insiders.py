"""What those find who know more than outsiders: contributors, singletons, coalitions."""

from __future__ import annotations

from collections.abc import Sequence

from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.document import Block, Paragraph
from linkrisk.solver.report.content.tables.words import Attacked, Json, several
from linkrisk.solver.report.content.wording import table
from linkrisk.solver.run.from_whom import AS_FAR

MOST_LISTED = 2_000
"""Cells in a table of the page."""


_WHO = {
    "singletons": "Respondents who are alone in a cell",
    "contributors": "Every respondent, who knows its own contributions",
    "listed": "Those who are listed as knowing more",
    "coalitions": "Coalitions, whose members tell one another everything",
}


def from_whom(given: Json) -> Block:
    """Who attacks, who was looked at, and whether the sensitive cells are protected from them."""
    outside = "no" if given["under_protected"] or given["undecided"] else "yes"
    rows = [["Outsiders, who know what is published", outside]]
    known, found = given["from"], given.get("insiders")
    inside = "there are none" if found is None else "yes" if found["protected"] else "no"
    if found is not None and found["protected"] and known["in_part"]:
        inside = AS_FAR
    rows += [
        [words, inside if kind in known["who"] else _not_looked_at(kind, given)]
        for kind, words in _WHO.items()
        if kind != "singletons" or "contributors" not in known["who"]
    ]
    return table("From whom", [("who", "Attackers", Of.TEXT), ("safe", "Protected", Of.TEXT)], rows)


def _not_looked_at(kind: str, given: Json) -> str:
    why = given["from"]["left_out"] if kind == "singletons" else None
    return "not looked at" if why is None else f"not looked at: {why}"


def insiders_find(given: Json, cells: Sequence[Attacked]) -> tuple[Block, ...]:
    """Cells that are not protected from an insider, and the narrowest intervals; nothing without insiders.

    Parameters
    ----------
    given : mapping
        With ``insiders``, where there are any.
    cells : sequence of Attacked
        In the order of the page.
    """
    found = given.get("insiders")
    if found is None:
        return ()
    names = {one.cell: one.name for one in cells}
    blocks: list[Block] = []
    if found["under_protected"]:
        columns = [
            ("cell", "Cell", Of.TEXT),
            *(("short", "Short by", Of.NUMBER), ("attacker", "Of whom", Of.TEXT)),
        ]
        lines = zip(found["under_protected"], found["short_by"], found["short_of"], strict=True)
        rows = [[names.get(cell, f"cell {cell}"), by, who] for cell, by, who in lines]
        blocks.append(table("Cells that an insider finds too closely", columns, rows[:MOST_LISTED]))
    narrowest = {one["cell"]: one for one in found["narrowest"]}
    shown = [one for one in cells if one.status == "u" and one.cell in narrowest][:MOST_LISTED]
    if shown:
        columns = [
            *(("cell", "Cell", Of.TEXT), ("value", "Value", Of.NUMBER)),
            *(("low", "Low", Of.NUMBER), ("high", "High", Of.NUMBER), ("attacker", "Found by", Of.TEXT)),
        ]
        rows = [
            [one.name, one.value, *(narrowest[one.cell][name] for name in ("low", "high", "attacker"))]
            for one in shown
        ]
        blocks.append(
            table("The narrowest interval that anybody finds of each sensitive cell", columns, rows)
        )
    if found["unreachable"]:
        many = several(len(found["unreachable"]), "level")
        text = (
            f"{many} cannot be reached whatever is suppressed, because of what an insider knows of their "
            f"own cells; "
            "as much was asked for as can be."
        )
        blocks.append(Paragraph(text))
    return tuple(blocks)
