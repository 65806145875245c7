"""`python -m solver tables suppress`: the cheapest cells that protect the sensitive ones."""

from __future__ import annotations

from linkrisk.solver.options.table_protection import SuppressCommand, SuppressOptions

ASKED = SuppressCommand
EXAMPLE = "example: tables suppress --cells cells.csv --relations relations.csv --output safe.csv"


def run(asked: SuppressCommand) -> int:
    """Suppress, write, and print what was found."""
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.commands.table_actions.audit import exactly, written
    from linkrisk.solver.commands.table_actions.common import check_files, check_fits, of_table, read_table
    from linkrisk.solver.tables.operations.suppress_and_audit import suppress_table

    check_files(asked)
    table = read_table(asked)
    check_fits(asked, table)
    with progress_line("suppressing cells", asked.time_limit) as line:
        how = of_table(SuppressOptions, asked, table, on_progress=reporter(line), **exactly(asked))
        result = suppress_table(**how)
    return written(asked, result)
