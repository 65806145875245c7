"""The report of a rounded table: how much it changed, where, and what proves that less would not do."""

from __future__ import annotations

from collections.abc import Iterator

from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.cell_grid import CellState, GridCell
from linkrisk.solver.documents.document import Choice, Headline, Items, Number, Numbers, Section
from linkrisk.solver.report.content.tables.making import files, found_by
from linkrisk.solver.report.content.tables.shown import grids
from linkrisk.solver.report.content.tables.words import Json, ended, exactly, proven, several
from linkrisk.solver.report.content.wording import joined, of_all, table
from linkrisk.solver.run.gaps import no_less


def rounding_headline(given: Json) -> Headline:
    """What stands at the head of the report."""
    least = proven(given)
    by = exactly(round(given["cost"], 6))
    said = f"{of_all(given['changed'], given['cells'])} cells changed, by {by} in all"
    if not given["changed"]:
        said = "No cell had to change"
    proof = (
        "proven least"
        if least
        else no_less(
            "no rounding of this kind changes less than",
            given["cost"],
            given["bound"],
            exactly(round(given["bound"], 6)),
        )
    )
    counted = "every relation adds up exactly, counted in whole numbers"
    worst = f"Every cell is a multiple of {given['base']}, and {counted}."
    return Headline("below" if least else "open", f"{said}: {proof}.", worst, tuple(_reasons(given)))


def _reasons(given: Json) -> Iterator[str]:
    kind = (
        "may go further than to the next multiple" if given["relaxed"] else "goes to a neighbouring multiple"
    )
    yield f"Each cell {kind}; the largest change is {exactly(given['largest_change'])}."
    yield from ended(given)


def rounding_sections(given: Json) -> tuple[Section, ...]:
    """All of it."""
    return changed_table(given), _changes(given), by_category(given), _made(given), _limits(given)


def changed_table(given: Json) -> Section:
    """The grid of new values."""

    def drawn(at: int) -> GridCell:
        value, became = (given["table"]["all"][name][at] for name in ("value", "became"))
        if became == value:
            return GridCell(CellState.PUBLISHED, exactly(became))
        state = CellState.UP if became > value else CellState.DOWN
        return GridCell(state, exactly(became), f"was {exactly(value)}")

    variables = given["table"]["variables"]
    by = f" by {joined(variables)}" if variables else ""
    lead = (
        f"{several(given['cells'], 'cell')}{by}, with {several(given['relations'], 'relation')} between them."
    )
    return Section("table", "The table", lead, grids(given, drawn))


def _changes(given: Json) -> Section:
    columns = [("by", "Change", Of.NUMBER), ("cells", "Cells", Of.COUNT), ("share", "Share", Of.SHARE)]
    rows = [[by, many, many / given["cells"]] for by, many in given["table"]["changes"]]
    lead = "How many cells changed by how much."
    return Section("changes", "Changes", lead, (table("", columns, rows),))


def by_category(given: Json) -> Section:
    """Changes by variable and code."""
    columns = [
        ("code", "Code", Of.TEXT),
        *(
            ("cells", "Cells", Of.COUNT),
            ("changed", "Changed", Of.COUNT),
            ("change", "By, in all", Of.NUMBER),
        ),
        ("share", "Of the values", Of.SHARE),
    ]
    options = tuple(
        (
            name,
            (
                table(
                    f"Changes by {name}",
                    columns,
                    [
                        [
                            one["code"] or "(empty)",
                            *(one[key] for key in ("cells", "changed", "change")),
                            one["change"] / one["value"] if one["value"] > 0 else None,
                        ]
                        for one in lines
                    ],
                ),
            ),
        )
        for name, lines in given["table"]["loss"].items()
    )
    if not options:
        return Section(
            "loss", "Changes by category", "Cells have no codes, so that nothing can be said by category."
        )
    lead = "The sum of all changes, without their signs, in each category."
    return Section("loss", "Changes by category", lead, (Choice("Variable", options),))


def _made(given: Json) -> Section:
    kind = "relaxed: a cell may go further" if given["relaxed"] else "zero-restricted: each to a neighbour"
    asked = (Number("Base", str(given["base"])), Number("Kind", kind))
    blocks = (
        Numbers("What was asked", asked),
        Numbers("How it was found", tuple(found_by(given))),
        files(given),
    )
    return Section("making", "How it was made", "What is needed to make this again.", blocks)


def _limits(given: Json) -> Section:
    near = given["base"] - 1
    items = (
        f"Levels of sensitive cells are not looked at: who sees a multiple of {given['base']} thinks of "
        f"values up to "
        f"{near} away, and whoever knows the other values of a relation thinks of fewer.",
        "A second rounding of the same table says more than one: publish one only.",
    )
    references = (
        "L. H. Cox, A constructive procedure for unbiased controlled rounding, Journal of the American "
        "Statistical "
        "Association 82, 1987, 520–524.",
        "J. J. Salazar, C. Bycroft, A. T. Staggemeier, Controlled rounding implementation, UNECE work "
        "session on "
        "statistical data confidentiality, 2005.",
    )
    return Section("limits", "What it does not tell", "", (Items("", items), Items("References", references)))
