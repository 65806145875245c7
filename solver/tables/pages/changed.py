"""Tables whose values were changed, by rounding, adjustment or noise, and tables of coarser codes."""

from __future__ import annotations

from collections.abc import Iterator

from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.cell_grid import CellState, GridCell
from linkrisk.solver.documents.document import Block, Choice, Headline, Number, Numbers, Paragraph, Section
from linkrisk.solver.documents.formats import count, number_text
from linkrisk.solver.documents.wording import of_all
from linkrisk.solver.run.percent import percent
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.tables.pages.shown import grids
from linkrisk.solver.tables.pages.words import (
    MOST_LISTED,
    cut,
    ended,
    exactly,
    listing,
    moved,
    proof,
    proven,
    several,
    size,
    table,
)

_SHARES = (("cells", "Cells", Of.COUNT), ("share", "Share", Of.SHARE))

_DISTANCES = {
    "absolute": ("By how much", Of.NUMBER),
    "relative": ("Of the value", Of.SHARE),
    "roots": ("Between the square roots", Of.NUMBER),
}
_QUANTILES = {
    "mean": "On average",
    "q50": "Half of them up to",
    "q90": "90 % of them up to",
    "q99": "99 % of them up to",
    "max": "At most",
}


# Rounding


def rounding_headline(given: Json) -> Headline:
    """How many cells changed by how much, and what proves that less would not do."""
    by = exactly(round(given["cost"], 6))
    said = f"{of_all(given['changed'], given['cells'])} cells changed, by {by} in all"
    if not given["changed"]:
        said = "No cell had to change"
    least = proof(given, "no rounding of this kind changes less than")
    counted = "every relation adds up exactly, counted in whole numbers"
    worst = f"Every cell is a multiple of {given['base']}, and {counted}."
    kind = (
        "may go further than to the next multiple" if given["relaxed"] else "goes to a neighbouring multiple"
    )
    reasons = (
        f"Each cell {kind}; the largest change is {exactly(given['largest_change'])}.",
        *(
            ["No rounding to neighbouring multiples was found in time."]
            if given["relaxed"] and not given["asked_relaxed"]
            else []
        ),
        *ended(given),
    )
    return Headline("below" if proven(given) else "open", f"{said}: {least}.", worst, reasons)


def rounding_changes(given: Json) -> Section:
    """How many cells changed by how much."""
    lead = "How many cells changed by how much."
    lines = [
        {"by": by, "cells": many, "share": many / given["cells"]} for by, many in given["table"]["changes"]
    ]
    shown = listing("", [("by", "Change", Of.NUMBER), *_SHARES], lines)
    return Section("changes", "Changes", lead, (shown,))


# Adjustment


def adjustment_headline(given: Json) -> Headline:
    """How far off sensitive cells are, at what cost, and what proves it."""
    sensitive = several(given["sensitive"], "sensitive cell is", "sensitive cells are")
    level = "its level" if given["sensitive"] == 1 else "their level"
    cost = f"at a cost of {exactly(round(given['cost'], 6))}, the {costs(given)}"
    said = f"{sensitive} at least {level} away from the value, {cost}"
    least = proof(given, "no adjustment costs less than")
    worst = "Every relation adds up, and every bound and level holds: counted again after the search."
    if not given["sensitive"]:
        said, least = "No cell is sensitive", "nothing had to change"
    changed = of_all(given["changed"], given["cells"])
    reasons = (
        f"{changed} cells changed; the largest change is {exactly(given['largest_change'])}.",
        f"A cell changed by {percent(given['mean_relative_change'])} of its value in the mean, by "
        f"{percent(given['median_relative_change'])} in the median.",
        *ended(given),
    )
    return Headline("below" if proven(given) else "open", f"{said}: {least}.", worst, reasons)


def costs(given: Json) -> str:
    """What the cost is the sum of."""
    return f"sum of weighted {'squares of changes' if given['squares'] else 'changes'}"


def sensitive_numbers(given: Json) -> Numbers:
    """Which way sensitive cells went, and what readers guess who know the rule."""
    up, sensitive = given["up"], given["sensitive"]
    way = f"{several(up, 'cell')} went up, {several(sensitive - up, 'cell')} down"
    lines = [Number("Sensitive cells", count(sensitive), meaning=way if sensitive else "")]
    if "guessed" in given and sensitive:
        who = "Readers who know the rule and how counts are adjusted find these from what is published"
        of = f"{count(given['guessed'])} of {several(sensitive, 'sensitive count')}"
        lines.append(Number("Guessed", of, meaning=f"{who}."))
    return Numbers("", tuple(lines))


def moved_cells(given: Json) -> Section:
    """The sensitive cells, before and after."""
    columns = [
        *(("cell", "Cell", Of.TEXT), ("value", "Value", Of.NUMBER), ("became", "Published as", Of.NUMBER)),
        *(("level", "Had to move by", Of.NUMBER), ("moved", "Moved by", Of.NUMBER)),
        ("share", "Of its value", Of.SHARE),
    ]
    lines = moved(given)
    text = "The first {:,} are listed, those that moved by the largest share of their value."
    blocks = (sensitive_numbers(given), listing("", columns, lines), *cut(len(lines), text))
    lead = "Values of sensitive cells before and after, and how far each had to move."
    return Section("sensitive", "Sensitive cells", lead, blocks)


def changes_by_share(given: Json) -> Section:
    """How many cells changed by up to which share of their value."""
    lines, last = [], 0.0
    for end, many in given["table"]["changes"]:
        by = (
            f"more than {percent(last)} of the value" if end is None else f"up to {percent(end)} of the value"
        )
        lines.append({"by": "none" if end == 0 else by, "cells": many, "share": many / given["cells"]})
        last = last if end is None else end
    lead = "How many cells changed by up to which share of their value."
    return Section("changes", "Changes", lead, (listing("", [("by", "Change", Of.TEXT), *_SHARES], lines),))


# Noise by cell keys


def noise_headline(given: Json) -> Headline:
    """How many cells have noise, how much, and what is not proven."""
    found = given["changes"]
    said = f"{of_all(given['changed'], given['cells'])} cells have noise other than 0"
    far = f"{number_text(found['absolute']['mean'])} on average, {exactly(found['absolute']['max'])} at most"
    worst = (
        "Nothing is proven here: whoever knows the perturbation table knows how likely each true value is. "
        "The same records have the same noise in every table."
    )
    return Headline("unknown", f"{said}: by {far}.", worst, tuple(_of_noise(given)))


def _of_noise(given: Json) -> Iterator[str]:
    mean = percent(given["changes"]["relative"]["mean"])
    yield f"On average a cell changed by {mean} of its value."
    yield f"{of_all(given['not_adding_up'], given['relations'])} sums do not add up any more."
    if given["protection"] == "counts":
        gone = several(given["changes"]["false_zeros"], "count")
        yield f"{gone} became 0; counts of 0 have stayed."
    elif given["sensitive"]:
        yield f"{several(given['sensitive'], 'cell is', 'cells are')} sensitive by the rules."


def noise_changes(given: Json) -> Section:
    """The noise that there is beside that which was to be expected; of sums changes by their share."""
    if given["protection"] == "sums":
        return changes_by_share(given)
    lines = [
        {"by": by, "cells": many, "share": many / given["cells"], "expected": share}
        for by, many, share in given["table"]["changes"]
    ]
    columns = [("by", "Noise", Of.NUMBER), *_SHARES, ("expected", "Expected share", Of.SHARE)]
    lead = "How many cells have which noise, and which share of these counts was to have it."
    records = "Noise is in records; a weighted count moves by it times the mean weight of its cell."
    weighted: tuple[Block, ...] = (Paragraph(records, quiet=True),) if given["weight"] else ()
    return Section("changes", "Noise", lead, (listing("", columns, lines), *weighted))


def utility(given: Json) -> Section:
    """Distances between values before and after."""
    known = [name for name in _DISTANCES if name in given["changes"]]
    columns = [("cells", "Cells", Of.TEXT), *((name, *_DISTANCES[name]) for name in known)]
    rows = [[words, *(given["changes"][name][one] for name in known)] for one, words in _QUANTILES.items()]
    lead = "What users lose: distances between the values before and after, of all cells."
    return Section("utility", "Distances", lead, (table("", columns, rows),))


# Coarser codes


_STATES = {"u": CellState.SENSITIVE, "z": CellState.FIXED}


def recoding_headline(given: Json) -> Headline:
    """How many cells are sensitive as it is and with coarser codes, and what suppression costs."""
    first, last = given["effects"][0], given["effects"][-1]
    before = f"{of_all(first['sensitive'], first['cells'])} cells are sensitive"
    verdict = f"{before}; nothing is recoded."
    if given["recodings"]:
        after = f"{of_all(last['sensitive'], last['cells'])} cells are sensitive"
        if not last["sensitive"]:
            after = f"None of {several(last['cells'], 'cell')} is sensitive"
        verdict = f"{after} with coarser codes; {before} as it is."
    return Headline("unknown", verdict, _costs(first, last) if given["suppressed"] else "", _best(given))


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


def effects(given: Json) -> Section:
    """The table as it is, with each recoding by itself, and with all."""
    columns = [
        *(("recoding", "Recoding", Of.TEXT), ("cells", "Cells", Of.COUNT), ("empty", "Empty", Of.COUNT)),
        *(("sensitive", "Sensitive", Of.COUNT), ("share", "Share sensitive", Of.SHARE)),
        ("relations", "Relations", Of.COUNT),
    ]
    if given["suppressed"]:
        columns += [("secondary", "Suppressed with them", Of.COUNT)]
        columns += [("cost", "Cost", Of.NUMBER), ("bound", "At least", Of.NUMBER)]
    lines = [{**one, "share": one["sensitive"] / one["cells"]} for one in given["effects"]]
    notes: tuple[Block, ...] = ()
    if any(given["suppressed"] and one["cost"] is None for one in given["effects"]):
        words = "Without a cost: a cell cannot be protected by any pattern."
        notes = (Paragraph(words, quiet=True),)
    lead = "The table as it is, with each recoding by itself, and with all."
    return Section("effects", "What recodings do", lead, (listing("", columns, lines), *notes))


def codes(given: Json) -> tuple[Section, ...]:
    """Which codes have become which."""
    columns = [("code", "Code", Of.TEXT), ("becomes", "Becomes", Of.TEXT)]
    options = tuple(
        (
            f"{one['variable']} ({one['before']} codes, {one['after']} afterwards)",
            (table(f"Codes of {one['variable']}", columns, one["codes"][:MOST_LISTED]),),
        )
        for one in given["recodings"]
    )
    if not options:
        return ()
    lead = "Codes that have become others; those that have stayed are left out."
    return (Section("codes", "Codes", lead, (Choice("Variable", options),)),)


def recoded_table(given: Json) -> Section:
    """The grid of cells with coarser codes."""

    def drawn(at: int) -> GridCell:
        value, status = (given["table"]["all"][name][at] for name in ("value", "status"))
        return GridCell(_STATES.get(status, CellState.PUBLISHED), exactly(value))

    lead = f"{size(given)}; nothing is suppressed in it yet."
    return Section("table", "The table", lead, grids(given, drawn))
