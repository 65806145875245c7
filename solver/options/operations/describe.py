"""What `describe` can be asked, as a function and as a command."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from linkrisk.datasets.options.kinds import FILE, WRITTEN
from linkrisk.datasets.options.option import declared, option

if TYPE_CHECKING:
    from linkrisk.solver.options.types import TableLike


@dataclass(frozen=True)
class DescribeOptions:
    """What `describe` can be asked."""

    data: TableLike = field(
        metadata=declared("the file, of any format", FILE, bare=True, metavar="FILE", label="File")
    )


@dataclass(frozen=True, kw_only=True)
class DescribeCommand(DescribeOptions):
    """What the command `describe` can be asked."""

    output: str | None = option(
        None, "write the schema, as .toml (with comments) or .json", WRITTEN, metavar="SCHEMA"
    )
    json: str | None = option(None, "write all that is found as JSON", WRITTEN)
