"""What readers outside may know of a protected table: a list of what is kept; whatever is new is left out.

Left out are: values, levels and intervals; which of the suppressed cells are the sensitive ones, and how
many; rules and bounds; cost, bound, proof, seed and search, as a pattern that is known to be the cheapest
says that all others cost more; the name of the input. How many cells are suppressed, in all and by category,
everybody can count in the published table.
"""

from __future__ import annotations

from typing import Any

from linkrisk.solver.charts.table import Of
from linkrisk.solver.report.content.external import fields, flag, number, one_of
from linkrisk.solver.report.content.tables.outside_changed import CHANGED, of_table
from linkrisk.solver.report.content.tables.words import Json
from linkrisk.solver.report.content.wording import of_all, table
from linkrisk.solver.report.document import Block, Choice, Headline, Items, Paragraph, Section

_TOP = fields({"cells": number, "relations": number, "suppressed": number, "protected": flag})
_SUPPRESSION = "suppression"
TITLES = {_SUPPRESSION: "A table with suppressed cells", **{name: one.title for name, one in CHANGED.items()}}
"""Of the pages, by what was done."""


def for_external(given: Json) -> dict[str, Any]:
    """The JSON of a protected table with nothing but what readers outside may know."""
    kind = one_of(*TITLES)(given["protection"])
    variables = list(map(str, given["table"]["variables"]))
    if kind != _SUPPRESSION:
        return {**CHANGED[kind].keep(given), "protection": kind, "variables": variables}
    loss = given["table"]["loss"]
    return {
        **_TOP(given),
        "protection": kind,
        "variables": variables,
        "loss": {str(name): [_category(one) for one in lines] for name, lines in loss.items()},
    }


def _category(one: Json) -> list[Any]:
    return [str(one["code"]), number(one["cells"]), number(one["sensitive"] + one["secondary"])]


def outside_headline(kept: Json) -> Headline:
    """What stands at the head of the page."""
    if kept["protection"] in CHANGED:
        return Headline("unknown", CHANGED[kept["protection"]].said(kept), "")
    if not kept["protected"]:
        return Headline("above", "This table is not protected, and must not be published.", "")
    if not kept["suppressed"]:
        return Headline("below", "No cell of this table is suppressed.", "")
    said = f"{of_all(kept['suppressed'], kept['cells'])} cells of this table are suppressed."
    return Headline(
        "below",
        said,
        "An independent audit found that none of them that has to be kept secret can be "
        "computed too closely from what is published.",
    )


def outside_sections(kept: Json) -> tuple[Section, ...]:
    """What was done, what can be inferred, and what is suppressed by category."""
    if kept["protection"] in CHANGED:
        return CHANGED[kept["protection"]].sections(kept)
    return _done(kept), *_loss(kept)


def _done(kept: Json) -> Section:
    items = (
        "A cell is suppressed where its value would say too much of one of its contributors, or where it "
        "would "
        "help to compute such a cell. Nothing says which is which.",
        "What is suppressed is not missing: it is in the totals that are published.",
        "From what is published, every suppressed cell can be bounded. These bounds were computed before: "
        "none of "
        "those that have to be kept secret is tighter than the rules of this publication allow.",
        "A suppressed cell says nothing of its size. Do not replace it by 0, and do not compare categories "
        "by how "
        "many of their cells are shown.",
    )
    blocks: tuple[Block, ...] = (
        Paragraph("Cell suppression: some cells are not published, all others are, unchanged."),
        Items("What a reader may infer", items),
        Paragraph(
            "This page leaves out what would help an intruder: values, intervals, rules with their "
            "parameters, "
            "and how cells were chosen.",
            quiet=True,
        ),
    )
    return Section("done", "What was done", of_table(kept), blocks)


def _loss(kept: Json) -> tuple[Section, ...]:
    columns = [
        ("code", "Code", Of.TEXT),
        *(("cells", "Cells", Of.COUNT), ("suppressed", "Suppressed", Of.COUNT), ("share", "Share", Of.SHARE)),
    ]
    options = tuple(
        (
            name,
            (
                table(
                    f"Suppressed cells by {name}",
                    columns,
                    [[code or "(empty)", cells, gone, gone / cells] for code, cells, gone in lines],
                ),
            ),
        )
        for name, lines in kept["loss"].items()
    )
    if not options:
        return ()
    lead = "As everybody can count them in the published table."
    return (Section("loss", "Suppressed cells by category", lead, (Choice("Variable", options),)),)
