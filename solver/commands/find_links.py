"""`python -m solver find-links`: links between files of which nobody knows which record is which."""

from __future__ import annotations

from linkrisk.datasets.options.option import keywords
from linkrisk.solver.commands.link import pairs_of, parameters_of
from linkrisk.solver.options.linking import FIND, FindCommand, FindOptions

ASKED = FIND
DESCRIPTION = (
    "Link the records of two files of which nobody knows which record is which, in passes; what is wrong "
    "and what is missed is estimated."
)
EXAMPLE = "example: find-links --original a.csv --masked b.csv --pass surname,town --links links.csv"


def run(asked: FindCommand) -> int:
    """Link, print, write the files that were asked for."""
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.commands.targets import hand_over
    from linkrisk.solver.linkage.operations.link import find_links

    parameters = parameters_of(asked)
    with progress_line("comparing records") as line:
        more = {"parameters": parameters, "on_progress": reporter(line)}
        result = find_links(**keywords(FindOptions, asked, **more))
    hand_over(asked, result, **pairs_of(result.passes))
    return 0
