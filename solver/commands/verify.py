"""`python -m solver verify`: check the certificate of a fit, of those of a report, or of a table."""

from __future__ import annotations

import sys
from typing import Any

from linkrisk.datasets.options.option import keywords
from linkrisk.solver.options.worst_case import VerifyCommand, VerifyOptions
from linkrisk.solver.run.number_format import several

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
    from linkrisk.solver.certificates.operations.verification import quoted
    from linkrisk.solver.certificates.operations.verify import verify
    from linkrisk.solver.commands.progress import progress_line, reporter

    with progress_line("checking") as line:
        found = verify(**keywords(VerifyOptions, asked, on_progress=reporter(line)))
    if asked.json is not None:
        write_whole(asked.json, found.to_json())
    if found.table is not None:
        files: Any = asked.tables or asked.cells
        cells, relations = several(found.cells, "cell"), several(found.relations, "relation")
        print(f"table       {' + '.join(files)}: {cells}, {relations}")
    if found.parts or found.verdict is not None or found.table is not None:
        print(found, end="")
    for family, one in found.parts.items() or [("", found)]:
        if not one.verified:
            about = f"{quoted(family)}: " if family else ""
            print(f"rejected: {about}{one.rejected}", file=sys.stderr)
    return 0 if found else 1
