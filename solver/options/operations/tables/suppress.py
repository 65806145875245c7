"""What `suppress_table` can be asked, and `tables suppress`."""

from __future__ import annotations

from dataclasses import dataclass

from linkrisk.datasets.options.kinds import NAME
from linkrisk.datasets.options.option import option
from linkrisk.solver.options import names
from linkrisk.solver.options.run import Live
from linkrisk.solver.options.tables import (
    OWN,
    About,
    Ended,
    Exactly,
    Proof,
    Published,
    SeveralForTheHouse,
    TableOptions,
    WhoAttacks,
)

AUTOMATIC, OPTIMAL, MODULAR, HEURISTIC = "auto", "optimal", "modular", "heuristic"
METHODS = (AUTOMATIC, OPTIMAL, MODULAR, HEURISTIC)
COSTS = ("value", "unit", "log", "given")


@dataclass(frozen=True, kw_only=True)
class Method:
    """How cells are chosen, and what one costs."""

    method: str = option(
        AUTOMATIC,
        "optimal, modular or heuristic; auto (default) is optimal up to 3,000 cells, modular beyond",
        NAME,
        doc="``optimal``; ``modular`` or ``heuristic`` for tables that are too large for it "
        "(`solver.tables.suppression.large_tables`), audited and with a bound as well; or ``auto``, which is "
        "``optimal`` up to 3,000 cells (`MOST_OPTIMAL`), and ``modular`` beyond",
        choices=METHODS,
        named={AUTOMATIC: "what fits its size"},
        metavar="HOW",
        label="Method",
    )
    cost: str = option(
        "value",
        "of a cell: its value (default), unit, log of 1 + value, or given in the column cost",
        NAME,
        doc="of a cell that is suppressed with the sensitive ones: its ``value`` (at least 1), ``unit`` "
        "each, the ``log`` of 1 + value, or as ``given``",
        choices=COSTS,
        named={
            "value": "its value",
            "unit": "one for each cell",
            "log": "logarithm of its value",
            "given": "as a column says",
        },
        metavar="HOW",
        label="Cost of a cell",
    )


@dataclass(frozen=True, kw_only=True)
class Solver:
    """What solves the program."""

    backend: str = option(
        OWN,
        "what solves the program: exact (default, our own) or a backend",
        NAME,
        doc="what solves the program in whole numbers: ``exact``, our own branch and cut, or a backend",
        label="Backend",
        choices=names.BACKENDS,
        named={OWN: "exact: our own"},
    )


@dataclass(frozen=True)
class SuppressOptions(TableOptions, Method, WhoAttacks, Exactly, Solver, Ended, Live):
    """What `suppress_table` can be asked."""


@dataclass(frozen=True)
class SuppressCommand(SuppressOptions, Published, SeveralForTheHouse, About, Proof):
    """What `tables suppress` can be asked."""
