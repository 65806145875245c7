"""`python -m solver verify`: check the certificate of a fit."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from linkrisk.solver.commands.arguments import add_files, names

if TYPE_CHECKING:
    from linkrisk.solver.api.verify import VerificationResult


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Check that the parameters of FIT.json link as many records of the two files as it says, "
        "and that no parameters link more than it says, by the proof in the certificate. Exit code 1 when "
        "a check fails."
    )
    parser.epilog = "example: verify fit.json --certificate proof.json --original o.csv --masked m.csv"
    parser.add_argument("fit", metavar="FIT.json", help="what `fit --json` wrote")
    parser.add_argument(
        "--certificate", required=True, metavar="FILE", help="what `fit --certificate` wrote in the same run"
    )
    add_files(parser)
    parser.add_argument(
        "--schema",
        metavar="FILE",
        help="JSON or TOML file with the record id and the missing codes of columns",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Check and say what is proved; 1 when a check fails."""
    from linkrisk.solver.api.verify import verify
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.commands.verdict import checked, coverage, proved

    with progress_line("checking") as line:
        result = verify(
            arguments.fit,
            arguments.original,
            arguments.masked,
            certificate=arguments.certificate,
            attributes=names(arguments.attributes, "--attributes"),
            id_column=arguments.id,
            row_by_row=arguments.row_by_row,
            schema=arguments.schema,
            on_progress=reporter(line),
        )
    verdict = result.verdict
    if verdict is not None:
        print(f"of {_named(arguments, result)}:")
        print(proved(verdict, _aligned(result)))
    if verdict is None or not result.verified:
        print(f"rejected: {result.rejected}", file=sys.stderr)
        return 1
    print(checked(verdict, result.seconds))
    print(f"of {arguments.fit}: {coverage(verdict, result.fit, result.alignment)}")
    return 0


def _named(arguments: argparse.Namespace, result: VerificationResult) -> str:
    """The files that the claim is about, as this command was given them: nothing that a JSON says."""
    from linkrisk.solver.commands.verdict import quoted

    if arguments.original is None:
        return f"the embedded pair ({result.name})"
    return f"{quoted(arguments.original)} and, masked, {quoted(arguments.masked)}"


def _aligned(result: VerificationResult) -> str:
    """How the records of the two files were aligned."""
    from linkrisk.datasets.pairs.table_pair import BY_ID, BY_ROW
    from linkrisk.solver.commands.verdict import quoted

    if result.alignment.startswith(BY_ID):
        return f"by the id column {quoted(result.alignment.removeprefix(BY_ID))}"
    return "row by row" if result.alignment == BY_ROW else "by the labels of the two indexes"
