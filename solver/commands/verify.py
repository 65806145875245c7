"""`python -m solver verify`: check the certificate of a fit."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from linkrisk.datasets.options.option import keywords
from linkrisk.solver.options.operations.verify import BundleOptions, VerifyCommand, VerifyOptions
from linkrisk.solver.run.errors import UsageError

if TYPE_CHECKING:
    from linkrisk.solver.api.verify import VerificationResult


ASKED = VerifyCommand
DESCRIPTION = (
    "Check that the parameters of a fit link as many records of the two files as it says, "
    "and that no parameters link more than it says, by the proof in the certificate. Exit code 1 when "
    "a check fails."
)
EXAMPLE = "example: verify fit.json --certificate proof.json --original o.csv --masked m.csv"


def run(asked: VerifyCommand) -> int:
    """Check and say what is proved; 1 when a check fails."""
    from linkrisk.solver.api.verify_bundle import is_bundle
    from linkrisk.solver.certificates.checking.fields import read_object

    several = is_bundle(read_object(str(asked.result), "fit --json"))
    results = _of_bundle(asked) if several else {"": _of_fit(asked)}
    for family, result in results.items():
        _say(asked, result, family)
    verified = sum(result.verified for result in results.values())
    if several:
        print(f"verified: {verified} of {len(results)} {'family' if len(results) == 1 else 'families'}")
    return 0 if verified == len(results) else 1


def _of_fit(asked: VerifyCommand) -> VerificationResult:
    """The answer about one fit."""
    from linkrisk.solver.api.verify import verify
    from linkrisk.solver.commands.progress import progress_line, reporter

    if asked.certificate is None:
        raise UsageError(
            "there is no certificate: give what `fit --certificate` wrote in the same run with --certificate "
            "FILE, or instead of the fit what `report --certificate` wrote"
        )
    with progress_line("checking") as line:
        return verify(**keywords(VerifyOptions, asked, on_progress=reporter(line)))


def _of_bundle(asked: VerifyCommand) -> Mapping[str, VerificationResult]:
    """The answers about all fits of a report, by family."""
    from linkrisk.solver.api.verify_bundle import verify_bundle
    from linkrisk.solver.commands.progress import progress_line, reporter

    for option in ("certificate", "attributes"):
        if getattr(asked, option) is not None:
            raise UsageError(f"{asked.result} holds fits with their certificates: leave --{option} out")
    with progress_line("checking") as line:
        return verify_bundle(**keywords(BundleOptions, asked, on_progress=reporter(line))).results


def _say(asked: VerifyCommand, result: VerificationResult, family: str) -> None:
    """Print what is proved, of a `family` where there may be several."""
    from linkrisk.solver.commands.verdict import checked, coverage, proved, quoted

    about = f"{quoted(family)}: " if family else ""
    verdict = result.verdict
    if verdict is not None:
        print(f"of {_named(asked, result)}:")
        print(proved(verdict, _aligned(result)))
    if verdict is None or not result.verified:
        print(f"rejected: {about}{result.rejected}", file=sys.stderr)
        return
    print(checked(verdict, result.seconds))
    print(f"of {asked.result}: {about}{coverage(verdict, result.fit, result.alignment)}")


def _named(asked: VerifyCommand, result: VerificationResult) -> str:
    """The files that the claim is about, as this command was given them: nothing that a JSON says."""
    from linkrisk.solver.commands.verdict import quoted

    if asked.original is None:
        return f"the embedded pair ({result.name})"
    return f"{quoted(str(asked.original))} and, masked, {quoted(str(asked.masked))}"


def _aligned(result: VerificationResult) -> str:
    """How the records of the two files were aligned."""
    from linkrisk.datasets.pairs.table_pair import BY_ID, BY_ROW
    from linkrisk.solver.commands.verdict import quoted

    if result.alignment.startswith(BY_ID):
        return f"by the id column {quoted(result.alignment.removeprefix(BY_ID))}"
    return "row by row" if result.alignment == BY_ROW else "by the labels of the two indexes"
