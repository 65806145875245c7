"""`python -m solver tables compare`: the same model of a table on every backend, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkrisk.datasets.options.option import keywords
from linkrisk.solver.commands.contest_verdict import exit_code, wrong
from linkrisk.solver.commands.table_actions.common import table_line
from linkrisk.solver.options.operations.tables.compare import CompareTableCommand, CompareTableOptions

if TYPE_CHECKING:
    from linkrisk.solver.tables.operations.compare import TableComparison

ASKED = CompareTableCommand
EXAMPLE = "example: tables compare --cells cells.csv --relations relations.csv --time-limit 10"

_COLUMNS = {
    "name": "backend",
    "status": "status",
    "limit": "limit",
    "cost": "cost",
    "bound": "at least",
    "gap": "gap",
    "proven": "proven",
    "audit": "audit",
    "rows_added": "rows added",
    "build_seconds": "build s",
    "solve_seconds": "solve s",
    "peak_memory_mb": "peak MB",
    "version": "version",
}


def run(asked: CompareTableCommand) -> int:
    """Compare, write, and print the table; 1 where claims contradict each other or the count, or none is."""
    from linkrisk.datasets.microdata.writing import write_whole
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.tables.operations.compare import compare_table

    with progress_line("comparing backends") as line:
        result = compare_table(**keywords(CompareTableOptions, asked, on_progress=reporter(line)))
    if asked.json is not None:
        write_whole(asked.json, result.to_json())
    print(_summary(asked, result))
    return exit_code(result)


def _summary(asked: CompareTableCommand, result: TableComparison) -> str:
    from linkrisk.solver.report.short.wording import table

    found = result.details
    size = found["model"]
    more = ", more rows when they are violated" if found["separated"] else ""
    lines = [[_shown(getattr(row, name)) for name in _COLUMNS] for row in result.rows]
    claims = sum(row.proven for row in result.rows)
    verdict = wrong(result) or [f"{claims} of {len(lines)} prove the optimum; no two contradict each other"]
    head = [
        table_line(asked, found["cells"], found["relations"]),
        f"model       {found['problem']}: {size['rows']} rows, {size['columns']} columns{more}",
    ]
    return "\n".join([*head, "", *table(list(_COLUMNS.values()), lines), "", *verdict])


def _shown(value: object) -> object:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
