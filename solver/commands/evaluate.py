"""`python -m solver evaluate`: apply learned parameters to a file pair."""

from __future__ import annotations

import argparse
from typing import Any

from linkrisk.solver.api.evaluate import EvaluationResult, evaluate
from linkrisk.solver.commands.arguments import add_categories, add_files, add_problem, given_options
from linkrisk.solver.commands.link import finish
from linkrisk.solver.commands.link import summary as summary_of_links
from linkrisk.solver.commands.progress import progress_line, reporter
from linkrisk.solver.commands.targets import check_targets
from linkrisk.solver.commands.wording import (
    baseline_pairs,
    heading,
    listed,
    share,
    spaced,
    strata_lines,
    weighted_pairs,
)
from linkrisk.solver.linkage.result import LinkResult


def add_parser(subparsers: argparse._SubParsersAction[Any]) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "evaluate",
        help="count what learned parameters re-identify in a file pair",
        description="Apply the parameters of a `fit --json` or `link --json` file to a file pair and count. "
        "What they were learned with (direction, ties, ...) holds unless it is given anew. A file with "
        'weights of one\'s own needs {"parameters": {"weights": {"A": 0.7, "B": 0.3}}} only.',
    )
    parser.add_argument(
        "--parameters", required=True, metavar="FIT.json", help="what `fit --json` or `link --json` wrote"
    )
    add_files(parser)
    add_categories(parser)
    add_problem(parser, default="as in FIT.json")
    group = parser.add_argument_group("output")
    group.add_argument("--one-to-one", action="store_true", help="also assign records one to one")
    group.add_argument("--json", metavar="FILE", help="write the whole result as JSON")
    group.add_argument("--table", metavar="FILE", help="write the table of records, as its suffix says")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Count, print, write the files that were asked for."""
    check_targets(arguments, "json", "table")
    options = given_options(arguments)
    with progress_line("comparing records") as line:
        result = evaluate(
            arguments.original,
            arguments.masked,
            parameters=arguments.parameters,
            one_to_one=arguments.one_to_one,
            report=reporter(line),
            **options,
        )
    text = summary_of_links(result) if isinstance(result, LinkResult) else summary(result)
    return finish(arguments, result.to_json(), result.table, text)


def summary(result: EvaluationResult) -> str:
    """The counts in a few lines."""
    details, records = result.details, result.records
    frame = result.table.to_frame()
    counts: list[tuple[str, float]] = [
        ("re-identified", result.linked),
        ("partner among the 3 nearest", int((frame["rank"] <= 3).sum())),
        ("partner tied with another", int((frame["ties"] > 0).sum())),
    ]
    if details["ties"] == "share":
        counts[0] = ("nearest up to identical ones", result.linked)
        counts.insert(0, ("expected links", details["expected_links"]))
    if result.one_to_one is not None:
        counts.append(("re-identified one to one", result.one_to_one))
    total = details.get("total_weight", records)
    lines = [
        *heading(details, records),
        "",
        *listed(weighted_pairs(details)),
        *listed([(name, share(number, records)) for name, number in counts]),
        "",
        *listed(baseline_pairs(details["baselines"], total)),
        *spaced(strata_lines(details)),
        *(f"note: {note}" for note in details["notes"]),
    ]
    return "\n".join(lines) + "\n"
