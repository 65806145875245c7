"""A table with suppressed cells: whether they are protected, at what cost, and what attackers find."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from linkrisk.solver.charts.intervals import Reach, intervals
from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.document import Block, Headline, Number, Numbers, Paragraph, Section
from linkrisk.solver.documents.formats import count
from linkrisk.solver.documents.wording import of_all, sentence
from linkrisk.solver.run.percent import percent
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.tables.pages.shown import the_grid
from linkrisk.solver.tables.pages.words import (
    MOST_LISTED,
    Attacked,
    attacked,
    cut,
    ended,
    exactly,
    listing,
    proof,
    proven,
    several,
    some,
    table,
    titles_of,
)

_COLUMNS = (
    *(("cell", "Cell", Of.TEXT), ("value", "Value", Of.NUMBER)),
    *(("low", "Low", Of.NUMBER), ("high", "High", Of.NUMBER)),
)
_LEVELS = (
    ("levels", "Must remain possible", Of.TEXT),
    ("reached", "Of its level", Of.SHARE),
    ("short", "Short by", Of.NUMBER),
)
_WHO = {
    "singletons": "Respondents who are alone in a cell",
    "contributors": "Every respondent, who knows its own contributions",
    "listed": "Those who are listed as knowing more",
    "coalitions": "Coalitions, whose members tell one another everything",
}
_SENSITIVE = "sensitive cell"
_AS_FAR = "as far as they can be kept from them"
"""What holds against insiders where no pattern reaches all levels."""


# The headline


def headline(given: Json) -> Headline:
    """Whether the sensitive cells are protected, at what cost, and what proves it."""
    return Headline(_answer(given), _verdict(given), _searched(given), tuple(_reasons(given)))


def _answer(given: Json) -> str:
    if not given["protected"]:
        return "above"
    if not given["sensitive"]:
        return "unknown"
    return "below" if given["cost"] is None or proven(given) else "open"


def _verdict(given: Json) -> str:
    sensitive, short, undecided = (
        given["sensitive"],
        *map(len, (given["under_protected"], given["undecided"])),
    )
    if not sensitive:
        return "No cell is sensitive: nothing had to be suppressed."
    if short:
        cells = f"{count(short)} of {several(sensitive, _SENSITIVE)}"
        one, many = "is NOT protected: it can", "are NOT protected: they can"
        return f"{cells} {one if short == 1 else many} be computed too closely."
    if undecided:
        cells = f"{count(undecided)} of {several(sensitive, _SENSITIVE)}"
        return f"Of {cells} nobody knows whether they are protected: the audit was ended before."
    if given.get("exact") and not given["exact"]["protected"]:
        return "The table is NOT protected: in rational numbers not every level is met."
    if given.get("respondents") and not given["respondents"]["protected"]:
        return "Numbers of respondents beside the values are NOT protected: they can be computed."
    all_of_them = "Both" if sensitive == 2 else f"All {count(sensitive)}"
    return _protected(
        given, "The sensitive cell is" if sensitive == 1 else f"{all_of_them} sensitive cells are"
    )


def _protected(given: Json, cells: str) -> str:
    """From whom they are."""
    insiders, left_out = given.get("insiders"), given["from"]["left_out"]
    more = "" if left_out is None else f"; {_alone(left_out)}"
    if insiders is None:
        more = more or "; no cell has a single respondent"
        return f"{cells} protected from outsiders{' only' if left_out else ''}{more}."
    who = several(insiders["attackers"], "insider")
    if insiders["protected"]:
        far = f", {_AS_FAR}" if given["from"]["in_part"] else ""
        return f"{cells} protected from outsiders and from {who}{far}{more}."
    short = len(insiders["under_protected"])
    if not short:
        return (
            f"{cells} protected from outsiders; nobody knows whether from {who}: that audit was ended before."
        )
    found = several(short, "cell is", "cells are")
    return f"{cells} protected from outsiders, but {found} NOT protected from insiders."


def _searched(given: Json) -> str:
    """What is suppressed with the sensitive cells, and what is known of cheaper patterns."""
    said = f"{several(given['suppressed'] - given['sensitive'], 'cell is', 'cells are')} suppressed"
    if not given["sensitive"]:
        return f"{said}." if given["suppressed"] else ""
    if given["cost"] is None:
        return f"{said} with them; nothing was searched, only audited."
    cost = f"{said} with them, at a cost of {exactly(round(given['cost'], 6))}"
    least = "proven least, every pattern that protects costs as much or more"
    what = proof(given, "no pattern that protects costs less than", least)
    return f"{cost}{':' if proven(given) else ';'} {what}."


def _alone(why: str) -> str:
    """Say that respondents who are alone in a cell were not looked at, and why."""
    return f"respondents of single cells were not looked at, because {why}"


def _below(given: Json) -> Iterator[str]:
    """Counts and numbers of respondents that cannot reach the threshold of their rule."""
    for found, one, many in (
        (given, "count is", "counts are"),
        (given.get("respondents") or {}, "number of respondents is", "numbers of respondents are"),
    ):
        below = len((found.get("counts") or {}).get("threshold_out_of_reach", ()))
        if below:
            yield several(below, one, many)


def _reasons(given: Json) -> Iterator[str]:
    statuses = given["table"]["statuses"]
    every = sum(one["value"] for one in statuses.values())
    lost = sum(statuses[name]["value"] for name in "um")
    if given["suppressed"]:
        share = f", with {percent(lost / every)} of the sum of all values" if every > 0 else ""
        yield f"{of_all(given['suppressed'], given['cells'])} cells are suppressed{share}, totals included."
    if (given["under_protected"] or given["undecided"]) and given["from"]["left_out"] is not None:
        yield f"{sentence(_alone(given['from']['left_out']))}."
    if given.get("respondents"):
        yield "Numbers of respondents are published beside the values, in the same cells."
    elif given.get("respondents_known") and given["sensitive"]:
        yield "Numbers of respondents were not looked at: publish none beside the values."
    for cells in _below(given):
        yield f"Readers know that {cells} below the threshold of the rule, whatever is suppressed."
    yield from _known(given)
    if given["cost"] is not None:
        yield from ended(given)


def _known(given: Json) -> Iterator[str]:
    """Cells that are known exactly, and intervals that are not known."""
    exact, grid, left = len(given["known_exactly"]), given["on_grid"], len(given["not_audited"])
    if exact:
        known = several(exact, "suppressed cell is", "suppressed cells are")
        yield f"{known} known exactly, though not shown."
    if grid["known"]:
        known = several(len(grid["known"]), "sensitive cell is", "sensitive cells are")
        who = f"whoever knows that all values are multiples of {grid['step']:.10g}"
        yield f"{known} known exactly to {who}: its level is less than such a step. Give a larger one."
    if left:
        cells = several(left, "suppressed cell")
        yield f"Of {cells} the interval was not followed to its ends; it is at least as wide as it is shown."
    if not given.get("intervals", True):
        yield "Levels only were asked for, no intervals."


# What the audit found


def audit_numbers(given: Json) -> Numbers:
    """What the audit found, in short: of outsiders, in rational numbers, and of insiders."""
    found, titles = attacked(given), titles_of(given)
    sensitive = [one for one in found if one.status == "u"]
    short = [f"{titles(one.number)} by {exactly(one.short)}" for one in sensitive if one.short > 0]
    undecided = [titles(one.number) for one in sensitive if one.undecided]
    exact = [titles(one.number) for one in found if one.exact]
    several_values = "Every suppressed cell has several possible values."
    lines = [
        Number("Sensitive cells", count(given["sensitive"])),
        Number("Not protected", count(len(short)), meaning=some(short)),
    ]
    if undecided:
        lines.append(Number("Not known whether they are", count(len(undecided)), meaning=some(undecided)))
    known = some(exact) or several_values
    lines.append(Number("Suppressed cells that are known exactly", count(len(exact)), meaning=known))
    if sensitive:
        worst = sensitive[0]
        reached = "" if worst.reached == float("inf") else f", {percent(worst.reached)} of its level"
        lines.append(Number("Nearest to its level", worst.cell, meaning=f"{worst.interval}{reached}"))
    return Numbers("", (*lines, *_in_rational_numbers(given, titles), *_insiders(given, titles)))


def _in_rational_numbers(given: Json, titles: Callable[[int], str]) -> Iterator[Number]:
    found = given.get("exact")
    if found is None:
        return
    words = f"In {'whole' if found['whole'] else 'rational'} numbers"
    if found["protected"]:
        by = f"by {several(found['witnesses'], 'witness vector')}"
        yield Number(words, "every level is met", meaning=by)
        return
    said = [
        f"{several(many, 'level')} {how}"
        for many, how in ((found["levels_missed"], "missed"), (found["levels_undecided"], "undecided"))
        if many
    ]
    cells = sorted({*found["missed"], *found["undecided"]})
    yield Number(words, "NOT protected", meaning=f"{' and '.join(said)}, of {some(map(titles, cells))}")


def _insiders(given: Json, titles: Callable[[int], str]) -> Iterator[Number]:
    """What those find who know more than outsiders: contributors, singletons, coalitions."""
    found = given.get("insiders")
    if found is None:
        return
    far = f", {_AS_FAR}" if found["unreachable"] else ""
    said = [f"every sensitive cell is protected from each{far}"]
    if not found["protected"]:
        lines = zip(found["under_protected"], found["short_of"], found["short_by"], strict=True)
        short = [f"{titles(cell)} from {who}, by {exactly(by)}" for cell, who, by in lines]
        said = [f"NOT protected: {several(len(short), 'cell')}: {some(short)}"] if short else []
        said += [] if found["audited"] else ["NOT protected: time was out before all levels were looked at"]
    if found["without_interval"]:
        said.append(f"{several(found['without_interval'], 'interval')} not looked for")
    yield Number("Insiders", count(found["attackers"]), meaning="; ".join(said))
    if found["unreachable"]:
        why = (
            "As much was asked for as can be, whatever is suppressed, because of what they know of their own"
        )
        each = [
            f"{titles(one['cell'])} from {one['attacker']}: {one['reached']:g} of {one['level']:g}"
            for one in found["unreachable"]
        ]
        yield Number("Levels out of reach", count(len(each)), meaning=f"{why} cells: {some(each)}.")


def audited(given: Json) -> Section:
    """What the audit found, from whom, and what insiders find."""
    lead = (
        "Counted by code that knows values, relations and bounds, and nothing of how cells were chosen: two "
        "linear programs for each suppressed cell"
        + ("; what whole numbers say besides is looked for in these." if given.get("counts") else ".")
    )
    blocks = (audit_numbers(given), _from_whom(given), *_insiders_find(given, attacked(given)))
    return Section("audit", "What the audit found", lead, blocks)


def _from_whom(given: Json) -> Block:
    """Who attacks, who was looked at, and whether the sensitive cells are protected from them."""
    outside = "no" if given["under_protected"] or given["undecided"] else "yes"
    rows = [["Outsiders, who know what is published", outside]]
    known, found = given["from"], given.get("insiders")
    inside = "there are none" if found is None else "yes" if found["protected"] else "no"
    if found is not None and found["protected"] and known["in_part"]:
        inside = _AS_FAR
    rows += [
        [words, inside if kind in known["who"] else _not_looked_at(kind, given)]
        for kind, words in _WHO.items()
        if kind != "singletons" or "contributors" not in known["who"]
    ]
    return table("From whom", [("who", "Attackers", Of.TEXT), ("safe", "Protected", Of.TEXT)], rows)


def _not_looked_at(kind: str, given: Json) -> str:
    why = given["from"]["left_out"] if kind == "singletons" else None
    return "not looked at" if why is None else f"not looked at: {why}"


def _insiders_find(given: Json, cells: Sequence[Attacked]) -> tuple[Block, ...]:
    """Cells that are not protected from an insider, and the narrowest intervals; nothing without insiders."""
    found = given.get("insiders")
    if found is None:
        return ()
    names = {one.number: one.cell for one in cells}
    blocks: list[Block] = []
    if found["under_protected"]:
        columns = [
            *(("cell", "Cell", Of.TEXT), ("short", "Short by", Of.NUMBER)),
            ("attacker", "Of whom", Of.TEXT),
        ]
        lines = zip(found["under_protected"], found["short_by"], found["short_of"], strict=True)
        rows = [[names.get(cell, f"cell {cell}"), by, who] for cell, by, who in lines]
        blocks.append(table("Cells that an insider finds too closely", columns, rows[:MOST_LISTED]))
    narrowest = {one["cell"]: one for one in found["narrowest"]}
    shown = [
        {**narrowest[one.number], "cell": one.cell, "value": one.value}
        for one in cells
        if one.status == "u" and one.number in narrowest
    ]
    if shown:
        columns = [*_COLUMNS, ("attacker", "Found by", Of.TEXT)]
        blocks.append(
            listing("The narrowest interval that anybody finds of each sensitive cell", columns, shown)
        )
    return tuple(blocks)


# Intervals


def what_attackers_find(given: Json) -> Section:
    """The interval of each suppressed cell as a picture and a table, the worst first."""
    found = attacked(given)
    sensitive, rest = ([one for one in found if (one.status == "u") is asked] for asked in (True, False))
    if not found:
        none = "No cell is suppressed, so that there is nothing to find out."
        return Section("intervals", "Intervals", none)
    lead = "What an outsider, who knows all published cells and relations, finds of each suppressed cell."
    blocks: list[Block] = []
    if sensitive:
        drawn = listing("Sensitive cells", [*_COLUMNS, *_LEVELS], sensitive)
        blocks.append(intervals([_reach(one) for one in sensitive], drawn))
    if rest:
        blocks.append(listing("Cells suppressed with them", _COLUMNS, rest))
    text = "Of each kind the first {:,} cells are listed, those that reach least of their level."
    blocks += cut(max(len(sensitive), len(rest)), text)
    return Section("intervals", "Intervals", lead, tuple(blocks))


def _reach(one: Attacked) -> Reach:
    short = f", short by {exactly(one.short)}" if one.short > 0 else ""
    levels = (one.lower_level, one.upper_level, one.sliding_level)
    return Reach(one.cell, *one.reach, *levels, f"{one.interval}{short}", one.unsafe)


# Counts, and numbers of respondents


def counted(given: Json) -> tuple[Section, ...]:
    """A section for a table of counts, and one for numbers of respondents; none where there are neither."""
    found = []
    if given.get("counts"):
        guess = ", as was guessed from its values" if given["counts"]["guessed"] else ""
        known = "readers know that they are whole numbers, and attack as such"
        lead = f"This is a table of counts{guess}: {known}."
        found.append(Section("counts", "Counts", lead, known_of_counts(given)))
    if given.get("respondents"):
        found.append(_respondents(given["respondents"]))
    return tuple(found)


def known_of_counts(given: Json) -> tuple[Block, ...]:
    """What readers know of counts, and cells that are known to be below the threshold of a rule."""
    known = given["counts"]
    least = (
        "Empty cells are shown, so that a suppressed cell is not empty."
        if known["least"]
        else "A suppressed cell may be empty."
    )
    below, names = known["threshold_out_of_reach"], {one.number: one.cell for one in attacked(given)}
    below = [{**one, "cell": names.get(one["cell"], f"cell {one['cell']}")} for one in below]
    numbers = [Number("A suppressed count is at least", count(known["least"]), meaning=least)]
    if known["thresholds"]:
        said = "As far as readers know, these may be at the threshold of the rule or above."
        reached = count(known["thresholds"] - len(below))
        numbers.append(Number("Sensitive cells that reach the threshold", reached, meaning=said))
    if known["lowered"]:
        one, titles = known["lowered"][0], titles_of(given)
        said = (
            "No table in whole numbers reaches them, whatever is suppressed; another count stays possible: "
            f"{titles(one['cell'])} {one['way']} {one['reached']:g} of {one['level']:g}."
        )
        numbers.append(Number("Levels that were lowered", count(len(known["lowered"])), meaning=said))
    if not below:
        return (Numbers("", tuple(numbers)),)
    columns = [
        *(("cell", "Cell", Of.TEXT), ("threshold", "Threshold", Of.NUMBER)),
        ("reached", "Readers think at most", Of.NUMBER),
    ]
    shown = listing("Cells that readers know to be below the threshold", columns, below)
    return Numbers("", tuple(numbers)), shown


def beside_values(beside: Json) -> str:
    """Whether numbers of respondents are protected."""
    state = "of every sensitive cell another number is possible" if beside["protected"] else "NOT protected"
    return f"They are published beside the values, where a cell is not suppressed: {state}."


def _respondents(beside: Json) -> Section:
    own = several(beside["sensitive"], "sensitive cell is", "sensitive cells are")
    text = f"The same cells are suppressed in both tables: the {own} those of the values."
    blocks: tuple[Block, ...] = (
        Paragraph(text, quiet=True),
        *the_grid(beside),
        *known_of_counts(beside),
        *what_attackers_find(beside).blocks,
        *audited(beside).blocks,
    )
    return Section("respondents", "Numbers of respondents", beside_values(beside), blocks)
