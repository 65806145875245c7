"""The table itself: its cells by status, as a grid, and what each category lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.cell_grid import SUPPRESSED, CellGrid, CellState, GridCell
from linkrisk.solver.documents.document import Block, Choice, Paragraph, Section
from linkrisk.solver.report.content.tables.words import (
    STATUSES,
    Attacked,
    Json,
    attacked,
    exactly,
    several,
    shares,
)
from linkrisk.solver.report.content.wording import joined, table

MOST_DRAWN = 10_000
"""Cells of a grid; places without a cell count as well."""

_MOST_DECIMALS = 4
"""Values with more are results of calculations, and stay as they are."""

_ABSENT = GridCell(CellState.ABSENT, "")


def the_table(given: Json) -> Section:
    """Cells by status, and the grid."""
    statuses = given["table"]["statuses"]
    every = sum(one["value"] for one in statuses.values())
    columns = [
        ("status", "Cells", Of.TEXT),
        *(("cells", "Number", Of.COUNT), ("share", "Share of the cells", Of.SHARE)),
        ("value", "Share of the values", Of.SHARE),
    ]
    rows = [
        [
            words,
            statuses[name]["cells"],
            statuses[name]["cells"] / given["cells"],
            shares(statuses[name], every),
        ]
        for name, words in STATUSES.items()
    ]
    variables = given["table"]["variables"]
    by = f" by {joined(variables)}" if variables else ""
    lead = (
        f"{several(given['cells'], 'cell')}{by}, with {several(given['relations'], 'relation')} between them."
    )
    note = "Shares of values are those of the sum of their sizes over all cells, totals included."
    blocks = (table("", columns, rows), Paragraph(note, quiet=True), *the_grid(given))
    return Section("table", "The table", lead, blocks)


def the_grid(given: Json) -> tuple[Block, ...]:
    """Every cell with its value, what became of it, and what attackers find of it."""
    known = {one.cell: one for one in attacked(given)}
    narrowest = {one["cell"]: one for one in (given.get("insiders") or {"narrowest": []})["narrowest"]}

    def drawn(at: int) -> GridCell:
        cell, status = given["table"]["all"], given["table"]["all"]["status"][at]
        value = exactly(cell["value"][at])
        if at not in known:
            return GridCell(CellState.FIXED if status == "z" else CellState.PUBLISHED, value)
        return GridCell(_state(known[at]), value, _note(known[at]) + _nearer(known[at], narrowest.get(at)))

    return grids(given, drawn)


def _state(one: Attacked) -> CellState:
    if one.status != "u":
        return CellState.SECONDARY
    return CellState.SHORT if one.unsafe else CellState.SENSITIVE


def _note(one: Attacked) -> str:
    known = "known exactly" if one.exact else f"an outsider finds {one.interval}"
    asked = levels(one)
    short = f", short by {exactly(one.short)}" if one.short > 0 else ""
    short = ", and nobody has seen whether it does" if one.undecided else short
    return f"{known}; {asked} must remain possible{short}" if asked else known


def _nearer(one: Attacked, found: Json | None) -> str:
    """What an insider finds who knows more than outsiders; nothing where nobody does."""
    if found is None or found["high"] - found["low"] >= (one.high - one.low) * (1.0 - 1e-6):
        return ""
    return f"; {found['attacker']} finds {exactly(found['low'])} to {exactly(found['high'])}"


def levels(one: Attacked) -> str:
    """What must remain possible: ``7 to 13``, ``a width of 6``, or empty."""
    parts = []
    if one.lower_level > 0 or one.upper_level > 0:
        parts.append(f"{exactly(one.value - one.lower_level)} to {exactly(one.value + one.upper_level)}")
    if one.sliding_level > 0:
        parts.append(f"a width of {exactly(one.sliding_level)}")
    return " and ".join(parts)


def grids(given: Json, drawn: Callable[[int], GridCell]) -> tuple[Block, ...]:
    """The table as a grid, a slice at a time where it has more than two variables.

    Parameters
    ----------
    given : mapping
    drawn : callable
        Makes the cell of a number.
    """
    found, variables = given["table"]["all"], given["table"]["variables"]
    if not variables:
        return (
            _said(
                "Cells have no codes, so that there is no table to be drawn. Codes are the columns before "
                "the value."
            ),
        )
    if found is None:
        return (_said(f"The table is not drawn: it has more than {MOST_DRAWN:,} cells."),)
    codes = [
        _axis(given["table"].get("loss", {}).get(name, ()), column)
        for name, column in zip(variables, found["codes"], strict=True)
    ]
    places = dict(zip(zip(*found["codes"], strict=True), range(given["cells"]), strict=True))
    if len(places) < given["cells"]:
        return (_said("The table is not drawn: several cells have the same codes, as in linked tables."),)
    size = 1
    for one in codes:
        size *= len(one)
    if size > 2 * MOST_DRAWN:
        return (_said(f"The table is not drawn: with all combinations of its codes it has {size:,} places."),)
    cells = _same_decimals([drawn(at) for at in range(given["cells"])])
    return _slices(variables, codes, lambda key: cells[places[key]] if key in places else _ABSENT)


def _axis(loss: Sequence[Json], column: Sequence[str]) -> list[str]:
    """The codes of a variable in the order of its losses, else of its cells."""
    return list(dict.fromkeys([one["code"] for one in loss] or column))


def _same_decimals(cells: list[GridCell]) -> list[GridCell]:
    """Cells whose values have as many decimals each, so that they can be compared down a column."""
    many = [len(cell.text.partition(".")[2]) for cell in cells]
    most = max(many, default=0)
    if not 0 < most <= _MOST_DECIMALS or any("e" in cell.text for cell in cells):
        return cells
    return [
        replace(cell, text=f"{cell.text}{'' if own else '.'}{'0' * (most - own)}")
        for cell, own in zip(cells, many, strict=True)
    ]


def _said(text: str) -> Block:
    return Paragraph(text)


def _slices(
    variables: Sequence[str], codes: Sequence[Sequence[str]], at: Callable[[tuple[str, ...]], GridCell]
) -> tuple[Block, ...]:
    """A grid for each combination of all codes but those of the two variables with most."""
    order = sorted(range(len(variables)), key=lambda one: -len(codes[one]))
    down, across, rest = order[0], order[1:2], sorted(order[2:])
    options: list[tuple[str, tuple[Block, ...]]] = []
    for chosen in product(*(codes[one] for one in rest)):
        fixed = dict(zip(rest, chosen, strict=True))
        name = ", ".join(f"{variables[one]} {code}" for one, code in fixed.items())

        def key(row: str, column: str, fixed: dict[int, str] = fixed) -> tuple[str, ...]:
            here = {**fixed, down: row, **dict.fromkeys(across, column)}
            return tuple(here[one] for one in range(len(variables)))

        columns = tuple(codes[across[0]]) if across else ("value",)
        cells = [[at(key(row, column)) for column in columns] for row in codes[down]]
        grid = CellGrid(
            name or "All cells",
            variables[down],
            variables[across[0]] if across else "",
            tuple(codes[down]),
            columns,
            cells,
        )
        gone = sum(cell.state in SUPPRESSED for line in cells for cell in line)
        options.append((f"{name} ({gone} suppressed)" if gone else name, (grid,)))
    if len(options) == 1:
        return options[0][1]
    return (Choice(f"Slice of the table, by {joined([variables[one] for one in rest])}", tuple(options)),)


def loss(given: Json) -> Section:
    """Suppressed cells and values by variable and code."""
    found = given["table"]["loss"]
    columns = [
        ("code", "Code", Of.TEXT),
        *(("cells", "Cells", Of.COUNT), ("sensitive", "Sensitive", Of.COUNT)),
        ("secondary", "Suppressed with them", Of.COUNT),
        *(("share", "Share suppressed", Of.SHARE), ("lost", "Share of the values", Of.SHARE)),
    ]
    options = []
    for name, lines in found.items():
        rows = [
            [
                one["code"] or "(empty)",
                *(one[key] for key in ("cells", "sensitive", "secondary")),
                (one["sensitive"] + one["secondary"]) / one["cells"],
                one["lost"] / one["value"] if one["value"] > 0 else None,
            ]
            for one in lines
        ]
        options.append((name, (table(f"Suppressed by {name}", columns, rows),)))
    if not options:
        return Section(
            "loss", "Loss by category", "Cells have no codes, so that nothing can be said by category."
        )
    worst = _worst(found)
    lead = (
        f"What is suppressed in each category. {worst}" if worst else "What is suppressed in each category."
    )
    return Section("loss", "Loss by category", lead, (Choice("Variable", tuple(options)),))


def _worst(found: Json) -> str:
    """The category that loses most of its cells."""
    shared: Counter[str] = Counter()
    for name, lines in found.items():
        for one in lines:
            shared[f"{name} {one['code']}"] = (one["sensitive"] + one["secondary"]) / one["cells"]
    name, share = max(shared.items(), key=lambda pair: pair[1])
    return f"Most is lost of {name}: {100.0 * share:.3g} % of its cells." if share > 0 else ""
