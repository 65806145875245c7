"""What readers know because values count, and of numbers of respondents that are published beside sums."""

from __future__ import annotations

from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.document import Block, Number, Numbers, Paragraph, Section
from linkrisk.solver.documents.formats import count
from linkrisk.solver.report.content.tables.found import audited, what_attackers_find
from linkrisk.solver.report.content.tables.shown import the_grid
from linkrisk.solver.report.content.tables.words import Json, attacked, several
from linkrisk.solver.report.content.wording import table


def counted(given: Json) -> tuple[Section, ...]:
    """A section for a table of counts, and one for numbers of respondents; none where there are neither."""
    found = (_counts(given),) if given.get("counts") else ()
    return (*found, _respondents(given)) if given.get("respondents") else found


def _counts(given: Json) -> Section:
    guess = ", as was guessed from its values" if given["counts"]["guessed"] else ""
    lead = f"This is a table of counts{guess}: readers know that they are whole numbers, and attack as such."
    return Section("counts", "Counts", lead, known_of_counts(given))


def known_of_counts(given: Json) -> tuple[Block, ...]:
    """What readers know of counts, and cells that are known to be below the threshold of a rule."""
    known = given["counts"]
    least = (
        "Empty cells are shown, so that a suppressed cell is not empty."
        if known["least"]
        else "A suppressed cell may be empty."
    )
    below, names = known["threshold_out_of_reach"], {one.cell: one.name for one in attacked(given)}
    reached = known["thresholds"] - len(below)
    numbers = [Number("A suppressed count is at least", count(known["least"]), meaning=least)]
    if known["thresholds"]:
        said = "As far as readers know, these may be at the threshold of the rule or above."
        numbers.append(Number("Sensitive cells that reach the threshold", count(reached), meaning=said))
    if known["lowered"]:
        said = (
            "No table in whole numbers reaches them, whatever is suppressed; another count stays possible: "
        )
        one = known["lowered"][0]
        said += f"{names.get(one['cell'], _cell(one))} {one['way']} {one['reached']:g} of {one['level']:g}."
        numbers.append(Number("Levels that were lowered", count(len(known["lowered"])), meaning=said))
    blocks: list[Block] = [Numbers("", tuple(numbers))]
    if below:
        columns = [
            ("cell", "Cell", Of.TEXT),
            *(("threshold", "Threshold", Of.NUMBER), ("reached", "Readers think at most", Of.NUMBER)),
        ]
        rows = [[names.get(one["cell"], _cell(one)), one["threshold"], one["reached"]] for one in below]
        blocks.append(table("Cells that readers know to be below the threshold", columns, rows))
    return tuple(blocks)


def _cell(one: Json) -> str:
    return f"cell {one['cell']}"


def _respondents(given: Json) -> Section:
    beside = given["respondents"]
    state = "of every sensitive cell another number is possible" if beside["protected"] else "NOT protected"
    lead = f"They are published beside the values, where a cell is not suppressed: {state}."
    own = several(beside["sensitive"], "sensitive cell is", "sensitive cells are")
    text = f"The same cells are suppressed in both tables: the {own} those of the values."
    blocks: tuple[Block, ...] = (
        Paragraph(text, quiet=True),
        *the_grid(beside),
        *known_of_counts(beside),
        *what_attackers_find(beside).blocks,
        *audited(beside).blocks,
    )
    return Section("respondents", "Numbers of respondents", lead, blocks)
