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
from linkrisk.solver.report.content.tables.words import Json, several
from linkrisk.solver.report.content.wording import joined, of_all, table
from linkrisk.solver.report.document import Block, Choice, Headline, Items, Paragraph, Section

_TOP = fields({"cells": number, "relations": number, "suppressed": number, "protected": flag})
_CHANGED = {
    "rounding": fields({"cells": number, "relations": number, "base": number, "relaxed": flag}),
    "adjustment": fields({"cells": number, "relations": number}),
}


TITLES = {
    "suppression": "A table with suppressed cells",
    "rounding": "A rounded table",
    "adjustment": "An adjusted table",
}
"""Of the pages, by what was done."""


def for_external(given: Json) -> dict[str, Any]:
    """The JSON of a protected table with nothing but what readers outside may know."""
    kind = one_of(*TITLES)(given["protection"])
    variables = list(map(str, given["table"]["variables"]))
    if kind != "suppression":
        return {**_CHANGED[kind](given), "protection": kind, "variables": variables}
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
    if kept["protection"] == "rounding":
        said = f"Every value of this table is a multiple of {kept['base']}, and the table still adds up."
        return Headline("unknown", said, "")
    if kept["protection"] == "adjustment":
        return Headline("unknown", "Values of this table were adjusted, and the table still adds up.", "")
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
    if kept["protection"] == "rounding":
        return (_rounded(kept),)
    if kept["protection"] == "adjustment":
        return (_adjusted(kept),)
    return _done(kept), *_loss(kept)


def _of_table(kept: Json) -> str:
    by = f" by {joined(kept['variables'])}" if kept["variables"] else ""
    sums = several(kept["relations"], "sum")
    return f"{several(kept['cells'], 'cell')}{by}, totals included; {sums} hold between them."


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
    return Section("done", "What was done", _of_table(kept), blocks)


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


def _rounded(kept: Json) -> Section:
    base = kept["base"]
    near = (
        f"A value before rounding may be more than {base - 1} away from what is published."
        if kept["relaxed"]
        else f"A value before rounding is at most {base - 1} away from what is published, either way."
    )
    items = (
        near,
        "Sums were rounded together with their parts, so that they add up; a total is not nearer to its "
        "value than "
        "its parts are to theirs.",
        "Small differences between cells say nothing.",
    )
    blocks: tuple[Block, ...] = (
        Paragraph(
            f"Controlled rounding to base {base}: every cell is a multiple of it, and every sum holds."
        ),
        Items("What a reader may infer", items),
        Paragraph("This page leaves out values and changes, which would undo the rounding.", quiet=True),
    )
    return Section("done", "What was done", _of_table(kept), blocks)


def _adjusted(kept: Json) -> Section:
    items = (
        "Every cell is shown, and none says whether its value was changed. Most changes are small; values "
        "of cells "
        "that would say too much of one contributor were moved further.",
        "Sums were adjusted together with their parts, so that they add up.",
    )
    blocks: tuple[Block, ...] = (
        Paragraph("Controlled tabular adjustment: values were changed as little as protection allows."),
        Items("What a reader may infer", items),
        Paragraph("This page leaves out which cells were changed, and by how much.", quiet=True),
    )
    return Section("done", "What was done", _of_table(kept), blocks)
