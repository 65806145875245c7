"""What `compare_table` can be asked, and `tables compare`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkrisk.datasets.options.kinds import NAME, WHOLE, WORDS
from linkrisk.datasets.options.option import again, option, written
from linkrisk.solver.options import names
from linkrisk.solver.options.operations.tables.suppress import Method
from linkrisk.solver.options.run import Live
from linkrisk.solver.options.tables import OWN, Ended, TableOptions

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
    """What `compare_table` can be asked."""


@dataclass(frozen=True, kw_only=True)
class CompareTableCommand(CompareTableOptions):
    """What `tables compare` can be asked."""

    json: str | None = written("write the comparison as JSON", after="time_limit")
