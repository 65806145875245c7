"""Parquet: .parquet, .pq."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from linkrisk.datasets.microdata.formats.arrow import ArrowFormat, arrow_table
from linkrisk.datasets.microdata.formats.base import ROWS_AT_ONCE, StoredFile
from linkrisk.datasets.microdata.formats.parquet_numbers import read_numbers


class Parquet(ArrowFormat):
    """Arrow tables in columns, compressed."""

    name = "Parquet"
    suffixes = (".parquet", ".pq")

    def read(self, path: Path, *, text_columns: Sequence[str] = ()) -> StoredFile:
        """Read a table (see `Format.read`), in batches where it has numbers alone."""
        frame = read_numbers(path)
        return super().read(path, text_columns=text_columns) if frame is None else StoredFile(frame)

    def load(self, source: io.BytesIO) -> Any:
        """The table of a file."""
        from pyarrow import parquet

        return parquet.ParquetFile(source).read()  # read_table stumbles over two columns of one name

    def dump(self, table: Any, target: io.BytesIO) -> None:
        """Write a table."""
        from pyarrow import parquet

        parquet.write_table(table, target)

    def pieces(self, stored: StoredFile, path: Path) -> Iterator[bytes]:
        """The same table in groups of `ROWS_AT_ONCE` rows, each compressed when it is asked for."""
        from pyarrow import parquet

        table, taken = arrow_table(stored, path), _Taken()
        with parquet.ParquetWriter(taken, table.schema) as writer:
            for start in range(0, table.num_rows, ROWS_AT_ONCE):
                writer.write_table(table.slice(start, ROWS_AT_ONCE))
                yield taken.take()
        yield taken.take()


class _Taken(io.RawIOBase):
    """What is written, kept until it is taken."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[bytes] = []
        self._written = 0

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        kept = bytes(content)
        self._kept.append(kept)
        self._written += len(kept)
        return len(kept)

    def tell(self) -> int:
        return self._written

    def take(self) -> bytes:
        """All that was written since the last time."""
        kept, self._kept = b"".join(self._kept), []
        return kept
