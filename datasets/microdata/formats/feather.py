"""Feather, which is Arrow's own file: .feather, .arrow."""

from __future__ import annotations

import io
from typing import Any

from linkrisk.datasets.microdata.formats.arrow import ArrowFormat


class Feather(ArrowFormat):
    """Arrow tables as they are in memory, compressed."""

    name = "Feather"
    suffixes = (".feather", ".arrow")

    def load(self, source: io.BytesIO) -> Any:
        """The table of a file."""
        from pyarrow import feather

        return feather.read_table(source)

    def dump(self, table: Any, target: io.BytesIO) -> None:
        """Write a table."""
        from pyarrow import feather

        feather.write_feather(table, target)
