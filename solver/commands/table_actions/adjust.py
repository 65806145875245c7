"""`python -m solver tables adjust`: values changed such that sensitive cells are far enough from theirs."""

from __future__ import annotations

from linkrisk.solver.commands.table_actions.common import changed_table
from linkrisk.solver.options.table_protection import AdjustCommand, AdjustOptions

ASKED = AdjustCommand
EXAMPLE = "example: tables adjust --cells cells.csv --relations relations.csv --output adjusted.csv"


def run(asked: AdjustCommand) -> int:
    """Adjust, write, and print what was found."""
    from linkrisk.solver.tables.operations.adjust_and_round import adjust_table

    return changed_table(AdjustOptions, asked, adjust_table, "adjusting cells")
