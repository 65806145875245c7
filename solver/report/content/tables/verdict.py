"""The headline: whether the sensitive cells are protected, at what cost, and what proves it."""

from __future__ import annotations

from collections.abc import Iterator

from linkrisk.solver.documents.document import Headline
from linkrisk.solver.documents.formats import count
from linkrisk.solver.report.content.tables.words import (
    Json,
    ended,
    exactly,
    proven,
    secondary,
    several,
)
from linkrisk.solver.report.content.wording import of_all
from linkrisk.solver.run.from_whom import AS_FAR, known_on_grid, not_looked_at
from linkrisk.solver.run.gaps import no_less
from linkrisk.solver.run.percent import percent

_UNSAFE = ("under_protected", "undecided")


def headline(given: Json) -> Headline:
    """What stands at the head of the report."""
    return Headline(_answer(given), _verdict(given), searched(given), tuple(_reasons(given)))


def _answer(given: Json) -> str:
    if not given["protected"]:
        return "above"
    if not given["sensitive"]:
        return "unknown"
    return "below" if given["cost"] is None or proven(given) else "open"


def _verdict(given: Json) -> str:
    sensitive, short, undecided = (given["sensitive"], *(len(given[name]) for name in _UNSAFE))
    if not sensitive:
        return "No cell is sensitive: nothing had to be suppressed."
    if short:
        cells = f"{count(short)} of {several(sensitive, 'sensitive cell')}"
        one, many = "is NOT protected: it can", "are NOT protected: they can"
        return f"{cells} {one if short == 1 else many} be computed too closely."
    if undecided:
        cells = f"{count(undecided)} of {several(sensitive, 'sensitive cell')}"
        return f"Of {cells} nobody knows whether they are protected: the audit was ended before."
    if given.get("respondents") and not given["respondents"]["protected"]:
        return "Numbers of respondents beside the values are NOT protected: they can be computed."
    return _protected(given, "The sensitive cell is" if sensitive == 1 else _all(sensitive))


def _all(sensitive: int) -> str:
    return f"{'Both' if sensitive == 2 else f'All {count(sensitive)}'} sensitive cells are"


def _protected(given: Json, cells: str) -> str:
    """From whom they are."""
    insiders, left_out = given.get("insiders"), given["from"]["left_out"]
    more = "" if left_out is None else f"; {not_looked_at(left_out)}"
    if insiders is None:
        more = more or "; no cell has a single respondent"
        return f"{cells} protected from outsiders{' only' if left_out else ''}{more}."
    who = several(insiders["attackers"], "insider")
    if insiders["protected"]:
        far = f", {AS_FAR}" if given["from"]["in_part"] else ""
        return f"{cells} protected from outsiders and from {who}{far}{more}."
    short = len(insiders["under_protected"])
    if not short:
        return (
            f"{cells} protected from outsiders; nobody knows whether from {who}: that audit was ended before."
        )
    return (
        f"{cells} protected from outsiders, but {several(short, 'cell is', 'cells are')} NOT protected from "
        "insiders."
    )


def searched(given: Json) -> str:
    """What is suppressed with the sensitive cells, and what is known of cheaper patterns."""
    more = secondary(given)
    said = f"{several(more, 'cell is', 'cells are')} suppressed with them"
    if not given["sensitive"]:
        return "" if not given["suppressed"] else f"{several(more, 'cell is', 'cells are')} suppressed."
    if given["cost"] is None:
        return f"{said}; nothing was searched, only audited."
    cost = f"{said}, at a cost of {exactly(round(given['cost'], 6))}"
    if proven(given):
        return f"{cost}: proven least, every pattern that protects costs as much or more."
    shown = exactly(round(given["bound"], 6))
    less = no_less("no pattern that protects costs less than", given["cost"], given["bound"], shown)
    return f"{cost}; {less}."


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
    if given.get("respondents"):
        yield "Numbers of respondents are published beside the values, in the same cells."
    elif given.get("respondents_known") and given["sensitive"]:
        yield "Numbers of respondents were not looked at: publish none beside the values."
    for cells in _below(given):
        yield f"Readers know that {cells} below the threshold of the rule, whatever is suppressed."
    exact = len(given["known_exactly"])
    if exact:
        known = several(exact, "suppressed cell is", "suppressed cells are")
        yield f"{known} known exactly, though not shown."
    grid = given["on_grid"]
    if grid["known"]:
        known = several(len(grid["known"]), "sensitive cell is", "sensitive cells are")
        yield f"{known_on_grid(known, grid['step'])}: its level is less than such a step. Give a larger one."
    left = len(given["not_audited"])
    if left:
        cells = several(left, "suppressed cell")
        yield f"Of {cells} the interval was not followed to its ends; it is at least as wide as it is shown."
    if given["cost"] is not None:
        yield from ended(given)
