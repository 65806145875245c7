"""`python -m solver compare`: the exact engine and every available backend, side by side."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from linkrisk.datasets.microdata.writing import write_whole
from linkrisk.solver.api.compare import DEFAULT_TIME_LIMIT, ComparisonResult, compare
from linkrisk.solver.backends.registry import backend_names
from linkrisk.solver.commands.arguments import (
    add_categories,
    add_files,
    add_problem,
    add_run,
    engine_options,
    problem_options,
    time_limit,
    words,
)
from linkrisk.solver.commands.progress import Display, progress_line
from linkrisk.solver.commands.targets import check_targets
from linkrisk.solver.commands.wording import heading, table
from linkrisk.solver.compiling.ahead import PHASE
from linkrisk.solver.run.incumbent import Progress
from linkrisk.solver.worst_case.contest import EXACT, BackendRow

_COLUMNS = {
    "engine": "engine",
    "backend": "backend",
    "status": "status",
    "limit": "limit",
    "linked": "linked",
    "linked_upper_bound": "at most",
    "gap": "gap",
    "build_seconds": "build s",
    "solve_seconds": "solve s",
    "peak_memory_mb": "peak MB",
    "version": "version",
}


def add_parser(subparsers: argparse._SubParsersAction[Any]) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "compare",
        help="the exact engine and the same model on every available backend",
        description="Run the exact engine, and solve the same model on every available backend, each in a "
        "process of its own.",
    )
    add_files(parser)
    add_categories(parser)
    add_problem(parser)
    add_run(parser, DEFAULT_TIME_LIMIT, each=" for each")
    group = parser.add_argument_group("backends")
    group.add_argument(
        "--backends",
        metavar="A,B",
        help=f"of {', '.join([EXACT, *backend_names()])}; default: {EXACT} and all that are installed",
    )
    group.add_argument("--no-start", action="store_true", help="do not start from the heuristic attack")
    group = parser.add_argument_group("output")
    group.add_argument("--json", metavar="FILE", help="write the comparison as JSON")
    group.add_argument("--csv", metavar="FILE", help="write the comparison as CSV")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compare, print the table, write the files that were asked for; 1 when something went wrong."""
    check_targets(arguments, "json", "csv")
    options, settings, limit = (
        problem_options(arguments),
        engine_options(arguments),
        time_limit(arguments.time_limit),
    )
    with progress_line("reading and comparing records") as line:
        result = compare(
            arguments.original,
            arguments.masked,
            backends=words(arguments.backends),
            time_limit=limit,
            options=settings,
            start=not arguments.no_start,
            report=None if line is None else lambda name: _say(line, name),
            **asdict(options),
        )
    try:
        if arguments.json is not None:
            write_whole(arguments.json, result.to_json())
        if arguments.csv is not None:
            write_whole(arguments.csv, result.to_csv())
    finally:
        print(summary(result), end="")
        for sentence in result.disagreements:
            print(f"DISAGREEMENT: {sentence}", file=sys.stderr)
    return 1 if result.disagreements else 0


def summary(result: ComparisonResult) -> str:
    """The comparison as a table."""
    lines = heading(result.details, result.details["records"])
    size = next((row for row in result.rows if row.rows is not None), None)
    if size is not None:
        lines.append(f"model: {size.rows} rows, {size.columns} columns, {size.nonzeros} non-zeros")
    rows = [[getattr(row, field) for field in _COLUMNS] for row in result.rows]
    notes = [f"note: {note}" for note in result.details["notes"]]
    return (
        "\n".join([*lines, "", *table(list(_COLUMNS.values()), rows), "", *notes, *_verdict(result)]) + "\n"
    )


def _verdict(result: ComparisonResult) -> list[str]:
    if result.disagreements:
        return [f"DISAGREEMENT: {sentence}" for sentence in result.disagreements]
    if not result.rows:
        return ["stopped before any of them was done"]
    claims = sum(row.status == "optimal" for row in result.rows)
    lines = [f"{claims} of {len(result.rows)} claim a proof; no two contradict each other"]
    if max((row.linked or 0.0 for row in result.rows), default=0.0) > _least_bound(result.rows):
        lines.append(
            f"note: bounds of backends hold for parameters that keep the margin of "
            f"{result.details['margin']:g}; some records are linked by less; a smaller --margin counts them"
        )
    return lines


def _least_bound(rows: Sequence[BackendRow]) -> float:
    """The smallest bound of a backend; the exact engine's speaks about links of any margin."""
    bounds = [row.linked_upper_bound for row in rows if row.engine != EXACT]
    return min((bound for bound in bounds if bound is not None), default=math.inf)


def _say(line: Display, name: str) -> None:
    """Say what comes next."""
    if name == PHASE:
        line.report(Progress(0.0, 0.0, 0.0, PHASE))
    else:
        line.show(f"solving with the engine {name}" if name == EXACT else f"solving on {name}")
