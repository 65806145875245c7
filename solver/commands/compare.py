"""`python -m solver compare`: the exact engine and every available backend, side by side."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from linkrisk.datasets.options.option import keywords
from linkrisk.solver.options.worst_case import CompareCommand, CompareOptions

if TYPE_CHECKING:
    from linkrisk.solver.run.result import Result

ASKED = CompareCommand
DESCRIPTION = (
    "Run the exact engine, and solve the same model on every available backend, each in its own process."
)


def run(asked: CompareCommand) -> int:
    """Compare, print the table, write the files that were asked for; 1 when something went wrong."""
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.commands.targets import hand_over
    from linkrisk.solver.worst_case.operations.compare import compare

    with progress_line("reading and comparing records") as line:
        result = compare(**keywords(CompareOptions, asked, on_progress=reporter(line)))
    hand_over(asked, result, table=result.to_frame)
    return exit_code(result)


def exit_code(result: Result) -> int:
    """1 where something is wrong with a comparison, which standard error gets, too."""
    from linkrisk.solver.documents.wording import contradictions

    lines = contradictions(result.to_dict())
    for line in lines:
        print(line, file=sys.stderr)
    return 1 if lines else 0
