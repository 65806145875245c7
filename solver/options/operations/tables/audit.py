"""What `audit_table` can be asked, and `tables audit`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.options.kinds import WHOLE, Kind
from linkrisk.datasets.options.option import again, option
from linkrisk.solver.options.run import Live
from linkrisk.solver.options.tables import (
    About,
    Ended,
    Exactly,
    Proof,
    Published,
    SeveralForTheHouse,
    TableOptions,
    WhoAttacks,
)

if TYPE_CHECKING:
    from linkrisk.solver.options.types import Frame, TableSource


def _files(text: str) -> tuple[str, ...]:
    """``CELLS,RELATIONS``, ``CELLS`` or ``TABLE.tab``."""
    files = text.split(",")
    if len(files) > 2 or not all(files):
        raise DataError(f"{text!r} is none; write CELLS,RELATIONS, or CELLS alone")
    return tuple(files)


_TABLES = Kind(_files, "CELLS,RELATIONS", ",".join, repeated=True, field="file")


@dataclass(frozen=True, kw_only=True)
class Also:
    """What else was published, and who looks at all of it how long."""

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
    """What `audit_table` can be asked."""


@dataclass(frozen=True, kw_only=True)
class AuditCommand(AuditOptions, Published, SeveralForTheHouse, About, Proof):
    """What `tables audit` can be asked."""

    output: str | None = again(Published, "output", None, after="as_far_as_possible")
