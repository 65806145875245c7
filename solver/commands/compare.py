"""`python -m solver compare`: the exact engine and every available backend, side by side."""

from __future__ import annotations

import argparse

from linkrisk.solver.commands.arguments import (
    add_categories,
    add_files,
    add_problem,
    add_run,
    add_workers,
    given_problem,
    given_run,
    given_workers,
    limit,
    words,
)
from linkrisk.solver.commands.contest_verdict import exit_code
from linkrisk.solver.commands.offered import offered

_EXACT = "exact"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Run the exact engine, and solve the same model on every available backend, each in its own process."
    )
    add_files(parser)
    add_categories(parser)
    add_problem(parser)
    add_run(parser, offered().seconds_of_compare, each=" for each")
    group = parser.add_argument_group("backends")
    group.add_argument(
        "--backends",
        metavar="A,B",
        help=f"of {', '.join([_EXACT, *offered().backends])}; default: {_EXACT} and all that are installed",
    )
    group.add_argument("--no-start", action="store_true", help="do not start from the heuristic attack")
    add_workers(parser, "run engine and backends side by side")
    group = parser.add_argument_group("output")
    group.add_argument("--json", metavar="FILE", help="write the comparison as JSON")
    group.add_argument("--table", metavar="FILE", help="write the comparison as CSV")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compare, print the table, write the files that were asked for; 1 when something went wrong."""
    from linkrisk.datasets.microdata.writing import write_whole
    from linkrisk.solver.api.compare import compare
    from linkrisk.solver.commands.compare_summary import summary
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.commands.targets import check_targets

    check_targets(arguments, "json", "table")
    with progress_line("reading and comparing records") as line:
        result = compare(
            arguments.original,
            arguments.masked,
            backends=words(arguments.backends),
            start=not arguments.no_start,
            time_limit=limit(arguments.time_limit, "--time-limit"),
            on_progress=reporter(line),
            **given_workers(arguments),
            **given_run(arguments),
            **given_problem(arguments),
        )
    try:
        if arguments.json is not None:
            write_whole(arguments.json, result.to_json())
        if arguments.table is not None:
            write_whole(arguments.table, result.to_csv())
    finally:
        print(summary(result), end="")
        code = exit_code(result)
    return code
