"""How it was made: what was asked and how it was found; what it does not tell; where it comes from."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.document import Block, Items, Number, Numbers, Section
from linkrisk.solver.documents.formats import count, duration
from linkrisk.solver.report.content.tables.words import (
    Attacked,
    Json,
    attacked,
    exactly,
    proven,
    several,
)
from linkrisk.solver.report.content.wording import table
from linkrisk.solver.run.gaps import NO_BOUND, gap, has_bound
from linkrisk.solver.run.percent import percent, two_digits

COSTS = {
    "value": "its value, at least 1",
    "unit": "one for each cell",
    "log": "logarithm of 1 + its value",
    "given": "as given in the column cost",
}

METHODS = {
    "optimal": "optimal: all relations at once",
    "modular": "modular: one subtable after the other, then audited and repaired over all relations",
    "heuristic": "heuristic: one pattern for each sensitive cell, audited over all relations",
}

BACKENDS = {"exact": "exact: our own branch and cut"}


def how_it_was_made(given: Json) -> Section:
    """Rule, search and files."""
    blocks: list[Block] = [Numbers("What was asked", tuple(_asked(given)))]
    if given["cost"] is not None:
        blocks.append(Numbers("How it was found", tuple(found_by(given))))
    else:
        blocks.append(Numbers("The audit", (Number("Time taken", duration(given.get("seconds"))),)))
    blocks.append(files(given))
    return Section("making", "How it was made", "What is needed to make this again.", tuple(blocks))


def rule(given: Json) -> Number:
    """What is sensitive, and why."""
    rules = given.get("rules") or []
    said = "; ".join(map(str, rules)) or "as given: sensitive cells and their levels are columns of the input"
    return Number("Rule", said)


def _asked(given: Json) -> Iterator[Number]:
    yield rule(given)
    sensitive = [one for one in attacked(given) if one.status == "u"]
    for words, name in (("below", "lower_level"), ("above", "upper_level"), ("sliding", "sliding_level")):
        said = _range(sensitive, name)
        if said:
            yield Number(f"Protection levels, {words}", said)
    if given.get("cost_of"):
        yield Number("Cost of a cell", COSTS.get(given["cost_of"], str(given["cost_of"])))
    known = given.get("insiders")
    more = (
        "" if known is None else f"; {several(known['attackers'], 'insider')}, who know of their cells more"
    )
    outsiders = "outsiders, who know all published cells, all relations and the bounds of every cell"
    yield Number("Attackers", outsiders + more)


def _range(lines: Sequence[Attacked], name: str) -> str:
    """``3 to 40, in the median 12 % of the value``."""
    found = [(getattr(one, name), abs(one.value)) for one in lines if getattr(one, name) > 0]
    if not found:
        return ""
    least, most = min(level for level, _ in found), max(level for level, _ in found)
    said = exactly(least) if least == most else f"{exactly(least)} to {exactly(most)}"
    parts = [level / value for level, value in found if value > 0]
    return f"{said}, in the median {percent(statistics.median(parts))} of the value" if parts else said


def found_by(given: Json) -> Iterator[Number]:
    """What found it, how long that took, and what is known of better answers."""
    yield Number("Cost", exactly(round(given["cost"], 6)))
    none = "No other that does the same costs less than"
    left = ""
    if not proven(given):
        known = has_bound(given["cost"], given["bound"])
        left = f"gap {two_digits(gap(given['cost'], given['bound']))} %" if known else NO_BOUND
    yield Number(none, exactly(round(given["bound"], 6)), left)
    ends = {"time": "the time was over", "user": "it was stopped", None: "the search went to its end"}
    state = "proven" if proven(given) else "not proven"
    yield Number("Status", f"{state}: {ends.get(given['limit'], str(given['limit']))}")
    if given.get("method"):
        yield Number("Method", METHODS.get(given["method"], str(given["method"])))
    yield Number("Backend", BACKENDS.get(given["backend"], str(given["backend"])))
    yield Number("Seed", str(given["seed"]))
    limit = given.get("time_limit")
    yield Number("Time limit", "none" if limit is None else duration(limit))
    yield Number("Time taken", duration(given["seconds"]))
    yield from _repair(given)


def _repair(given: Json) -> Iterator[Number]:
    """What a method that looks at parts had to mend in the end."""
    if "added_by_repair" not in given:
        return
    if given.get("subtables"):
        yield Number("Subtables", count(given["subtables"]))
    yield Number(
        "Repair",
        f"{several(given['added_by_repair'], 'cell')} added",
        meaning=f"{several(given['open_before_repair'], 'level')} were open over all relations at once; "
        f"afterwards {several(given['removed_by_thinning'], 'cell was', 'cells were')} not needed any more.",
    )


def files(given: Json, what: str = "Cells") -> Block:
    """Which table it was, and `what` its file has."""
    columns = [("what", "Input", Of.TEXT), ("name", "Name", Of.TEXT)]
    rows = [
        [what, PurePath(given["name"]).name],
        ["Size", f"{count(given['cells'])} cells, {count(given['relations'])} relations"],
        ["Made by", f"linkrisk {given['linkrisk']}"],
    ]
    return table("", columns, rows)


def what_it_does_not_tell(given: Json) -> Section:
    """Limits of the proof, and references."""
    items = [
        "Whoever contributes to a cell knows more than an outsider, and so do several who work together."
        if not given.get("insiders")
        else "Attackers who know more than those named here find more.",
        "Tables with common cells are safe together only as one table: with the relations of all of them.",
        "Levels are met up to a hundred-thousandth of themselves, which is what optimisers in floating point "
        "can tell.",
        "The bounds of cells are taken for known to everybody. Whoever knows more, such as the values of "
        "last "
        "year, finds shorter intervals.",
    ]
    blocks = (Items("", tuple(items)), Items("References", REFERENCES))
    return Section("limits", "What it does not tell", "", blocks)


REFERENCES = (
    "M. Fischetti, J. J. Salazar, Models and algorithms for optimizing cell suppression in tabular data with "
    "linear constraints, Journal of the American Statistical Association 95, 2000, 916–928.",
    "A. Hundepool and others, Handbook on Statistical Disclosure Control, chapter 4: magnitude tabular data.",
    "J. Kelly, B. Golden, A. Assad, Cell suppression: disclosure protection for sensitive tabular data, "
    "Networks 22, 1992, 397–417.",
)
