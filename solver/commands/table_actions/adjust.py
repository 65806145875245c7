"""`python -m solver tables adjust`: values changed such that sensitive cells are far enough from theirs."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from linkrisk.solver.commands.table_actions.common import (
    add_reports,
    add_search,
    add_written,
    seed_of,
    time_limit_of,
    write_changed,
    written_lines,
)
from linkrisk.solver.commands.table_actions.given import add_table, check_outputs, given_table, table_line
from linkrisk.solver.run.counts import several

if TYPE_CHECKING:
    from linkrisk.solver.api.tables.adjust import AdjustedTable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = "example: tables adjust --cells cells.csv --relations relations.csv --output adjusted.csv"
    add_table(parser)
    add_written(parser, "the cells with values and adjusted values")
    add_reports(parser)
    parser.add_argument(
        "--weight",
        metavar="HOW",
        default="value",
        help="of a change: 1 over the value (default), unit, 1 over its root, or given in the column cost",
    )
    parser.add_argument("--squares", action="store_true", help="sum the squares of changes")
    parser.add_argument("--up", action="store_true", help="sensitive cells go up only")
    add_search(parser, "a backend (default: highs), or exact, our own, for --squares (and the default there)")


def run(arguments: argparse.Namespace) -> int:
    """Adjust, write, and print what was found."""
    from linkrisk.solver.api.tables.adjust import adjust_table
    from linkrisk.solver.commands.progress import progress_line, reporter

    check_outputs(arguments, "output", "internal", "json", lines=True)
    with progress_line("adjusting cells", time_limit_of(arguments)) as line:
        result = adjust_table(
            given_table(arguments),
            weight=arguments.weight,
            squares=arguments.squares,
            up=arguments.up,
            backend=arguments.backend,
            seed=seed_of(arguments),
            time_limit=time_limit_of(arguments),
            on_progress=reporter(line),
        )
    write_changed(arguments, result)
    print(_summary(arguments, result))
    return 0


def _summary(arguments: argparse.Namespace, result: AdjustedTable) -> str:
    from linkrisk.solver.run.gaps import no_less
    from linkrisk.solver.run.status import Status

    found = result.to_dict()
    sensitive, up = found["sensitive"], found["up"]
    cost = f"{result.cost:,.6g}"
    proof = (
        "proven least"
        if result.status is Status.OPTIMAL
        else no_less(
            "no adjustment costs less than", result.cost, result.bound, f"{result.bound:,.6g}", "{} % less"
        )
    )
    squares = "squares of changes" if found["squares"] else "changes"
    lines = [
        table_line(arguments, found["cells"], found["relations"]),
        f"sensitive   {several(sensitive, 'cell')}: {up} went up, {sensitive - up} down",
        f"adjusted    {several(found['changed'], 'cell')}, by {result.largest_change:,.6g} at most",
        f"cost        {cost}, the sum of weighted {squares}: {proof}",
        "audit       every relation adds up, every sensitive cell is as far off as its level",
    ]
    if "guessed" in found and sensitive:
        lines.append(
            f"readers     who know the rule and how counts are adjusted guess {found['guessed']:,} of "
            f"{several(sensitive, 'sensitive count')} from what is published"
        )
    return "\n".join([*lines, *written_lines(arguments, "output", "internal")])
