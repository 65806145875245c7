"""Options of cell suppression, audit, rounding, adjustment, and `tables compare`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.options.kinds import NAME, SWITCH, WHOLE, WORDS, Kind
from linkrisk.datasets.options.option import again, declared, option, written
from linkrisk.solver.options import names
from linkrisk.solver.options.run import Live
from linkrisk.solver.options.tables import (
    OWN,
    About,
    Ended,
    Exactly,
    OneForTheHouse,
    Proof,
    Published,
    SeveralForTheHouse,
    TableOptions,
    WhoAttacks,
)

if TYPE_CHECKING:
    from linkrisk.solver.options.types import Frame, TableSource


AUTOMATIC, OPTIMAL, MODULAR, HEURISTIC = "auto", "optimal", "modular", "heuristic"
METHODS = (AUTOMATIC, OPTIMAL, MODULAR, HEURISTIC)


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
        choices=("value", "unit", "log", "given"),
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
    """Options of `suppress_table`."""


@dataclass(frozen=True)
class SuppressCommand(SuppressOptions, Published, SeveralForTheHouse, About, Proof):
    """Options of `tables suppress`."""


def _files(text: str) -> tuple[str, ...]:
    """``CELLS,RELATIONS``, ``CELLS`` or ``TABLE.tab``."""
    files = text.split(",")
    if len(files) > 2 or not all(files):
        raise DataError(f"{text!r} is none; write CELLS,RELATIONS, or CELLS alone")
    return tuple(files)


_TABLES = Kind(_files, "CELLS,RELATIONS", ",".join, repeated=True, field="file")


@dataclass(frozen=True, kw_only=True)
class Also:
    """Other releases, processes and time of an audit."""

    also: Sequence[TableSource | tuple[Frame, ...]] = option(
        (),
        "another table or release of the same cells, known by their codes: what it publishes is known. "
        "Relations follow from codes where they are left out",
        _TABLES,
        doc="what else was published of the same cells, which are known by their codes: other tables, other "
        "releases, other classifications; each is a table, its cells, or a tuple of cells and relations. An "
        "attacker has all of them: a cell is published if one of them publishes it, and all relations hold "
        "together",
        label="Other releases",
    )
    workers: int | None = option(
        None,
        "processes that share the work; default: this one alone",
        WHOLE,
        doc="processes that share the work; worth it from some thousand suppressed cells",
        label="Processes",
    )
    time_limit: float | None = again(
        Ended,
        "time_limit",
        None,
        help="seconds, or 'none' (default)",
        doc="seconds, after which intervals are left out. A cell counts as protected only where it was seen "
        "to be",
    )


@dataclass(frozen=True)
class AuditOptions(TableOptions, WhoAttacks, Exactly, Also, Live):
    """Options of `audit_table`."""


@dataclass(frozen=True, kw_only=True)
class AuditCommand(AuditOptions, Published, SeveralForTheHouse, About, Proof):
    """Options of `tables audit`."""

    output: str | None = again(Published, "output", None, after="as_far_as_possible")


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
    """Options of `round_table`."""


@dataclass(frozen=True, kw_only=True)
class RoundCommand(RoundOptions, Published, OneForTheHouse, About):
    """Options of `tables round`."""

    words: ClassVar[Mapping[str, str]] = {"house": "the cells with values and rounded values"}

    output: str | None = again(Published, "output", None, after="relaxed")


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What a change costs, which ones there may be, and what solves the program."""

    cost: str = option(
        "value",
        "of a change: 1 over the value (default), unit, 1 over its root, or given in the column cost",
        NAME,
        doc="of a change: 1 over the ``value`` (at least 1), ``unit`` for all the same, 1 over the ``root`` "
        "of the value, or as ``given`` in the column `cost`",
        choices=("value", "unit", "root", "given"),
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
    """Options of `adjust_table`."""


@dataclass(frozen=True)
class AdjustCommand(AdjustOptions, Published, OneForTheHouse, About):
    """Options of `tables adjust`."""

    words: ClassVar[Mapping[str, str]] = {"house": "the cells with values and adjusted values"}


PROBLEMS = ("suppress", "round", "adjust")
DEFAULT_BASE = 5


@dataclass(frozen=True, kw_only=True)
class Contest:
    """Who solves which problem."""

    problem: str = option(
        "suppress",
        "suppress (default), round (zero-restricted) or adjust (linear, weights 1 over value)",
        NAME,
        choices=PROBLEMS,
        metavar="WHAT",
        label="Problem",
    )
    cost: str = again(Method, "cost", "value")
    base: int | None = option(
        None, "of rounding; default: {default}", WHOLE, usual=f"{DEFAULT_BASE}", label="Base"
    )
    backends: Sequence[str] | None = option(
        None,
        "exact (our own, of suppress) and backends; default: all there are",
        WORDS,
        label="Backends",
        choices=names.BACKENDS,
        named={OWN: "exact: our own"},
    )
    seed: int = again(Ended, "seed", 0, help="of the backends; default: {default}")
    time_limit: float | None = again(
        Ended,
        "time_limit",
        Ended.time_limit,
        help="seconds for each, or 'none'; default: {default}",
        doc="seconds for each; None for no limit",
    )


@dataclass(frozen=True)
class CompareTableOptions(TableOptions, Contest, Live):
    """Options of `compare_table`."""


@dataclass(frozen=True, kw_only=True)
class CompareTableCommand(CompareTableOptions):
    """Options of `tables compare`."""

    json: str | None = written("write the comparison as JSON", after="time_limit")
