"""`python -m solver risk`: every measure of a release."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from linkrisk.solver.commands.arguments import (
    add_categories,
    add_files,
    add_problem,
    add_workers,
    given_problem,
    given_workers,
    limit,
    names,
    number,
    whole_number,
    words,
)
from linkrisk.solver.commands.calling import as_called
from linkrisk.solver.commands.offered import offered
from linkrisk.solver.options.run import SECONDS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Take every measure of a release: the certified worst case of all families of distances, and what "
        "stands beside it. One table, one verdict."
    )
    parser.epilog = "example: risk --original o.csv --masked m.csv --schema schema.toml --json risk.json"
    add_options(parser)
    group = parser.add_argument_group("output")
    group.add_argument("--json", metavar="FILE", help="write all results as JSON")
    group.add_argument("--report", metavar="FILE", help="write the results as one HTML page, as report does")
    group.add_argument("--table", metavar="FILE", help="write the table of findings, as its suffix says")
    parser.set_defaults(run=run)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Everything that is asked of the measures."""
    add_files(parser, several=True)
    group = parser.add_argument_group("several releases")
    group.add_argument(
        "--releases",
        metavar="WAY",
        default=offered().ways[0],
        help="whether an intruder can tell which records of several releases belong together: "
        f"{', '.join(offered().ways)}, or which of them, as in 1+2,3; default: {offered().ways[0]}",
    )
    group.add_argument(
        "--versions",
        action="store_true",
        help="several originals are no sources of one intruder: each is what the release in its place was "
        "made of",
    )
    group = parser.add_argument_group("measures")
    known = ", ".join(offered().measures)
    group.add_argument("--measures", metavar="A,B", default="all", help=f"{known}; default: all")
    group.add_argument(
        "--tolerated",
        metavar="SHARE",
        default=f"{offered().tolerated:g}",
        help=f"share of records that may be re-identified, for the verdict; default: {offered().tolerated:g}",
    )
    group.add_argument(
        "--groups",
        metavar="COLUMN[,COLUMN]",
        help="columns of the original file to show risk by; default: key and stratum of the schema",
    )
    group.add_argument(
        "--fraction",
        metavar="PI",
        help="sampling fraction: records for each person of the population; default: by sampling weights",
    )
    add_categories(parser, numbers=True)
    add_problem(parser, several=True, family="all", ties="share where candidates are identical")
    group = parser.add_argument_group("run")
    group.add_argument(
        "--time-limit",
        metavar="S",
        help=f"seconds for all, or 'none'; default: {SECONDS:g}, or none with --work-limit",
    )
    group.add_argument("--work-limit", metavar="UNITS", help="units of work instead, as for fit")
    group.add_argument("--seed", metavar="N", default="0", help="seed of every random choice; default: 0")
    add_workers(parser, "search samples and count")


def run(arguments: argparse.Namespace) -> int:
    """Measure, print, write the files that were asked for."""
    from linkrisk.datasets.microdata.writing import write_table, write_whole
    from linkrisk.solver.api.report import report_of
    from linkrisk.solver.api.risk import risk
    from linkrisk.solver.commands.progress import limit_shown, progress_line, reporter
    from linkrisk.solver.commands.risk_summary import summary
    from linkrisk.solver.commands.targets import check_targets, say_written

    check_targets(arguments, "json", "report", "table")
    options = given_options(arguments)
    with progress_line("comparing records", limit_shown(arguments, SECONDS)) as line:
        result = risk(
            arguments.original,
            arguments.masked,
            on_progress=reporter(line),
            command=as_called(arguments.command_line),
            **options,
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
    return 0


def given_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the user has asked of the measures, as keywords of `risk`."""
    limits: dict[str, Any] = {}
    if arguments.time_limit is not None:
        limits["time_limit"] = limit(arguments.time_limit, "--time-limit")
    if arguments.work_limit is not None:
        limits["work_limit"] = number(arguments.work_limit, "--work-limit")
    return {
        "releases": arguments.releases,
        "versions": arguments.versions,
        "measures": words(arguments.measures) or [],
        "tolerated": number(arguments.tolerated, "--tolerated"),
        "groups": names(arguments.groups, "--groups"),
        "fraction": None if arguments.fraction is None else number(arguments.fraction, "--fraction"),
        "seed": whole_number(arguments.seed, "--seed") or 0,
        **limits,
        **given_workers(arguments),
        **given_problem(arguments),
    }
