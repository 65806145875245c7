"""Options of `verify`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from linkrisk.datasets.options.kinds import FILE
from linkrisk.datasets.options.option import again, declared, option, written
from linkrisk.solver.options.pair import Alignment, Attributes, Categories, Constants, Files
from linkrisk.solver.options.run import Watched
from linkrisk.solver.options.tables import TableCells, TableReading

if TYPE_CHECKING:
    from pathlib import Path

    from linkrisk.solver.options.types import Frame, Result, SchemaLike, TableLike, TableSource


@dataclass(frozen=True)
class Claimed:
    """What is checked."""

    result: Result | Mapping[str, Any] | str | Path = field(
        metadata=declared(
            "what `fit --json` wrote; or what `report --certificate` wrote, with the fits and certificates "
            "of all families; or of a table, what `tables suppress --certificate` or `tables audit "
            "--certificate` wrote (.gz is read too)",
            FILE,
            doc="what was returned, its JSON, or the file with it; or the certificate of a table",
            bare=True,
            metavar="FIT.json",
            label="Certificate",
        )
    )


@dataclass(frozen=True)
class ClaimedFiles(Claimed):
    """Of which two files."""

    title = Files.title

    original: TableLike | None = again(Files, "original", None)
    masked: TableLike | None = again(Files, "masked", None)


@dataclass(frozen=True, kw_only=True)
class Proof:
    """What proves it."""

    certificate: Mapping[str, Any] | str | Path | None = option(
        None,
        "what `fit --certificate` wrote in the same run",
        FILE,
        doc="what `fit` wrote in the same run; that of the result when absent",
        label="Certificate of the same run",
        after="result",
    )


@dataclass(frozen=True, kw_only=True)
class Same:
    """Attributes and alignment, by default as in the result."""

    attributes: Sequence[str] | None = again(
        Attributes, "attributes", None, doc="only those of the fit are possible"
    )


@dataclass(frozen=True, kw_only=True)
class Read:
    """How the files are read."""

    schema: SchemaLike | None = again(
        Categories,
        "schema",
        None,
        help="JSON or TOML file with the record id and the missing codes of columns",
        doc="only the record id, the column of weights and the missing codes of columns are taken from it; "
        "categories are those of the fit. Without it, weights are those of the column that the fit names",
        group="",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class ProvenCells:
    """Of which table."""

    title = TableCells.title

    cells: TableSource | Sequence[Frame] | None = again(TableCells, "cells", None)
    relations: Frame | Sequence[Frame] | None = again(TableCells, "relations", None)


@dataclass(frozen=True, kw_only=True)
class Bundled(Proof, Same):
    """What a file has that holds fits with their certificates."""


@dataclass(frozen=True, kw_only=True)
class FilesOptions(ClaimedFiles, Proof, Same, Alignment, Read):
    """The claim, its two files, or its table."""


@dataclass(frozen=True, kw_only=True)
class VerifyOptions(FilesOptions, ProvenCells, TableReading, Watched):
    """Options of `verify`."""


@dataclass(frozen=True, kw_only=True)
class VerifyCommand(
    ClaimedFiles, Proof, Same, Alignment, Constants, Read, ProvenCells, TableReading, Watched
):
    """Options of the command `verify`."""

    json: str | None = written("write what is proved as JSON", after="certificate")
