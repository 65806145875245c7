"""`python -m solver verify`: check the certificate of a fit, of those of a report, or of a table."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from linkrisk.datasets.options.option import keywords
from linkrisk.solver.options.operations.verify import VerifyCommand, VerifyOptions
from linkrisk.solver.run.counts import several

if TYPE_CHECKING:
    from linkrisk.solver.certificates.checking.table import TableVerdict
    from linkrisk.solver.certificates.operations.verification import VerificationResult


ASKED = VerifyCommand
DESCRIPTION = (
    "Check that the parameters of a fit link as many records of the two files as it says, "
    "and that no parameters link more than it says, by the proof in the certificate; or that a table is "
    "protected, by the certificate of its suppression or audit. Exact arithmetic, no tolerance. "
    "Exit code 1 when a check fails."
)
EXAMPLE = (
    "example: verify fit.json --certificate proof.json --original o.csv --masked m.csv; of a table: "
    "verify proof.json.gz --cells internal.csv --relations relations.csv"
)


def run(asked: VerifyCommand) -> int:
    """Check and say what is proved; 1 when a check fails, or a table is not protected."""
    from linkrisk.datasets.microdata.writing import write_whole
    from linkrisk.solver.certificates.operations.verify import verify
    from linkrisk.solver.commands.progress import progress_line, reporter

    with progress_line("checking") as line:
        found = verify(**keywords(VerifyOptions, asked, on_progress=reporter(line)))
    if asked.json is not None:
        write_whole(asked.json, found.to_json())
    if found.cells:
        _say_of_table(asked, found)
        return 0 if found else 1
    for family, result in found.parts.items() or [("", found)]:
        _say(asked, result, family)
    if found.parts:
        many, verified = len(found.parts), sum(map(bool, found.parts.values()))
        print(f"verified: {verified} of {many} {'family' if many == 1 else 'families'}")
    return 0 if found else 1


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


def _say_of_table(asked: VerifyCommand, found: VerificationResult) -> None:
    """Print what is proved of a table."""
    from linkrisk.solver.commands.table_actions.common import table_line

    if found.table is None:
        print(f"rejected: {found.rejected}", file=sys.stderr)
        return
    print(table_line(asked, found.cells, found.relations))
    defect = found.table.defect
    print(f"relations   add up {'exactly' if defect == 0 else f'but for {float(defect):g}'}")
    print(f"proven      {_proven(found.table)}")


def _proven(verdict: TableVerdict) -> str:
    vectors = several(verdict.witnesses, "witness vector")
    said = f"{several(verdict.met, 'level')} of {verdict.demands:,} met, by {vectors}"
    if verdict.protected:
        return f"PROTECTED: {said}"
    more = [f"{verdict.missed} missed"] if verdict.missed else []
    more += [f"{verdict.undecided} undecided"] if verdict.undecided else []
    return f"NOT protected: {said}; {', '.join(more)}"
