"""`python -m solver tables verify`: check the certificate of a table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from linkrisk.solver.commands.table_actions.common import read_table, table_line
from linkrisk.solver.options.operations.tables.verify import VerifyTableCommand
from linkrisk.solver.run.counts import several
from linkrisk.solver.run.errors import UsageError

if TYPE_CHECKING:
    from linkrisk.solver.certificates.checking.table import TableVerdict


ASKED = VerifyTableCommand
EXAMPLE = "example: tables verify proof.json.gz --cells internal.csv --relations relations.csv"


def run(asked: VerifyTableCommand) -> int:
    """Check and say what is proven; 1 where it is not that the table is protected."""
    from linkrisk.datasets.microdata.writing import write_whole
    from linkrisk.solver.api.tables.verify import verify_table

    if asked.json is not None and Path(asked.json).resolve() == Path(asked.certificate).resolve():
        raise UsageError(f"--json {asked.json} would overwrite the certificate: give another name")
    stored = read_table(asked)
    found = verify_table(asked.certificate, stored)
    if asked.json is not None:
        write_whole(asked.json, found.to_json())
    if found.verdict is None:
        print(f"rejected: {found.rejected}", file=sys.stderr)
        return 1
    verdict = found.verdict
    relations = int(stored.relation.max(initial=-1)) + 1
    print(table_line(asked, len(stored), relations))
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
