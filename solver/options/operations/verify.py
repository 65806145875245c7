"""What `verify` can be asked, as a function and as a command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from linkrisk.datasets.options.kinds import FILE
from linkrisk.datasets.options.option import again, declared, option
from linkrisk.solver.options.pair import Alignment, Attributes, Categories, Constants, Files
from linkrisk.solver.options.run import Watched

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from linkrisk.solver.options.types import Result, SchemaLike, TableLike


@dataclass(frozen=True)
class Claimed:
    """What is checked."""

    result: Result | Mapping[str, Any] | str | Path = field(
        metadata=declared(
            "what `fit --json` wrote; or what `report --certificate` wrote, with the fits and certificates "
            "of all families",
            FILE,
            doc="what was returned, its JSON, or the file with it",
            bare=True,
            metavar="FIT.json",
            label="Result",
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
        label="Certificate",
        after="result",
    )


@dataclass(frozen=True, kw_only=True)
class Same:
    """What is compared: as the result says."""

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


@dataclass(frozen=True, kw_only=True)
class VerifyOptions(ClaimedFiles, Proof, Same, Alignment, Read, Watched):
    """What `verify` can be asked."""


@dataclass(frozen=True, kw_only=True)
class BundleOptions(ClaimedFiles, Alignment, Read, Watched):
    """What `verify_bundle` can be asked."""


@dataclass(frozen=True, kw_only=True)
class VerifyCommand(ClaimedFiles, Proof, Same, Alignment, Constants, Read, Watched):
    """What the command `verify` can be asked."""
