"""`python -m solver evaluate`: apply learned parameters to a file pair."""

from __future__ import annotations

import argparse
from typing import Any

from datasets.files import write_table, write_whole
from solver.commands.arguments import add_files, add_problem, check_targets, names
from solver.evaluation import EvaluationResult, evaluate


def add_parser(subparsers: argparse._SubParsersAction[Any]) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "evaluate",
        help="count what learned parameters re-identify in a file pair",
        description="Apply the parameters of a `fit --json` file to a file pair and count. What the "
        "parameters were learned with (direction, ties, ...) holds unless it is given anew.",
    )
    parser.add_argument("--parameters", required=True, metavar="FIT.json", help="what `fit --json` wrote")
    add_files(parser)
    add_problem(parser)
    parser.add_argument("--one-to-one", action="store_true", help="also assign records one to one")
    parser.add_argument("--json", metavar="FILE", help="write the whole result as JSON")
    parser.add_argument("--table", metavar="FILE", help="write the table of records as CSV or Parquet")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Count, print, write the files that were asked for."""
    check_targets(arguments.json, arguments.table)
    given = {
        "aggregator": arguments.aggregator,
        "direction": arguments.direction,
        "ties": arguments.ties,
        "standardisation": arguments.standardisation,
        "differences": arguments.differences,
        "attributes": names(arguments.attributes),
        "id_column": arguments.id,
        "drop_constant": arguments.drop_constant or None,
    }
    result = evaluate(
        arguments.original,
        arguments.masked,
        parameters=arguments.parameters,
        one_to_one=arguments.one_to_one,
        **{key: value for key, value in given.items() if value is not None},
    )
    if arguments.json:
        write_whole(arguments.json, result.to_json())
    if arguments.table:
        write_table(result.table.to_frame(), arguments.table)
    print(summary(result), end="")
    return 0


def summary(result: EvaluationResult) -> str:
    """The counts in a few lines."""
    details, records = result.details, result.records
    frame = result.table.to_frame()

    def share(count: float) -> str:
        return f"{count:g} of {records} ({100 * count / records:.1f} %)"

    lines = [
        f"{details['name']}: {records} records, {details['direction']}, {details['aggregator']}",
        "",
        f"  linked                          {share(result.linked)}",
        f"  partner among the 3 nearest     {share(int((frame['rank'] <= 3).sum()))}",
        f"  partner tied with another       {share(int((frame['ties'] > 0).sum()))}",
    ]
    if details["ties"] == "share":
        lines.append(f"  expected links (ties shared)    {details['expected_links']:.2f}")
    if result.one_to_one is not None:
        lines.append(f"  linked one to one               {share(result.one_to_one)}")
    lines += [
        f"  Euclidean distance              {share(details['baselines']['euclid'])}",
        f"  classical Mahalanobis distance  {share(details['baselines']['mahalanobis'])}",
    ]
    return "\n".join(lines) + "\n"
