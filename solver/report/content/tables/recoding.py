"""The report of a table of coarser codes: what each recoding does to sensitive cells and costs."""

from __future__ import annotations

from collections.abc import Iterator

from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.cell_grid import CellState, GridCell
from linkrisk.solver.documents.document import (
    Block,
    Choice,
    Headline,
    Items,
    Number,
    Numbers,
    Paragraph,
    Section,
)
from linkrisk.solver.documents.formats import duration
from linkrisk.solver.report.content.tables.making import files
from linkrisk.solver.report.content.tables.shown import grids
from linkrisk.solver.report.content.tables.words import Json, exactly, several
from linkrisk.solver.report.content.wording import joined, of_all, table

MOST_LISTED = 2_000
"""Codes of a variable in the table of the page."""

_STATES = {"u": CellState.SENSITIVE, "z": CellState.FIXED}


def recoding_headline(given: Json) -> Headline:
    """What stands at the head of the report."""
    first, last = given["effects"][0], given["effects"][-1]
    before = f"{of_all(first['sensitive'], first['cells'])} cells are sensitive as it is"
    if given["recodings"]:
        verdict = f"{_sensitive(last)} with coarser codes; {before}."
    else:
        verdict = f"{before}; nothing is recoded.".replace(" as it is;", ";")
    return Headline("unknown", verdict, _costs(first, last) if given["suppressed"] else "", _best(given))


def _sensitive(effect: Json) -> str:
    if not effect["sensitive"]:
        return f"None of {several(effect['cells'], 'cell')} is sensitive"
    return f"{of_all(effect['sensitive'], effect['cells'])} cells are sensitive"


def _costs(first: Json, last: Json) -> str:
    """What suppression costs before and after."""
    said = [
        f"costs {exactly(round(one['cost'], 6))} {when}"
        if one["cost"] is not None
        else f"is not possible {when}"
        for one, when in ((last, "with coarser codes"), (first, "as it is"))
    ]
    return f"Suppression {said[0]}; it {said[1]}." if last is not first else f"Suppression {said[1]}."


def _best(given: Json) -> tuple[str, ...]:
    """The recoding by itself that leaves fewest sensitive cells."""
    alone = [one for one in given["effects"][1:] if one["recoding"] != "all together"]
    if len(alone) < 2:
        return ()
    best = min(alone, key=lambda one: one["sensitive"])
    left = several(best["sensitive"], "sensitive cell")
    return (f"Of {len(alone)} recodings by themselves, {best['recoding']} leaves fewest: {left}.",)


def recoding_sections(given: Json) -> tuple[Section, ...]:
    """All of it."""
    return _effects(given), *_codes(given), _table(given), _made(given), _limits()


def _effects(given: Json) -> Section:
    columns = [
        ("recoding", "Recoding", Of.TEXT),
        *(("cells", "Cells", Of.COUNT), ("empty", "Empty", Of.COUNT), ("sensitive", "Sensitive", Of.COUNT)),
        ("share", "Share sensitive", Of.SHARE),
    ]
    if given["suppressed"]:
        columns += [("secondary", "Suppressed with them", Of.COUNT)]
        columns += [("cost", "Cost", Of.NUMBER), ("bound", "At least", Of.NUMBER)]
    rows = [
        [one["sensitive"] / one["cells"] if name == "share" else one[name] for name, _, _ in columns]
        for one in given["effects"]
    ]
    notes: tuple[Block, ...] = ()
    if any(given["suppressed"] and one["cost"] is None for one in given["effects"]):
        words = "Without a cost: a cell cannot be protected by any pattern."
        notes = (Paragraph(words, quiet=True),)
    lead = "The table as it is, with each recoding by itself, and with all."
    return Section("effects", "What recodings do", lead, (table("", columns, rows), *notes))


def _codes(given: Json) -> tuple[Section, ...]:
    """Which codes have become which."""
    columns = [("code", "Code", Of.TEXT), ("becomes", "Becomes", Of.TEXT)]
    options = []
    for one in given["recodings"]:
        name = f"{one['variable']} ({one['before']} codes, {one['after']} afterwards)"
        shown = table(
            f"Codes of {one['variable']}", columns, [list(pair) for pair in one["codes"][:MOST_LISTED]]
        )
        options.append((name, (shown,)))
    if not options:
        return ()
    lead = "Codes that have become others; those that have stayed are left out."
    return (Section("codes", "Codes", lead, (Choice("Variable", tuple(options)),)),)


def _table(given: Json) -> Section:
    def drawn(at: int) -> GridCell:
        value, status = (given["table"]["all"][name][at] for name in ("value", "status"))
        return GridCell(_STATES.get(status, CellState.PUBLISHED), exactly(value))

    by = joined(given["table"]["variables"])
    cells, relations = several(given["cells"], "cell"), several(given["relations"], "relation")
    lead = f"{cells} by {by}, with {relations} between them; nothing is suppressed in it yet."
    return Section("table", "The table", lead, grids(given, drawn))


def _made(given: Json) -> Section:
    blocks = (Numbers("What was asked", tuple(_asked(given))), files(given, "Microdata"))
    return Section("making", "How it was made", "What is needed to make this again.", blocks)


def _asked(given: Json) -> Iterator[Number]:
    yield Number("Rule", "; ".join(map(str, given["rules"])) or "none: no cell is sensitive")
    yield Number("What is summed", str(given["response"] or "records are counted"))
    for name, words in (("holding", "Holdings"), ("weight", "Sampling weights")):
        if given[name] is not None:
            yield Number(words, f"the column {given[name]}")
    for one in given["recodings"]:
        yield Number("Recoding", str(one["how"]))
    if given["suppressed"]:
        limit = given["time_limit"]
        yield Number("Cost of a cell", "its value, at least 1")
        yield Number("Time limit", "none" if limit is None else f"{duration(limit)} for each table")


def _limits() -> Section:
    items = (
        "What readers wanted to know of codes that are gone is no part of the cost, which counts suppressed "
        "values only.",
        "Two published tables of different codes can be subtracted from one another: link them, or publish "
        "one.",
    )
    return Section("limits", "What it does not tell", "", (Items("", items),))
