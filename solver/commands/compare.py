"""`python -m solver compare`: every available backend on the same model, side by side."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from typing import Any

from rich.console import Console

from datasets.files import write_whole
from solver.backends.registry import backend_names
from solver.commands.arguments import (
    add_files,
    add_problem,
    add_run,
    check_targets,
    engine_options,
    names,
    problem_options,
    time_limit,
)
from solver.comparison import DEFAULT_TIME_LIMIT, BackendRow, ComparisonResult, compare

_COLUMNS = (
    ("engine", "engine"),
    ("backend", "backend"),
    ("status", "status"),
    ("limit", "limit"),
    ("linked", "linked"),
    ("linked_upper_bound", "at most"),
    ("gap", "gap"),
    ("build_seconds", "build s"),
    ("solve_seconds", "solve s"),
    ("peak_memory_mb", "peak MB"),
    ("version", "version"),
)


def add_parser(subparsers: argparse._SubParsersAction[Any]) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "compare",
        help="solve the same model on every available backend",
        description="Solve the same model on every available backend, each in a process of its own.",
    )
    add_files(parser)
    add_problem(parser)
    add_run(parser, DEFAULT_TIME_LIMIT)
    parser.add_argument(
        "--backends", metavar="A,B", help=f"of {', '.join(backend_names())}; default: all that are installed"
    )
    parser.add_argument("--no-start", action="store_true", help="do not start from the heuristic attack")
    parser.add_argument("--json", metavar="FILE", help="write the comparison as JSON")
    parser.add_argument("--csv", metavar="FILE", help="write the comparison as CSV")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compare, print the table, write the files that were asked for."""
    check_targets(arguments.json, arguments.csv)
    console = Console(stderr=True)

    def report(name: str) -> None:
        if console.is_terminal:
            console.print(f"solving on {name} ...", style="dim")

    result = compare(
        arguments.original,
        arguments.masked,
        backends=names(arguments.backends),
        time_limit=time_limit(arguments.time_limit),
        options=engine_options(arguments),
        start=not arguments.no_start,
        report=report,
        **asdict(problem_options(arguments)),
    )
    if arguments.json:
        write_whole(arguments.json, result.to_json())
    if arguments.csv:
        write_whole(arguments.csv, result.to_csv())
    print(summary(result), end="")
    for sentence in result.disagreements:
        print(f"DISAGREEMENT: {sentence}", file=sys.stderr)
    return 0


def summary(result: ComparisonResult) -> str:
    """The comparison as a table."""
    details = result.details
    size = result.rows[0] if result.rows else None
    lines = [
        f"{details['name']}: {details['records']} records, {details['direction']}, {details['aggregator']}",
    ]
    if size is not None:
        lines.append(f"model: {size.rows} rows, {size.columns} columns, {size.nonzeros} non-zeros")
    lines += ["", *_table([_cells(row) for row in result.rows]), ""]
    if result.disagreements:
        lines += [f"DISAGREEMENT: {sentence}" for sentence in result.disagreements]
    else:
        lines.append("no two backends contradict each other")
    return "\n".join(lines) + "\n"


def _cells(row: BackendRow) -> list[str]:
    return [_text(getattr(row, field)) for field, _ in _COLUMNS]


def _text(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _table(rows: list[list[str]]) -> list[str]:
    cells = [[title for _, title in _COLUMNS], *rows]
    widths = [max(len(row[at]) for row in cells) for at in range(len(_COLUMNS))]
    return [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]
