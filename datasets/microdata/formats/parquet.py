"""Parquet: .parquet, .pq."""

from __future__ import annotations

import io
from typing import Any

from linkrisk.datasets.microdata.formats.arrow import ArrowFormat


class Parquet(ArrowFormat):
    """Arrow tables in columns, compressed."""

    name = "Parquet"
    suffixes = (".parquet", ".pq")

    def load(self, source: io.BytesIO) -> Any:
        """The table of a file."""
        from pyarrow import parquet

        return parquet.ParquetFile(source).read()  # read_table stumbles over two columns of one name

    def dump(self, table: Any, target: io.BytesIO) -> None:
        """Write a table."""
        from pyarrow import parquet

        parquet.write_table(table, target)
