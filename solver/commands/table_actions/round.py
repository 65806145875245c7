"""`python -m solver tables round`: all cells become multiples of a base, and still add up."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from linkrisk.solver.commands.arguments import whole_number
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
    from linkrisk.solver.api.tables.round import RoundedTable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "example: tables round --cells cells.csv --relations relations.csv --base 5 --output safe.csv"
    )
    add_table(parser)
    parser.add_argument(
        "--base", required=True, metavar="N", help="every cell becomes a multiple of it, such as 5"
    )
    parser.add_argument(
        "--relaxed", action="store_true", help="cells may go further than to the next multiple"
    )
    add_written(parser, "the cells with values and rounded values")
    add_reports(parser)
    add_search(parser, "a backend; default: highs")


def run(arguments: argparse.Namespace) -> int:
    """Round, write, and print what was found."""
    from linkrisk.solver.api.tables.round import round_table
    from linkrisk.solver.commands.progress import progress_line, reporter

    base = whole_number(arguments.base, "--base")
    assert base is not None
    check_outputs(arguments, "output", "internal", "json", lines=True)
    with progress_line("rounding cells", time_limit_of(arguments)) as line:
        result = round_table(
            given_table(arguments),
            base=base,
            relaxed=arguments.relaxed,
            backend=arguments.backend or "highs",
            seed=seed_of(arguments),
            time_limit=time_limit_of(arguments),
            on_progress=reporter(line),
        )
    write_changed(arguments, result)
    print(_summary(arguments, result))
    return 0


def _summary(arguments: argparse.Namespace, result: RoundedTable) -> str:
    from linkrisk.solver.run.counts import count
    from linkrisk.solver.run.gaps import NO_BOUND, has_bound

    found = result.to_dict()
    kind = "relaxed" if found["relaxed"] else "zero-restricted"
    if found["relaxed"] and not found["asked_relaxed"]:
        kind = "relaxed (no zero-restricted one was found in time)"
    said = f"{count(round(result.cost, 6))} in all, {result.largest_change:g} at most"
    proof = NO_BOUND
    if result.bound >= result.cost:
        proof = "proven least"
    elif has_bound(result.cost, result.bound):
        proof = f"no rounding of this kind changes less than {count(round(result.bound, 6))}"
    lines = [
        table_line(arguments, found["cells"], found["relations"]),
        f"rounded     to base {found['base']}, {kind}: {several(found['changed'], 'cell')} changed",
        f"change      {said}: {proof}",
        "audit       every cell is a multiple, and every relation adds up exactly",
    ]
    return "\n".join([*lines, *written_lines(arguments, "output", "internal")])
