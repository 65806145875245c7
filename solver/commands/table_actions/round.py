"""`python -m solver tables round`: all cells become multiples of a base, and still add up."""

from __future__ import annotations

from linkrisk.solver.commands.table_actions.common import changed_table
from linkrisk.solver.options.table_protection import RoundCommand, RoundOptions

ASKED = RoundCommand
EXAMPLE = "example: tables round --cells cells.csv --relations relations.csv --base 5 --output safe.csv"


def run(asked: RoundCommand) -> int:
    """Round, write, and print what was found."""
    from linkrisk.solver.tables.operations.adjust_and_round import round_table

    return changed_table(RoundOptions, asked, round_table, "rounding cells")
