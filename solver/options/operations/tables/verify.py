"""What `verify_table` can be asked, and `tables verify`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from linkrisk.datasets.options.kinds import FILE, WRITTEN
from linkrisk.datasets.options.option import COMMAND, declared, option
from linkrisk.solver.options.tables import TableOptions

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class TableProof:
    """What is checked."""

    certificate: str | Path = field(
        metadata=declared(
            "what `tables audit --certificate` wrote; .gz is read too",
            FILE,
            doc="what `tables audit --certificate` or `tables suppress --certificate` wrote",
            metavar="PROOF.json",
            bare=True,
            label="Certificate",
        )
    )


@dataclass(frozen=True)
class VerifyTableOptions(TableOptions, TableProof):
    """What `verify_table` can be asked."""


@dataclass(frozen=True, kw_only=True)
class VerifyTableCommand(VerifyTableOptions):
    """What `tables verify` can be asked."""

    json: str | None = option(
        None,
        "write what is proven as JSON",
        WRITTEN,
        faces=frozenset({COMMAND}),
        after="certificate",
    )
