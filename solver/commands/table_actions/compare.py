"""`python -m solver tables compare`: the same model of a table on every backend, side by side."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from linkrisk.solver.commands.arguments import whole_number, words
from linkrisk.solver.commands.contest_verdict import exit_code, wrong
from linkrisk.solver.commands.table_actions.common import seed_of, time_limit_of
from linkrisk.solver.commands.table_actions.given import add_table, check_outputs, given_table, table_line

if TYPE_CHECKING:
    from linkrisk.solver.api.tables.compare import TableComparison

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = "example: tables compare --cells cells.csv --relations relations.csv --time-limit 10"
    add_table(parser)
    parser.add_argument(
        "--problem",
        metavar="WHAT",
        default="suppress",
        help="suppress (default), round (zero-restricted) or adjust (linear, weights 1 over value)",
    )
    parser.add_argument("--cost", metavar="HOW", default="value", help="of suppressed cells; see suppress")
    parser.add_argument("--base", metavar="N", help="of rounding; default: 5")
    parser.add_argument(
        "--backends", metavar="A,B", help="exact (our own, of suppress) and backends; default: all there are"
    )
    parser.add_argument("--seed", metavar="N", help="of the backends; default: 0")
    parser.add_argument("--time-limit", metavar="S", help="seconds for each, or 'none'; default: 60")
    parser.add_argument("--json", metavar="FILE", help="write the comparison as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Compare, write, and print the table; 1 where claims contradict each other or the count, or none is."""
    from linkrisk.datasets.microdata.writing import write_whole
    from linkrisk.solver.api.tables.compare import compare_table
    from linkrisk.solver.commands.progress import progress_line, reporter

    check_outputs(arguments, "json")
    with progress_line("comparing backends") as line:
        result = compare_table(
            given_table(arguments),
            problem=arguments.problem,
            cost=arguments.cost,
            base=whole_number(arguments.base, "--base"),
            backends=words(arguments.backends),
            seed=seed_of(arguments),
            time_limit=time_limit_of(arguments),
            on_progress=reporter(line),
        )
    if arguments.json is not None:
        write_whole(arguments.json, result.to_json())
    print(_summary(arguments, result))
    return exit_code(result)


def _summary(arguments: argparse.Namespace, result: TableComparison) -> str:
    from linkrisk.solver.commands.wording import table

    found = result.details
    size = found["model"]
    more = ", more rows when they are violated" if found["separated"] else ""
    lines = [[_shown(getattr(row, name)) for name in _COLUMNS] for row in result.rows]
    claims = sum(row.proven for row in result.rows)
    verdict = wrong(result) or [f"{claims} of {len(lines)} prove the optimum; no two contradict each other"]
    head = [
        table_line(arguments, found["cells"], found["relations"]),
        f"model       {found['problem']}: {size['rows']} rows, {size['columns']} columns{more}",
    ]
    return "\n".join([*head, "", *table(list(_COLUMNS.values()), lines), "", *verdict])


def _shown(value: object) -> object:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
