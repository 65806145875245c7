"""`python -m solver evaluate`: apply learned parameters to a file pair."""

from __future__ import annotations

import argparse

from linkrisk.solver.commands.arguments import (
    add_categories,
    add_files,
    add_problem,
    add_workers,
    given_problem,
    given_workers,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Apply the parameters of a `fit --json` or `link --json` file to a file pair and count. "
        "What they were learned with (direction, ties, ...) holds unless it is given again. A file with "
        'your own weights needs {"parameters": {"weights": {"A": 0.7, "B": 0.3}}} only.'
    )
    parser.add_argument(
        "--parameters", required=True, metavar="FIT.json", help="what `fit --json` or `link --json` wrote"
    )
    add_files(parser)
    add_categories(parser)
    add_problem(parser, default="as in FIT.json")
    add_workers(parser, "count")
    group = parser.add_argument_group("output")
    group.add_argument("--one-to-one", action="store_true", help="also assign records one to one")
    group.add_argument("--json", metavar="FILE", help="write the whole result as JSON")
    group.add_argument("--table", metavar="FILE", help="write the table of records, as its suffix says")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Count, print, write the files that were asked for."""
    from linkrisk.solver.api.evaluate import evaluate
    from linkrisk.solver.commands.count_summaries import finish, summary
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.commands.targets import check_targets

    check_targets(arguments, "json", "table")
    with progress_line("comparing records") as line:
        result = evaluate(
            arguments.original,
            arguments.masked,
            parameters=arguments.parameters,
            one_to_one=arguments.one_to_one,
            on_progress=reporter(line),
            **given_workers(arguments),
            **given_problem(arguments),
        )
    tables = {"table": result.table.to_frame}
    return finish(arguments, result.to_json, result.table, tables, summary(result))
