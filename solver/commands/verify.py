"""`python -m solver verify`: check the certificate of a fit."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from linkrisk.solver.commands.arguments import add_files, names
from linkrisk.solver.run.errors import UsageError

if TYPE_CHECKING:
    from linkrisk.solver.api.verify import VerificationResult


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Check that the parameters of a fit link as many records of the two files as it says, "
        "and that no parameters link more than it says, by the proof in the certificate. Exit code 1 when "
        "a check fails."
    )
    parser.epilog = "example: verify fit.json --certificate proof.json --original o.csv --masked m.csv"
    parser.add_argument(
        "fit",
        metavar="FIT.json",
        help="what `fit --json` wrote; or what `report --certificate` wrote, with the fits and certificates "
        "of all families",
    )
    parser.add_argument(
        "--certificate", metavar="FILE", help="what `fit --certificate` wrote in the same run"
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
    from linkrisk.solver.api.verify_bundle import is_bundle
    from linkrisk.solver.certificates.checking.fields import read_object

    several = is_bundle(read_object(arguments.fit, "fit --json"))
    results = _of_bundle(arguments) if several else {"": _of_fit(arguments)}
    for family, result in results.items():
        _say(arguments, result, family)
    verified = sum(result.verified for result in results.values())
    if several:
        print(f"verified: {verified} of {len(results)} {'family' if len(results) == 1 else 'families'}")
    return 0 if verified == len(results) else 1


def _of_fit(arguments: argparse.Namespace) -> VerificationResult:
    """The answer about one fit."""
    from linkrisk.solver.api.verify import verify
    from linkrisk.solver.commands.progress import progress_line, reporter

    if arguments.certificate is None:
        raise UsageError(
            "there is no certificate: give what `fit --certificate` wrote in the same run with --certificate "
            "FILE, or instead of the fit what `report --certificate` wrote"
        )
    with progress_line("checking") as line:
        return verify(
            arguments.fit,
            arguments.original,
            arguments.masked,
            certificate=arguments.certificate,
            attributes=names(arguments.attributes, "--attributes"),
            on_progress=reporter(line),
            **_reading(arguments),
        )


def _of_bundle(arguments: argparse.Namespace) -> Mapping[str, VerificationResult]:
    """The answers about all fits of a report, by family."""
    from linkrisk.solver.api.verify_bundle import verify_bundle
    from linkrisk.solver.commands.progress import progress_line, reporter

    for option in ("certificate", "attributes"):
        if getattr(arguments, option) is not None:
            raise UsageError(f"{arguments.fit} holds fits with their certificates: leave --{option} out")
    with progress_line("checking") as line:
        return verify_bundle(
            arguments.fit,
            arguments.original,
            arguments.masked,
            on_progress=reporter(line),
            **_reading(arguments),
        ).results


def _reading(arguments: argparse.Namespace) -> dict[str, Any]:
    """How the files are read."""
    return {
        "id": arguments.id,
        "row_by_row": arguments.row_by_row,
        "schema": arguments.schema,
    }


def _say(arguments: argparse.Namespace, result: VerificationResult, family: str) -> None:
    """Print what is proved, of a `family` where there may be several."""
    from linkrisk.solver.commands.verdict import checked, coverage, proved, quoted

    about = f"{quoted(family)}: " if family else ""
    verdict = result.verdict
    if verdict is not None:
        print(f"of {_named(arguments, result)}:")
        print(proved(verdict, _aligned(result)))
    if verdict is None or not result.verified:
        print(f"rejected: {about}{result.rejected}", file=sys.stderr)
        return
    print(checked(verdict, result.seconds))
    print(f"of {arguments.fit}: {about}{coverage(verdict, result.fit, result.alignment)}")


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
