"""`python -m solver tables suppress`: the cheapest cells that protect the sensitive ones."""

from __future__ import annotations

import argparse

from linkrisk.solver.commands.table_actions.attackers import add_attackers, given_attackers
from linkrisk.solver.commands.table_actions.audit import written
from linkrisk.solver.commands.table_actions.common import (
    CERTIFICATE,
    add_exact,
    add_reports,
    add_search,
    add_written,
    exact_of,
    seed_of,
    time_limit_of,
)
from linkrisk.solver.commands.table_actions.given import add_table, check_outputs, fitting_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = "example: tables suppress --cells cells.csv --relations relations.csv --output safe.csv"
    add_table(parser)
    add_written(parser, "the cells with status and the intervals that attackers find", formats=True)
    add_reports(parser)
    parser.add_argument(
        "--method",
        metavar="HOW",
        default="auto",
        help="optimal, modular or heuristic; auto (default) is optimal up to 3,000 cells, modular beyond",
    )
    parser.add_argument(
        "--cost",
        metavar="HOW",
        default="value",
        help="of a cell: its value (default), unit, log of 1 + value, or given in the column cost",
    )
    add_attackers(parser)
    add_exact(parser)
    add_search(parser, "exact (default, our own) or a backend")


def run(arguments: argparse.Namespace) -> int:
    """Suppress, write, and print what was found."""
    from linkrisk.solver.api.tables.suppress import OWN, suppress_table
    from linkrisk.solver.commands.progress import progress_line, reporter

    check_outputs(arguments, "output", "internal", "json", *CERTIFICATE)
    attackers = given_attackers(arguments)
    table = fitting_table(arguments)
    with progress_line("suppressing cells", time_limit_of(arguments)) as line:
        result = suppress_table(
            table,
            method=arguments.method,
            cost=arguments.cost,
            **attackers,
            exact=exact_of(arguments),
            backend=arguments.backend or OWN,
            seed=seed_of(arguments),
            time_limit=time_limit_of(arguments),
            on_progress=reporter(line),
        )
    return written(arguments, result)
