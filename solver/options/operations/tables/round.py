"""What `round_table` can be asked, and `tables round`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from linkrisk.datasets.options.kinds import NAME, SWITCH, WHOLE
from linkrisk.datasets.options.option import again, declared, option
from linkrisk.solver.options import names
from linkrisk.solver.options.run import Live
from linkrisk.solver.options.tables import About, Ended, OneForTheHouse, Published, TableOptions


@dataclass(frozen=True, kw_only=True)
class Base:
    """What cells become multiples of, and what solves the program."""

    base: int = field(
        metadata=declared("every cell becomes a multiple of it, such as 5", WHOLE, label="Base")
    )
    relaxed: bool = option(
        False,
        "cells may go further than to the next multiple",
        SWITCH,
        doc="whether cells may go further than to a neighbouring multiple; what is not negative stays so",
        label="Relaxed",
    )
    backend: str = option(
        "highs",
        "what solves the program: a backend; default: {default}",
        NAME,
        doc="what solves the program in whole numbers, where its relaxation does not",
        label="Backend",
        choices=names.BACKENDS,
    )


@dataclass(frozen=True)
class RoundOptions(TableOptions, Base, Ended, Live):
    """What `round_table` can be asked."""


@dataclass(frozen=True, kw_only=True)
class RoundCommand(RoundOptions, Published, OneForTheHouse, About):
    """What `tables round` can be asked."""

    words: ClassVar[Mapping[str, str]] = {"house": "the cells with values and rounded values"}

    output: str | None = again(Published, "output", None, after="relaxed")
