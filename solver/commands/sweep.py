"""`python -m solver sweep`: the risk-utility map of many maskings."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from linkrisk.solver.commands.arguments import (
    add_problem,
    add_workers,
    given_problem,
    given_workers,
    limit,
    number,
    whole_number,
    words,
)
from linkrisk.solver.commands.calling import as_called
from linkrisk.solver.commands.offered import offered
from linkrisk.solver.run.errors import UsageError

_MEASURES = "worst-case,simple-attacks,held-out,information-loss"
_NOT_IN_PLANS = ("plan", "method", "run", "command", "command_line")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Mask a file in many ways, and measure each release: certified worst case, held-out risk, "
        "information loss. One table, with the maskings that no other one dominates. A sweep that was "
        "stopped goes on where it was."
    )
    group = parser.add_argument_group("maskings")
    group.add_argument("--original", metavar="FILE", help="file of any format, or the name of a data set")
    group.add_argument(
        "--method",
        metavar="METHOD",
        action="append",
        help=f"{', '.join(offered().masking_methods)}, with its parameters and ranges of them, as "
        "'microaggregation k=2..20', 'noise percent=5..50:5' (step 5) or 'noise percent=5,10 correlated'; "
        "several in order with + between them; give it once for each family of maskings",
    )
    group.add_argument(
        "--plan", metavar="FILE", help="TOML file with maskings, and with any of these options"
    )
    _add_columns(parser)
    add_problem(parser, several=True, family="all", ties="share where candidates are identical")
    group = parser.add_argument_group("measures")
    group.add_argument(
        "--measures",
        metavar="A,B",
        help=f"{', '.join(offered().measures)}, or all; default: {_MEASURES.replace(',', ', ')}",
    )
    group.add_argument(
        "--loss", metavar="NAME", help="information loss that the front goes by; default: IL1s, or pMSE"
    )
    group.add_argument(
        "--tolerated",
        metavar="SHARE",
        help=f"share of records that may be re-identified; default: {offered().tolerated:g}",
    )
    group = parser.add_argument_group("run")
    group.add_argument(
        "--time-limit",
        metavar="S",
        help=f"seconds for each masking, or 'none'; default: {offered().seconds_of_sweep:g}, or none with "
        "--work-limit",
    )
    group.add_argument("--work-limit", metavar="UNITS", help="units of work for each masking, as for fit")
    group.add_argument(
        "--seed", metavar="N", help="seed of every random choice, that of masking included; default: 0"
    )
    group.add_argument(
        "--folder",
        metavar="DIR",
        help="where finished runs are kept; default: beside --table or --json, with .runs at its end",
    )
    add_workers(parser, "measure one masking each", usual="all processors")
    group = parser.add_argument_group("output")
    group.add_argument("--table", metavar="FILE", help="write the table, one masking per row")
    group.add_argument("--json", metavar="FILE", help="write the same with all findings as JSON")
    group.add_argument("--report", metavar="FILE", help="write the results as one HTML page")
    parser.set_defaults(run=run)


def _add_columns(parser: argparse.ArgumentParser) -> None:
    """What the columns of the file are."""
    group = parser.add_argument_group("columns")
    group.add_argument("--attributes", metavar="A,B,C", help="attributes to compare; default: all columns")
    group.add_argument("--id", metavar="COLUMN", help="column of record ids, never masked or compared")
    group.add_argument("--drop-constant", action="store_true", help="leave constant attributes out")
    group.add_argument("--nominal", metavar="A,B", help="attributes whose categories have no order")
    group.add_argument("--ordinal", metavar="A,B", help="attributes whose categories have an order")
    group.add_argument(
        "--schema",
        metavar="FILE",
        help="JSON or TOML file that says what the columns are, for measures and methods",
    )


def run(arguments: argparse.Namespace) -> int:
    """Sweep, print the map, write the files that were asked for; 1 where a run failed by a fault."""
    from linkrisk.datasets.microdata.writing import write_table, write_whole
    from linkrisk.solver.api.report import report_of
    from linkrisk.solver.api.sweep import sweep
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.commands.sweep_summary import summary
    from linkrisk.solver.commands.targets import check_targets, say_written
    from linkrisk.solver.inputs.problem import schema_of
    from linkrisk.solver.risk_utility.maskings import maskings_of
    from linkrisk.solver.risk_utility.runs import Status

    planned = _with_plan(arguments)
    if arguments.original is None:
        raise UsageError("which file? give --original FILE")
    check_targets(arguments, "json", "report", "table")
    written = maskings_of(arguments.method, schema=schema_of(arguments.schema)) if arguments.method else []
    maskings = [*planned, *written]
    limits: dict[str, Any] = {}
    if arguments.time_limit is not None:
        limits["time_limit"] = limit(arguments.time_limit, "--time-limit")
    if arguments.work_limit is not None:
        limits["work_limit"] = number(arguments.work_limit, "--work-limit")
    if arguments.tolerated is not None:
        limits["tolerated"] = number(arguments.tolerated, "--tolerated")
    with progress_line("reading") as line:
        result = sweep(
            arguments.original,
            maskings,
            folder=_folder(arguments),
            measures=words(arguments.measures or _MEASURES) or [],
            loss=arguments.loss,
            seed=whole_number(arguments.seed, "--seed") or 0,
            on_progress=reporter(line),
            command=as_called(arguments.command_line),
            **limits,
            **given_workers(arguments),
            **given_problem(arguments),
        )
    try:
        print(summary(result), end="")
        sys.stdout.flush()
    finally:  # a reader that has gone away must not cost the files of a long run
        if arguments.json is not None:
            write_whole(arguments.json, result.to_json())
        if arguments.table is not None:
            write_table(result.to_frame(), arguments.table)
        if arguments.report is not None:
            report_of(result.to_dict()).save(arguments.report)
    say_written(arguments.json, arguments.table, arguments.report)
    return 1 if any(run.status is Status.FAILED for run in result.runs) else 0


def _with_plan(arguments: argparse.Namespace) -> tuple[Any, ...]:
    """The maskings of a plan; its options become arguments where the command line does not say otherwise."""
    from linkrisk.solver.risk_utility.plan import read_plan

    # Of `fit` alone, and there for the functions that read the arguments of all commands.
    arguments.row_by_row, arguments.masking = False, None
    if arguments.plan is None:
        return ()
    names = {
        name.replace("_", "-"): name
        for name in vars(arguments)
        if name not in (*_NOT_IN_PLANS, "row_by_row", "masking")
    }
    plan = read_plan(arguments.plan, tuple(names), arguments.schema)
    for option, value in plan.options.items():
        name = names[option]
        if isinstance(value, bool) != (option == "drop-constant"):
            needs = "true or false" if option == "drop-constant" else "a text or a number"
            raise UsageError(f"{arguments.plan}: {option} must be {needs}")
        if getattr(arguments, name) in (None, False):
            setattr(arguments, name, value)
    return plan.maskings


def _folder(arguments: argparse.Namespace) -> Path | None:
    """Where finished runs are kept; nowhere where neither a folder nor an output is named."""
    if arguments.folder is not None:
        return Path(arguments.folder)
    beside = arguments.table or arguments.json
    if beside is None or (Path(beside).exists() and not Path(beside).is_file()):  # such as /dev/null
        return None
    return Path(beside).with_suffix(".runs")
