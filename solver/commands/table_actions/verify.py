"""`python -m solver tables verify`: check the certificate of a table."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from linkrisk.solver.commands.table_actions.given import add_table, check_outputs, given_table, table_line
from linkrisk.solver.run.counts import several
from linkrisk.solver.run.errors import UsageError

if TYPE_CHECKING:
    from linkrisk.solver.certificates.checking.table import TableVerdict


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = "example: tables verify proof.json.gz --cells internal.csv --relations relations.csv"
    parser.add_argument(
        "certificate", metavar="PROOF.json", help="what `tables audit --certificate` wrote; .gz is read too"
    )
    parser.add_argument("--json", metavar="FILE", help="write what is proven as JSON")
    add_table(parser)


def run(arguments: argparse.Namespace) -> int:
    """Check and say what is proven; 1 where it is not that the table is protected."""
    from linkrisk.datasets.microdata.writing import write_whole
    from linkrisk.solver.api.tables.verify import verify_table

    check_outputs(arguments, "json")
    if arguments.json is not None and Path(arguments.json).resolve() == Path(arguments.certificate).resolve():
        raise UsageError(f"--json {arguments.json} would overwrite the certificate: give another name")
    stored = given_table(arguments)
    found = verify_table(arguments.certificate, stored)
    if arguments.json is not None:
        write_whole(arguments.json, found.to_json())
    if found.verdict is None:
        print(f"rejected: {found.rejected}", file=sys.stderr)
        return 1
    verdict = found.verdict
    relations = int(stored.relation.max(initial=-1)) + 1
    print(table_line(arguments, len(stored), relations))
    exactly = "exactly" if verdict.defect == 0 else f"but for {float(verdict.defect):g}"
    print(f"relations   add up {exactly}")
    print(f"proven      {_proven(verdict)}")
    return 0 if found else 1


def _proven(verdict: TableVerdict) -> str:
    vectors = several(verdict.witnesses, "witness vector")
    said = f"{several(verdict.met, 'level')} of {verdict.demands:,} met, by {vectors}"
    if verdict.protected:
        return f"PROTECTED: {said}"
    more = [f"{verdict.missed} missed"] if verdict.missed else []
    more += [f"{verdict.undecided} undecided"] if verdict.undecided else []
    return f"NOT protected: {said}; {', '.join(more)}"
