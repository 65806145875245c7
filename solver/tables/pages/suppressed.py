"""Pages of tables with suppressed cells: protection, cost, and intervals of attackers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from linkrisk.errors import needs_extra
from linkrisk.solver.documents.document import Block, Headline, Number, Numbers, Paragraph, Section
from linkrisk.solver.documents.wording import count, numbers, of_all, sentence, shares, table, texts
from linkrisk.solver.run.number_format import percent, several
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.tables.pages.shown import the_grid
from linkrisk.solver.tables.pages.words import (
    are,
    attacked,
    cost,
    cut,
    ended,
    exactly,
    listing,
    proof,
    proven,
    some,
    titles_of,
    with_names,
)

_COLUMNS = texts(cell="Cell") + numbers(value="Value", low="Low", high="High")
_LEVELS = texts(levels="Must remain possible") + shares(reached="Of its level") + numbers(short="Short by")
_WHO = {
    "singletons": "Respondents who are alone in a cell",
    "contributors": "Every respondent, who knows its own contributions",
    "listed": "Those who are listed as knowing more",
    "coalitions": "Coalitions, whose members tell one another everything",
}
_AS_FAR = "as far as they can be kept from them"
"""Protection against insiders if no pattern reaches all levels."""

# ---- the headline


def headline(given: Json) -> Headline:
    """Summarise protection, cost, and its proof."""
    return Headline(_answer(given), _verdict(given), _searched(given), tuple(_reasons(given)))


def _answer(given: Json) -> str:
    if not given["protected"]:
        return "above"
    if not given["sensitive"]:
        return "unknown"
    return "below" if given["cost"] is None or proven(given) else "open"


def _verdict(given: Json) -> str:
    sensitive, short, undecided = given["sensitive"], len(given["under_protected"]), len(given["undecided"])
    of = several(sensitive, "sensitive cell")
    if not sensitive:
        return "No cell is sensitive: nothing had to be suppressed."
    if short:
        one, many = "is NOT protected: it can", "are NOT protected: they can"
        return f"{count(short)} of {of} {one if short == 1 else many} be computed too closely."
    if undecided:
        ended_before = "nobody knows whether they are protected: the audit was ended before"
        return f"Of {count(undecided)} of {of} {ended_before}."
    if given.get("exact") and not given["exact"]["protected"]:
        return "The table is NOT protected: in rational numbers not every level is met."
    if given.get("respondents") and not given["respondents"]["protected"]:
        return "Numbers of respondents beside the values are NOT protected: they can be computed."
    all_of_them = "Both" if sensitive == 2 else f"All {count(sensitive)}"
    cells = "The sensitive cell is" if sensitive == 1 else f"{all_of_them} sensitive cells are"
    return f"{cells} protected from outsiders{_from_others(given)}."


def _from_others(given: Json) -> str:
    """Continue "protected from outsiders" with other attackers."""
    insiders, left_out = given.get("insiders"), given["from"]["left_out"]
    more = "" if left_out is None else f"; {_alone(left_out)}"
    if insiders is None:
        return f" only{more}" if left_out else more or "; no cell has a single respondent"
    who, short = several(insiders["attackers"], "insider"), len(insiders["under_protected"])
    if insiders["protected"]:
        far = f", {_AS_FAR}" if given["from"]["in_part"] else ""
        return f" and from {who}{far}{more}"
    if not short:
        return f"; nobody knows whether from {who}: that audit was ended before"
    return f", but {are(short, 'cell')} NOT protected from insiders"


def _searched(given: Json) -> str:
    """Count the secondary suppressions, with cost and bound."""
    said = f"{are(given['suppressed'] - given['sensitive'], 'cell')} suppressed"
    if not given["sensitive"]:
        return f"{said}." if given["suppressed"] else ""
    if given["cost"] is None:
        return f"{said} with them; nothing was searched, only audited."
    least = "proven least, every pattern that protects costs as much or more"
    what = proof(given, "no pattern that protects costs less than", least)
    return f"{said} with them, at a cost of {cost(given['cost'])}{':' if proven(given) else ';'} {what}."


def _alone(why: str) -> str:
    """Say why respondents who are alone in a cell were left out of the audit."""
    return f"respondents of single cells were not looked at, because {why}"


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
    for found, one, many in (
        (given, "count is", "counts are"),
        (given.get("respondents") or {}, "number of respondents is", "numbers of respondents are"),
    ):
        if below := len((found.get("counts") or {}).get("threshold_out_of_reach", ())):
            cells = several(below, one, many)
            yield f"Readers know that {cells} below the threshold of the rule, whatever is suppressed."
    yield from _known(given)
    if given["cost"] is not None:
        yield from ended(given)


def _known(given: Json) -> Iterator[str]:
    """List cells that are known exactly, and unknown intervals."""
    grid = given["on_grid"]
    if exact := len(given["known_exactly"]):
        yield f"{are(exact, 'suppressed cell')} known exactly, though not shown."
    if grid["known"]:
        who = f"whoever knows that all values are multiples of {grid['step']:.10g}"
        known = are(len(grid["known"]), "sensitive cell")
        yield f"{known} known exactly to {who}: its level is less than such a step. Give a larger one."
    if left := len(given["not_audited"]):
        cells = several(left, "suppressed cell")
        yield f"Of {cells} the interval was not followed to its ends; it is at least as wide as it is shown."
    if not given.get("intervals", True):
        yield "Levels only were asked for, no intervals."


# ---- the audit


def audit_numbers(given: Json) -> Numbers:
    """Summarise the audit: outsiders, rational arithmetic, and insiders."""
    titles = titles_of(given)
    found = (*_outsiders(given, titles), *_in_rational_numbers(given, titles), *_insiders(given, titles))
    return Numbers("", found)


def _outsiders(given: Json, titles: Callable[[int], str]) -> Iterator[Number]:
    found = attacked(given)
    sensitive = [one for one in found if one.sensitive]
    short = [f"{titles(one.number)} by {exactly(one.short)}" for one in sensitive if one.short > 0]
    yield Number("Sensitive cells", count(given["sensitive"]))
    yield Number("Not protected", count(len(short)), meaning=some(short))
    if undecided := [titles(one.number) for one in sensitive if one.undecided]:
        yield Number("Not known whether they are", count(len(undecided)), meaning=some(undecided))
    exact = [titles(one.number) for one in found if one.exact]
    known = some(exact) or "Every suppressed cell has several possible values."
    yield Number("Suppressed cells that are known exactly", count(len(exact)), meaning=known)
    for worst in sensitive[:1]:
        reached = "" if worst.reached == float("inf") else f", {percent(worst.reached)} of its level"
        yield Number("Nearest to its level", worst.cell, meaning=f"{worst.interval}{reached}")


def _in_rational_numbers(given: Json, titles: Callable[[int], str]) -> Iterator[Number]:
    found = given.get("exact")
    if found is None:
        return
    words = f"In {'whole' if found['whole'] else 'rational'} numbers"
    value, meaning = "every level is met", f"by {several(found['witnesses'], 'witness vector')}"
    if not found["protected"]:
        ways = [(how, found[f"levels_{how}"]) for how in ("missed", "undecided")]
        said = " and ".join(f"{several(many, 'level')} {how}" for how, many in ways if many)
        cells = some(map(titles, sorted({*found["missed"], *found["undecided"]})))
        value, meaning = "NOT protected", f"{said}, of {cells}"
    yield Number(words, value, meaning=meaning)


def _insiders(given: Json, titles: Callable[[int], str]) -> Iterator[Number]:
    """Summarise the audit against contributors, singletons and coalitions."""
    found = given.get("insiders")
    if found is None:
        return
    out_of_reach = [
        f"{titles(one['cell'])} from {one['attacker']}: {one['reached']:g} of {one['level']:g}"
        for one in found["unreachable"]
    ]
    said = [f"every sensitive cell is protected from each{f', {_AS_FAR}' if out_of_reach else ''}"]
    if not found["protected"]:
        lines = zip(found["under_protected"], found["short_of"], found["short_by"], strict=True)
        short = [f"{titles(cell)} from {who}, by {exactly(by)}" for cell, who, by in lines]
        said = [f"NOT protected: {several(len(short), 'cell')}: {some(short)}"] if short else []
        said += [] if found["audited"] else ["NOT protected: time was out before all levels were looked at"]
    if found["without_interval"]:
        said.append(f"{several(found['without_interval'], 'interval')} not looked for")
    yield Number("Insiders", count(found["attackers"]), meaning="; ".join(said))
    if out_of_reach:
        why = "As much was asked for as can be, whatever is suppressed, because of what they know"
        meaning = f"{why} of their own cells: {some(out_of_reach)}."
        yield Number("Levels out of reach", count(len(out_of_reach)), meaning=meaning)


def audited(given: Json) -> Section:
    """Build the section on the audit, its attackers, and insiders."""
    lead = (
        "Counted by code that knows values, relations and bounds, and nothing of how cells were chosen: two "
        "linear programs for each suppressed cell"
        + ("; what whole numbers say besides is looked for in these." if given.get("counts") else ".")
    )
    blocks = (audit_numbers(given), _from_whom(given), *_insiders_find(given))
    return Section("audit", "What the audit found", lead, blocks)


def _from_whom(given: Json) -> Block:
    """Build the table of attackers and protection against each."""
    known, found = given["from"], given.get("insiders")
    inside = "there are none" if found is None else "yes" if found["protected"] else "no"
    if inside == "yes" and known["in_part"]:
        inside = _AS_FAR
    left_out = "" if known["left_out"] is None else f": {known['left_out']}"
    not_looked_at = {kind: f"not looked at{left_out if kind == 'singletons' else ''}" for kind in _WHO}
    outside = "no" if given["under_protected"] or given["undecided"] else "yes"
    rows = [["Outsiders, who know what is published", outside]]
    rows += [
        [words, inside if kind in known["who"] else not_looked_at[kind]]
        for kind, words in _WHO.items()
        if kind != "singletons" or "contributors" not in known["who"]
    ]
    return table("From whom", texts(who="Attackers", safe="Protected"), rows)


def _insiders_find(given: Json) -> Iterator[Block]:
    """List cells not protected against an insider, and the narrowest intervals; nothing without insiders."""
    found = given.get("insiders") or {"under_protected": [], "narrowest": []}
    if found["under_protected"]:
        columns = texts(cell="Cell") + numbers(short="Short by") + texts(attacker="Of whom")
        parts = zip(found["under_protected"], found["short_by"], found["short_of"], strict=True)
        lines = [{"cell": cell, "short": by, "attacker": who} for cell, by, who in parts]
        yield listing("Cells that an insider finds too closely", columns, with_names(given, lines))
    narrowest = {one["cell"]: one for one in found["narrowest"]}
    shown = [
        {**narrowest[one.number], "cell": one.cell, "value": one.value}
        for one in attacked(given)
        if one.sensitive and one.number in narrowest
    ]
    if shown:
        caption = "The narrowest interval that anybody finds of each sensitive cell"
        yield listing(caption, _COLUMNS + texts(attacker="Found by"), shown)


def what_attackers_find(given: Json) -> Section:
    """Show the interval of each suppressed cell as a chart and a table, the worst first."""
    found = attacked(given)
    sensitive, rest = ([one for one in found if one.sensitive is asked] for asked in (True, False))
    lead = "What an outsider, who knows all published cells and relations, finds of each suppressed cell."
    if not found:
        lead = "No cell is suppressed, so that there is nothing to find out."
    blocks: list[Block] = []
    if sensitive:
        drawn = listing("Sensitive cells", _COLUMNS + _LEVELS, sensitive)
        needs_extra("drawing charts", "altair")
        from linkrisk.solver.charts.rows import intervals

        blocks.append(intervals([one.reach for one in sensitive], drawn))
    if rest:
        blocks.append(listing("Cells suppressed with them", _COLUMNS, rest))
    text = "Of each kind the first {:,} cells are listed, those that reach least of their level."
    blocks += cut(max(len(sensitive), len(rest)), text)
    return Section("intervals", "Intervals", lead, tuple(blocks))


# ---- counts, and respondent counts


def counted(given: Json) -> Iterator[Section]:
    """Build a section for a table of counts, and one for respondent counts, where there are any."""
    if given.get("counts"):
        guess = ", as was guessed from its values" if given["counts"]["guessed"] else ""
        known = "readers know that they are whole numbers, and attack as such"
        lead = f"This is a table of counts{guess}: {known}."
        yield Section("counts", "Counts", lead, known_of_counts(given))
    if beside := given.get("respondents"):
        own = are(beside["sensitive"], "sensitive cell")
        blocks: tuple[Block, ...] = (
            Paragraph(
                f"The same cells are suppressed in both tables: the {own} those of the values.", quiet=True
            ),
            *the_grid(beside),
            *known_of_counts(beside),
            *what_attackers_find(beside).blocks,
            *audited(beside).blocks,
        )
        yield Section("respondents", "Numbers of respondents", beside_values(beside), blocks)


def known_of_counts(given: Json) -> tuple[Block, ...]:
    """Describe the public knowledge of counts, and cells known to be below the threshold of a rule."""
    below = with_names(given, given["counts"]["threshold_out_of_reach"])
    found = Numbers("", tuple(_of_counts(given, len(below))))
    columns = texts(cell="Cell") + numbers(threshold="Threshold", reached="Readers think at most")
    shown = listing("Cells that readers know to be below the threshold", columns, below)
    return (found, shown) if below else (found,)


def _of_counts(given: Json, below: int) -> Iterator[Number]:
    known = given["counts"]
    shown, not_shown = (
        "Empty cells are shown, so that a suppressed cell is not empty.",
        "A suppressed cell may be empty.",
    )
    least = count(known["least"])
    yield Number("A suppressed count is at least", least, meaning=shown if known["least"] else not_shown)
    if known["thresholds"]:
        said = "As far as readers know, these may be at the threshold of the rule or above."
        reached = count(known["thresholds"] - below)
        yield Number("Sensitive cells that reach the threshold", reached, meaning=said)
    for one in known["lowered"][:1]:
        said = (
            "No table in whole numbers reaches them, whatever is suppressed; another count stays possible: "
            f"{titles_of(given)(one['cell'])} {one['way']} {one['reached']:g} of {one['level']:g}."
        )
        yield Number("Levels that were lowered", count(len(known["lowered"])), meaning=said)


def beside_values(beside: Json) -> str:
    """Tell whether respondent counts are protected."""
    state = "of every sensitive cell another number is possible" if beside["protected"] else "NOT protected"
    return f"They are published beside the values, where a cell is not suppressed: {state}."
