"""What the command `describe` can be asked."""

from __future__ import annotations

from dataclasses import dataclass, field

from linkrisk.datasets.options.kinds import FILE, WRITTEN
from linkrisk.datasets.options.option import declared, option


@dataclass(frozen=True, kw_only=True)
class DescribeCommand:
    """What the command `describe` can be asked."""

    file: str = field(
        metadata=declared("the file, of any format", FILE, bare=True, metavar="FILE", label="File")
    )
    output: str | None = option(
        None, "write the schema, as .toml (with comments) or .json", WRITTEN, metavar="SCHEMA"
    )
    json: str | None = option(None, "write all that is found as JSON", WRITTEN)
