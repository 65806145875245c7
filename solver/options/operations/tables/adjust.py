"""What `adjust_table` can be asked, and `tables adjust`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from linkrisk.datasets.options.kinds import NAME, SWITCH
from linkrisk.datasets.options.option import option
from linkrisk.solver.options import names
from linkrisk.solver.options.run import Live
from linkrisk.solver.options.tables import OWN, About, Ended, OneForTheHouse, Published, TableOptions

COSTS = ("value", "unit", "root", "given")


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What a change costs, which ones there may be, and what solves the program."""

    cost: str = option(
        "value",
        "of a change: 1 over the value (default), unit, 1 over its root, or given in the column cost",
        NAME,
        doc="of a change: 1 over the ``value`` (at least 1), ``unit`` for all the same, 1 over the ``root`` "
        "of the value, or as ``given`` in the column `cost`",
        choices=COSTS,
        metavar="HOW",
        label="Cost of a change",
    )
    squares: bool = option(False, "sum the squares of changes", SWITCH, label="Sum squares")
    up: bool = option(False, "sensitive cells go up only", SWITCH, label="Up only")
    backend: str | None = option(
        None,
        "what solves the program: a backend (default: highs), or exact, our own, for {squares} (and the "
        "default there)",
        NAME,
        doc="what decides which way sensitive cells go: a backend, or ``exact``, our own branch and bound, "
        "which is there for `squares`, and the default then; else HiGHS is",
        label="Backend",
        choices=names.BACKENDS,
        named={OWN: "exact: our own"},
    )


@dataclass(frozen=True)
class AdjustOptions(TableOptions, Changes, Ended, Live):
    """What `adjust_table` can be asked."""


@dataclass(frozen=True)
class AdjustCommand(AdjustOptions, Published, OneForTheHouse, About):
    """What `tables adjust` can be asked."""

    words: ClassVar[Mapping[str, str]] = {"house": "the cells with values and adjusted values"}
