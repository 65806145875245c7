"""`python -m solver tables adjust`: values changed such that sensitive cells are far enough from theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkrisk.solver.commands.table_actions.common import (
    changed_table,
    table_line,
    written_lines,
)
from linkrisk.solver.options.operations.tables.adjust import AdjustCommand, AdjustOptions
from linkrisk.solver.run.counts import several

if TYPE_CHECKING:
    from linkrisk.solver.tables.operations.adjust import AdjustedTable

ASKED = AdjustCommand
EXAMPLE = "example: tables adjust --cells cells.csv --relations relations.csv --output adjusted.csv"


def run(asked: AdjustCommand) -> int:
    """Adjust, write, and print what was found."""
    from linkrisk.solver.tables.operations.adjust import adjust_table

    print(_summary(asked, changed_table(AdjustOptions, asked, adjust_table, "adjusting cells")))
    return 0


def _summary(asked: AdjustCommand, result: AdjustedTable) -> str:
    from linkrisk.solver.run.gaps import no_less
    from linkrisk.solver.run.status import Status

    found = result.to_dict()
    sensitive, up = found["sensitive"], found["up"]
    cost = f"{result.cost:,.6g}"
    proof = (
        "proven least"
        if result.status is Status.OPTIMAL
        else no_less(
            "no adjustment costs less than", result.cost, result.bound, f"{result.bound:,.6g}", "{} % less"
        )
    )
    squares = "squares of changes" if found["squares"] else "changes"
    lines = [
        table_line(asked, found["cells"], found["relations"]),
        f"sensitive   {several(sensitive, 'cell')}: {up} went up, {sensitive - up} down",
        f"adjusted    {several(found['changed'], 'cell')}, by {result.largest_change:,.6g} at most",
        f"cost        {cost}, the sum of weighted {squares}: {proof}",
        "audit       every relation adds up, every sensitive cell is as far off as its level",
    ]
    if "guessed" in found and sensitive:
        lines.append(
            f"readers     who know the rule and how counts are adjusted guess {found['guessed']:,} of "
            f"{several(sensitive, 'sensitive count')} from what is published"
        )
    return "\n".join([*lines, *written_lines(asked, "output", "internal")])
