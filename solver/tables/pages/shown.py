"""Shows the table itself: its cells as a grid, and losses or changes by category."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import product
from math import prod

from linkrisk.solver.charts.chart import Table
from linkrisk.solver.documents.document import (
    SUPPRESSED,
    Block,
    CellGrid,
    CellState,
    Choice,
    GridCell,
    Paragraph,
    Section,
)
from linkrisk.solver.documents.wording import counts, joined, numbers, shares, table, texts
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.tables.pages.words import EMPTY, Attacked, Columns, attacked, exactly, listing, size

MOST_DRAWN = 10_000
"""Places of a grid, with or without a cell: larger ones are not drawn."""

_MOST_DECIMALS = 4
"""Decimals from which values are results of calculations, and are not padded."""

_STATUSES = {"u": "Sensitive", "m": "Suppressed with them", "s": "Published", "z": "Always published"}
_STATES = {"u": CellState.SENSITIVE, "z": CellState.FIXED}
"""Statuses of cells without intervals, in a table without suppression."""


def the_table(given: Json) -> Section:
    """Build the section with cells by status, and the grid."""
    found: tuple[Block, ...] = ()
    if statuses := given["table"].get("statuses"):
        every = sum(one["value"] for one in statuses.values())
        columns = texts(status="Cells") + counts(cells="Number")
        columns += shares(share="Share of the cells", value="Share of the values")
        lines = [
            [
                words,
                *(statuses[name]["cells"], statuses[name]["cells"] / given["cells"]),
                statuses[name]["value"] / every if every > 0 else None,
            ]
            for name, words in _STATUSES.items()
        ]
        note = "Shares of values are those of the sum of their sizes over all cells, totals included."
        found = (table("", columns, lines), Paragraph(note, quiet=True))
    lead = f"{size(given)}{'; nothing is suppressed in it yet' if 'effects' in given else ''}."
    return Section("table", "The table", lead, (*found, *the_grid(given)))


def the_grid(given: Json) -> tuple[Block, ...]:
    """Draw every cell with its value before and after, and the interval of attackers."""
    found, cells = given["table"], given["table"]["all"]
    known = {one.number: one for one in attacked(given)} if "intervals" in found else {}
    narrowest = {one["cell"]: one for one in (given.get("insiders") or {"narrowest": []})["narrowest"]}

    def drawn(at: int) -> GridCell:
        own = {name: column[at] for name, column in cells.items() if name != "codes"}
        value = own.get("shown", own.get("became", own.get("value")))
        if value is None:
            return GridCell(CellState.GONE, "")
        if at in known:
            return _found(known[at], narrowest.get(at))
        before = own.get("value", value)
        if before != value:
            state = CellState.UP if value > before else CellState.DOWN
            return GridCell(state, exactly(value), f"was {exactly(before)}")
        return GridCell(_STATES.get(own.get("status", ""), CellState.PUBLISHED), exactly(value))

    return grids(given, drawn)


def _found(one: Attacked, nearer: Json | None) -> GridCell:
    """Draw a suppressed cell with the interval of outsiders, and a narrower one of insiders."""
    state = CellState.SHORT if one.unsafe else CellState.SENSITIVE
    note = "known exactly" if one.exact else f"an outsider finds {one.interval}"
    if one.levels:
        short = ", and nobody has seen whether it does" if one.undecided else one.shortage
        note += f"; {one.levels} must remain possible{short}"
    if nearer is not None and nearer["high"] - nearer["low"] < (one.high - one.low) * (1.0 - 1e-6):
        note += f"; {nearer['attacker']} finds {exactly(nearer['low'])} to {exactly(nearer['high'])}"
    return GridCell(state if one.sensitive else CellState.SECONDARY, exactly(one.value), note)


def grids(given: Json, drawn: Callable[[int], GridCell]) -> tuple[Block, ...]:
    """Draw the table as a grid of cells, in slices if it has more than two variables."""
    found, variables = given["table"]["all"], given["table"]["variables"]
    if not variables:
        none = "Cells have no codes, so that there is no table to be drawn."
        return (Paragraph(f"{none} Codes are the columns before the value."),)
    if found is None:
        return (Paragraph(f"The table is not drawn: it has more than {MOST_DRAWN:,} cells."),)
    codes = [
        _axis(given["table"].get("loss", {}).get(name, ()), column)
        for name, column in zip(variables, found["codes"], strict=True)
    ]
    places = dict(zip(zip(*found["codes"], strict=True), range(given["cells"]), strict=True))
    many, why = prod(map(len, codes)), ""
    if len(places) < given["cells"]:
        why = "several cells have the same codes, as in linked tables"
    elif many > 2 * MOST_DRAWN:
        why = f"with all combinations of its codes it has {many:,} places"
    if why:
        return (Paragraph(f"The table is not drawn: {why}."),)
    cells = _same_decimals([drawn(at) for at in range(given["cells"])])
    absent = GridCell(CellState.ABSENT, "")
    return _slices(variables, codes, lambda key: cells[places[key]] if key in places else absent)


def _axis(loss: Sequence[Json], column: Sequence[str]) -> list[str]:
    """Order the codes of a variable as in its losses, else as in the cells."""
    return list(dict.fromkeys([one["code"] for one in loss] or column))


def _same_decimals(cells: list[GridCell]) -> list[GridCell]:
    """Pad values to the same number of decimals, to be compared down a column."""
    many = [len(cell.text.partition(".")[2]) for cell in cells]
    most = max(many, default=0)
    if not 0 < most <= _MOST_DECIMALS or any("e" in cell.text for cell in cells):
        return cells
    return [
        replace(cell, text=f"{cell.text}{'' if own else '.'}{'0' * (most - own)}")
        for cell, own in zip(cells, many, strict=True)
    ]


def _slices(
    variables: Sequence[str], codes: Sequence[Sequence[str]], at: Callable[[tuple[str, ...]], GridCell]
) -> tuple[Block, ...]:
    """Draw a grid of the two variables with most codes for each combination of the others."""
    order = sorted(range(len(variables)), key=lambda one: -len(codes[one]))
    down, across, rest = order[0], order[1:2], sorted(order[2:])
    columns = tuple(codes[across[0]]) if across else ("value",)
    head = (variables[down], "".join(variables[one] for one in across), tuple(codes[down]), columns)
    options: list[tuple[str, tuple[Block, ...]]] = []
    for chosen in product(*(codes[one] for one in rest)):
        fixed = dict(zip(rest, chosen, strict=True))
        places = [
            [{**fixed, down: row, **dict.fromkeys(across, column)} for column in columns]
            for row in codes[down]
        ]
        cells = [[at(tuple(one[number] for number in sorted(one))) for one in line] for line in places]
        name = ", ".join(f"{variables[one]} {code}" for one, code in fixed.items())
        gone = sum(cell.state in SUPPRESSED for line in cells for cell in line)
        grid = CellGrid(name or "All cells", *head, cells)
        options.append((f"{name} ({gone} suppressed)" if gone else name, (grid,)))
    if len(options) == 1:
        return options[0][1]
    return (Choice(f"Slice of the table, by {joined([variables[one] for one in rest])}", tuple(options)),)


def by_variable(tables: Iterable[tuple[str, Table]]) -> tuple[Block, ...]:
    """Show a table for each variable, one at a time; nothing without variables."""
    options = tuple((name, (one,)) for name, one in tables)
    return (Choice("Variable", options),) if options else ()


def loss(given: Json) -> Section:
    """Build the section on suppressed cells and values by variable and code."""
    columns = [*_OF_CODES, *counts(sensitive="Sensitive", secondary="Suppressed with them")]
    columns += shares(share="Share suppressed", lost="Share of the values")
    found = {
        name: [{**one, "share": (one["sensitive"] + one["secondary"]) / one["cells"]} for one in lines]
        for name, lines in given["table"]["loss"].items()
    }
    parts = {f"{name} {one['code']}": one["share"] for name, lines in found.items() for one in lines}
    worst = max(parts, key=parts.__getitem__, default="")
    lead = "What is suppressed in each category."
    if parts.get(worst):
        lead += f" Most is lost of {worst}: {100.0 * parts[worst]:.3g} % of its cells."
    return _by_category("Loss", lead, "Suppressed", columns, found, ("lost", "lost"))


def changes_by_category(given: Json) -> Section:
    """Build the section on changes by variable and code."""
    columns = [
        *_OF_CODES,
        *counts(changed="Changed"),
        *numbers(change="By, in all"),
        *shares(share="Of the values"),
    ]
    lead = "The sum of all changes, without their signs, in each category."
    return _by_category("Changes", lead, "Changes", columns, given["table"]["loss"], ("change", "share"))


_OF_CODES = texts(code="Code") + counts(cells="Cells")


def _by_category(
    title: str, lead: str, what: str, columns: Columns, found: Json, lost: tuple[str, str]
) -> Section:
    """Show a table for each variable; `lost` names an amount, and the column of its share of the values."""
    amount, share = lost

    def line(one: Json) -> Json:
        of = one[amount] / one["value"] if one["value"] > 0 else None
        return {**one, "code": one["code"] or EMPTY, share: of}

    blocks = by_variable(
        (name, listing(f"{what} by {name}", columns, map(line, lines))) for name, lines in found.items()
    )
    none = "Cells have no codes, so that nothing can be said by category."
    return Section("loss", f"{title} by category", lead if blocks else none, blocks)
