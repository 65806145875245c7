"""The report of an adjusted table: how far sensitive cells moved, and what that changed of all others."""

from __future__ import annotations

from collections.abc import Iterator

from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.document import Headline, Items, Number, Numbers, Paragraph, Section
from linkrisk.solver.documents.formats import significant
from linkrisk.solver.report.content.tables.making import files, found_by, rule
from linkrisk.solver.report.content.tables.rounding import by_category, changed_table
from linkrisk.solver.report.content.tables.words import (
    Json,
    ended,
    exactly,
    moved,
    proven,
    several,
)
from linkrisk.solver.report.content.wording import of_all, table
from linkrisk.solver.run.gaps import no_less
from linkrisk.solver.run.percent import percent

MOST_LISTED = 2_000
"""Sensitive cells in the table of the page."""

_WEIGHTS = {
    "value": "1 over its value, at least 1",
    "unit": "the same for all",
    "root": "1 over the root of its value",
    "given": "as given in the column cost",
}


def adjustment_headline(given: Json) -> Headline:
    """What stands at the head of the report."""
    sensitive = several(given["sensitive"], "sensitive cell is", "sensitive cells are")
    said = f"{sensitive} at least {'its' if given['sensitive'] == 1 else 'their'} level away from the value"
    proof = (
        "at the least change, proven"
        if proven(given)
        else f"at a cost of {significant(given['cost'])}; "
        + no_less("no adjustment costs less than", given["cost"], given["bound"], significant(given["bound"]))
    )
    worst = "Every relation adds up, and every bound and level holds: counted again after the search."
    if not given["sensitive"]:
        said, proof = "No cell is sensitive", "nothing had to change"
    answer = "below" if proven(given) else "open"
    return Headline(answer, f"{said}: {proof}.", worst, tuple(_reasons(given)))


def _reasons(given: Json) -> Iterator[str]:
    changed = of_all(given["changed"], given["cells"])
    yield f"{changed} cells changed; the largest change is {exactly(given['largest_change'])}."
    yield (
        f"A cell changed by {percent(given['mean_relative_change'])} of its value in the mean, by "
        f"{percent(given['median_relative_change'])} in the median."
    )
    yield from ended(given)


def adjustment_sections(given: Json) -> tuple[Section, ...]:
    """All of it."""
    return (
        changed_table(given),
        _sensitive(given),
        changes_by_share(given),
        by_category(given),
        _made(given),
        _limits(),
    )


def _sensitive(given: Json) -> Section:
    lines = sorted(moved(given), key=lambda one: -abs(one.became - one.value) / max(abs(one.value), 1.0))
    columns = [
        ("cell", "Cell", Of.TEXT),
        *(("value", "Value", Of.NUMBER), ("became", "Published as", Of.NUMBER)),
        *(("level", "Had to move by", Of.NUMBER), ("moved", "Moved by", Of.NUMBER)),
        ("share", "Of its value", Of.SHARE),
    ]
    rows = [
        [
            one.name,
            *(one.value, one.became, one.level, abs(one.became - one.value)),
            abs(one.became - one.value) / abs(one.value) if one.value else None,
        ]
        for one in lines[:MOST_LISTED]
    ]
    up = given["up"]
    lead = f"{several(up, 'cell')} went up, {several(given['sensitive'] - up, 'cell')} down."
    cut = f"The first {MOST_LISTED:,} are listed, those that moved by the largest share of their value."
    more = (Paragraph(cut, quiet=True),) if len(lines) > MOST_LISTED else ()
    return Section("sensitive", "Sensitive cells", lead, (table("", columns, rows), *more))


def changes_by_share(given: Json) -> Section:
    """How many cells changed by up to which share of their value."""
    columns = [("by", "Change", Of.TEXT), ("cells", "Cells", Of.COUNT), ("share", "Share", Of.SHARE)]
    found, rows, last = given["table"]["changes"], [], 0.0
    for end, many in found:
        if end == 0:
            words = "none"
        elif end is None:
            words = f"more than {percent(last)} of the value"
        else:
            words = f"up to {percent(end)} of the value"
        rows.append([words, many, many / given["cells"]])
        last = last if end is None else end
    lead = "How many cells changed by up to which share of their value."
    return Section("changes", "Changes", lead, (table("", columns, rows),))


def _made(given: Json) -> Section:
    asked = (
        rule(given),
        Number("Weight of a change", _WEIGHTS.get(given["weight"], str(given["weight"]))),
        Number(
            "What is least", "the sum of squares of changes" if given["squares"] else "the sum of changes"
        ),
        Number("Sensitive cells go", "up only" if given["up_only"] else "up or down, as costs less"),
        Number("Values", _on(given["step"])),
    )
    blocks = (
        Numbers("What was asked", asked),
        Numbers("How it was found", tuple(found_by(given))),
        files(given),
    )
    return Section("making", "How it was made", "What is needed to make this again.", blocks)


def _on(step: float | None) -> str:
    """The grid that adjusted values are on, as all others are."""
    return "any numbers" if step is None else "whole numbers" if step == 1 else f"multiples of {step:.10g}"


def _limits() -> Section:
    items = (
        "Every cell is published, but none says whether its value is the true one: users have to be told "
        "that "
        "values were adjusted, and by how much at most.",
        "Whoever knows that the change is the least may find out more than from the table alone: parameters "
        "stay in the house.",
    )
    references = (
        "R. A. Dandekar, L. H. Cox, Synthetic tabular data: an alternative to complementary cell "
        "suppression, "
        "2002.",
        "J. Castro, Minimum-distance controlled perturbation methods for large-scale tabular data "
        "protection, "
        "European Journal of Operational Research 171, 2006, 39–52.",
    )
    blocks = (Items("", items), Items("References", references))
    return Section("limits", "What it does not tell", "", blocks)
