"""`python -m solver tables compare`: the same model of a table on every backend, side by side."""

from __future__ import annotations

from linkrisk.datasets.options.option import keywords
from linkrisk.solver.commands.compare import exit_code
from linkrisk.solver.options.table_protection import CompareTableCommand, CompareTableOptions

ASKED = CompareTableCommand
EXAMPLE = "example: tables compare --cells cells.csv --relations relations.csv --time-limit 10"


def run(asked: CompareTableCommand) -> int:
    """Compare, write, and print the table; 1 where claims contradict each other or the count, or none is."""
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.commands.targets import hand_over
    from linkrisk.solver.tables.operations.compare import compare_table

    with progress_line("comparing backends") as line:
        result = compare_table(**keywords(CompareTableOptions, asked, on_progress=reporter(line)))
    hand_over(asked, result)
    return exit_code(result)
