"""What readers outside may know of a protected table: what its schema marks; what is new is left out.

Kept are the table as it is published, and from whom it is protected. Left out are: values of suppressed
cells, levels and intervals; which of the suppressed cells are the sensitive ones, and how many; rules and
bounds; cost, bound, proof, seed and search, as a pattern that is known to be the cheapest says that all
others cost more; the name of the input. How many cells are suppressed, in all and by category, everybody can
count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.cell_grid import CellState, GridCell
from linkrisk.solver.documents.document import Block, Choice, Headline, Items, Paragraph, Section
from linkrisk.solver.documents.wording import joined, of_all, table
from linkrisk.solver.schemas.keys import Json, outside, schema_of
from linkrisk.solver.schemas.tables import SuppressedTable
from linkrisk.solver.tables.pages.outside_changed import CHANGED, of_table
from linkrisk.solver.tables.pages.shown import grids
from linkrisk.solver.tables.pages.words import exactly

_WHO: dict[str, str] = {
    "singletons": "respondents who are alone in a cell",
    "contributors": "any respondent",
    "listed": "those whom the office has listed as knowing more",
    "coalitions": "respondents whom the office expects to tell one another",
}
_GONE = ("u", "m")
_number = partial(outside, schema_of(float))
_SUPPRESSION = "suppression"
TITLES = {_SUPPRESSION: "A table with suppressed cells", **{name: one.title for name, one in CHANGED.items()}}
"""Of the pages, by what was done."""


def for_external(given: Json) -> dict[str, Any]:
    """The JSON of a protected table with nothing but what readers outside may know."""
    kind = given["protection"]
    variables = list(map(str, given["table"]["variables"]))
    if kind != _SUPPRESSION:
        return {
            **CHANGED[kind].keep(given),
            **({} if kind == "recoding" else {"table": _published(given, "became")}),
            "protection": kind,
            "variables": variables,
        }
    kept = outside(schema_of(SuppressedTable), given)
    kept["from"]["left_out"] = given["from"]["left_out"] is not None
    beside = given.get("respondents")
    known, counts = kept.pop("respondents_known", False), kept.pop("counts", {})
    return {
        **kept,
        **({"respondents": _published(beside, "value")} if beside and kept["protected"] else {}),
        **({"table": _published(given, "value")} if kept["protected"] else {}),
        "least": counts.get("least"),
        "none_beside": known and not beside,
        "variables": variables,
        "loss": {
            str(name): [_category(one) for one in lines] for name, lines in given["table"]["loss"].items()
        },
    }


def _published(given: Json, column: str) -> dict[str, Any]:
    """The table as everybody sees it: codes, and values of cells that are not suppressed."""
    found, cells = given["table"], given["table"]["all"]
    kept = {
        "variables": list(map(str, found["variables"])),
        "loss": {
            str(name): [{"code": str(one["code"])} for one in lines] for name, lines in found["loss"].items()
        },
    }
    if cells is None:
        return {**kept, "all": None}
    status = cells.get("status", [""] * len(cells[column]))
    shown = [
        None if one in _GONE else _number(value) for one, value in zip(status, cells[column], strict=True)
    ]
    return {**kept, "all": {"codes": [list(map(str, one)) for one in cells["codes"]], "shown": shown}}


def _category(one: Json) -> list[Any]:
    return [str(one["code"]), _number(one["cells"]), _number(one["sensitive"] + one["secondary"])]


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
        "An independent audit found that none of them that has to be kept secret can be computed too "
        f"closely {_by_whom(kept['from'])}.",
    )


def _by_whom(known: Json) -> str:
    """From whom the table is protected."""
    readers = "by readers who know what is published, and nothing more"
    who = [_WHO[kind] for kind in known["who"]]
    if who:
        far = ", as far as any suppression could keep it from these" if known["in_part"] else ""
        readers += f", or by {joined(who)}{far}"
    if known["left_out"]:
        readers += ". Respondents who are alone in a cell, and subtract what they know, were not looked at"
    return readers


def outside_sections(kept: Json) -> tuple[Section, ...]:
    """The table, what was done, what can be inferred, and what is suppressed by category."""
    if kept["protection"] in CHANGED:
        return (*_table(kept), *CHANGED[kept["protection"]].sections(kept))
    return *_table(kept), _done(kept), *_loss(kept)


def _table(kept: Json) -> tuple[Section, ...]:
    """The table as it is published; nothing of one that must not be, or that is not final."""

    def drawn_of(shown: Sequence[float | None]) -> Callable[[int], GridCell]:
        def drawn(at: int) -> GridCell:
            value = shown[at]
            if value is None:
                return GridCell(CellState.GONE, "")
            return GridCell(CellState.PUBLISHED, exactly(value))

        return drawn

    parts = (
        ("table", "The table", "As it is published."),
        ("respondents", "Numbers of respondents", _BESIDE),
    )
    return tuple(
        Section(name, title, lead, grids({**kept, "table": kept[name]}, drawn_of(_shown(kept[name]))))
        for name, title, lead in parts
        if name in kept
    )


_BESIDE = "As they are published beside the values, in the same cells."


def _shown(table: Json) -> Sequence[float | None]:
    return () if table["all"] is None else list(table["all"]["shown"])


def _done(kept: Json) -> Section:
    items = (
        "A cell is suppressed where its value would say too much of one of its contributors, or where it "
        "would "
        "help to compute such a cell. Nothing says which is which.",
        "What is suppressed is not missing: it is in the totals that are published.",
        "From what is published, every suppressed cell can be bounded. These bounds were computed before: "
        "none of those that have to be kept secret is tighter than the rules of this publication allow, "
        f"{_by_whom(kept['from'])}.",
        *_of_counts(kept),
        "A suppressed cell says nothing of its size. Do not replace it by 0, and do not compare categories "
        "by how "
        "many of their cells are shown.",
    )
    blocks: tuple[Block, ...] = (
        Paragraph("Cell suppression: some cells are not published, all others are, unchanged."),
        Items("What a reader may infer", items),
        Paragraph(
            "This page leaves out what would help an intruder: values of suppressed cells, intervals, rules "
            "with their parameters, and how cells were chosen.",
            quiet=True,
        ),
    )
    return Section("done", "What was done", of_table(kept), blocks)


def _of_counts(kept: Json) -> Iterator[str]:
    """What was taken for known because values count, and of numbers of respondents."""
    if kept["least"] is not None:
        least = ", and that a suppressed one is not 0, as empty cells are shown" if kept["least"] else ""
        yield f"Values are counts. Readers were taken to know that these are whole numbers{least}."
    if "respondents" in kept:
        yield (
            "Numbers of respondents are suppressed where the value is. They were attacked as whole numbers: "
            "of those that have to be kept secret another one is possible."
        )
    if kept["none_beside"]:
        yield "That holds as long as numbers of respondents are not published beside the values."


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
