"""`python -m solver link`: every other linker on a file pair."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from linkrisk.datasets.options.option import keywords
from linkrisk.errors import called
from linkrisk.solver.linkage.parameters import all_settings, own_settings
from linkrisk.solver.options.linking import LINK, FindCommand, LinkCommand, LinkOptions
from linkrisk.solver.run.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

    from linkrisk.solver.linkage.result import LinkedPasses

ASKED = LINK
DESCRIPTION = (
    "Link the records of two files by a linker that learns without the truth, and judge it "
    "as `fit` judges distances: a record is re-identified when its partner scores strictly highest."
)
EXAMPLE = "example: link --original o.csv --masked m.csv --method prl --one-to-one hungarian"


def run(asked: LinkCommand) -> int:
    """Link, print, write the files that were asked for."""
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.commands.targets import hand_over
    from linkrisk.solver.linkage.operations.link import link

    parameters = parameters_of(asked)
    with progress_line("comparing records") as line:
        result = link(**keywords(LinkOptions, asked, parameters=parameters, on_progress=reporter(line)))
    hand_over(asked, result, table=result.table.to_frame, **pairs_of(result.passes))
    return 0


def pairs_of(passes: LinkedPasses | None) -> dict[str, Callable[[], pd.DataFrame]]:
    """The tables of the pairs of passes, by the options that write them."""
    return {} if passes is None else {"links": lambda: passes.links, "clerical": lambda: passes.clerical}


def parameters_of(asked: LinkCommand | FindCommand) -> dict[str, Any]:
    """Those of the linker, read as it reads them; pairs are listed of passes only."""
    from linkrisk.solver.commands.settings import given_settings

    found = given_settings(asked, all_settings(), own_settings(str(asked.method)))
    for option in ("links", "clerical"):
        if getattr(asked, option) is not None and "passes" not in found:
            flags = called(option), called("passes")
            raise UsageError(f"{flags[0]} lists pairs of passes: give {flags[1]} too, or leave it out")
    return found
