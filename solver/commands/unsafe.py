"""`python -m solver unsafe`: unsafe combinations of key variables, and what recodings make of them."""

from __future__ import annotations

from linkrisk.datasets.options.option import keywords
from linkrisk.solver.options.suppression import UnsafeCommand, UnsafeOptions

ASKED = UnsafeCommand
DESCRIPTION = (
    "Count unsafe combinations of key variables, by variable and category, and say what trial recodings "
    "would make of them. Nothing is masked."
)
EXAMPLE = "example: unsafe --input people.csv --k 3 --recode 'top-coding categories=3 attributes=age'"


def run(asked: UnsafeCommand) -> int:
    """Count, write, and print."""
    from linkrisk.solver.commands.progress import progress_line
    from linkrisk.solver.commands.targets import hand_over
    from linkrisk.solver.suppression.operations.unsafe import unsafe

    with progress_line("counting combinations"):
        result = unsafe(**keywords(UnsafeOptions, asked))
    hand_over(asked, result)
    return 0
