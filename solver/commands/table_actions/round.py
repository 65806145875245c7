"""`python -m solver tables round`: all cells become multiples of a base, and still add up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkrisk.solver.commands.table_actions.common import (
    changed_table,
    table_line,
    written_lines,
)
from linkrisk.solver.options.operations.tables.round import RoundCommand, RoundOptions
from linkrisk.solver.run.counts import several

if TYPE_CHECKING:
    from linkrisk.solver.tables.operations.round import RoundedTable

ASKED = RoundCommand
EXAMPLE = "example: tables round --cells cells.csv --relations relations.csv --base 5 --output safe.csv"


def run(asked: RoundCommand) -> int:
    """Round, write, and print what was found."""
    from linkrisk.solver.tables.operations.round import round_table

    print(_summary(asked, changed_table(RoundOptions, asked, round_table, "rounding cells")))
    return 0


def _summary(asked: RoundCommand, result: RoundedTable) -> str:
    from linkrisk.solver.run.counts import count
    from linkrisk.solver.run.gaps import NO_BOUND, has_bound

    found = result.to_dict()
    kind = "relaxed" if found["relaxed"] else "zero-restricted"
    if found["relaxed"] and not found["asked_relaxed"]:
        kind = "relaxed (no zero-restricted one was found in time)"
    said = f"{count(round(result.cost, 6))} in all, {result.largest_change:g} at most"
    proof = NO_BOUND
    if result.bound >= result.cost:
        proof = "proven least"
    elif has_bound(result.cost, result.bound):
        proof = f"no rounding of this kind changes less than {count(round(result.bound, 6))}"
    lines = [
        table_line(asked, found["cells"], found["relations"]),
        f"rounded     to base {found['base']}, {kind}: {several(found['changed'], 'cell')} changed",
        f"change      {said}: {proof}",
        "audit       every cell is a multiple, and every relation adds up exactly",
    ]
    return "\n".join([*lines, *written_lines(asked, "output", "internal")])
