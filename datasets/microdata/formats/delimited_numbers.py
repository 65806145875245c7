"""Delimited files of plain numbers, read in batches: memory holds the numbers and one batch of text.

Plain means digits, points, exponents, signs and empty cells below one line of names: no quotes, no codes.
Any other file is not read here, but as a whole (`delimited`), with the same result.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.datasets.microdata.formats.delimited_scan import (
    BLOCK,
    MOST_IN_LINE,
    blocks,
    marks,
    may_hold_codes,
    rows_are_even,
)
from linkrisk.datasets.microdata.formats.delimited_shape import DELIMITERS

_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class PlainNumbers:
    """A file of plain numbers."""

    frame: pd.DataFrame  # its table
    delimiter: str  # what stands between columns
    marked: bool  # whether it begins with a byte order mark
    line_end: str  # what ends its first line


def read_numbers(path: Path, text_columns: Collection[str]) -> PlainNumbers | None:
    """Read a file of plain numbers; None where it is none, or not certainly."""
    with path.open("rb") as source:
        line = source.readline(MOST_IN_LINE)
        found = _header(line)
        if found is None:
            return None
        names, delimiter = found
        looked = _look(source, delimiter, len(names))
        if looked is None:
            return None
        records, decimal = looked
        source.seek(0)
        columns = _columns(
            source, delimiter, [_kind(at, names, decimal, text_columns) for at in range(len(names))], records
        )
    if columns is None:
        return None
    frame = pd.DataFrame(dict(zip(names, columns, strict=True)), copy=False)
    return PlainNumbers(frame, delimiter, line.startswith(_MARK), "\r\n" if line.endswith(b"\r\n") else "\n")


def _header(line: bytes) -> tuple[list[str], str] | None:
    """The names and what stands between them; None where that takes a closer look."""
    try:
        text = line.removeprefix(_MARK).decode("utf-8")
    except UnicodeDecodeError:
        return None
    body = text.removesuffix("\n").removesuffix("\r")
    found = [delimiter for delimiter in DELIMITERS if delimiter in body]
    if len(found) != 1 or body == text or any(sign in body for sign in '"\r\0'):
        return None
    names = body.split(found[0])
    plain = all(name.strip() for name in names) and len(set(names)) == len(names)
    return (names, found[0]) if plain else None


def _look(source: BinaryIO, delimiter: str, cells: int) -> tuple[int, NDArray[np.bool_]] | None:
    """The number of records and which columns have decimals; None where a cell is no plain number."""
    records, decimal = 0, np.zeros(cells, dtype=np.bool_)
    plain = b"0123456789.-+eE\n" + delimiter.encode()
    for block in blocks(source):
        if (
            block.translate(None, plain)
            or not rows_are_even(block, delimiter, cells)
            or may_hold_codes(block)
        ):
            return None
        records += block.count(b"\n")
        if not decimal.all():
            decimal |= _with_decimals(block, delimiter, cells)
    return (records, decimal) if records else None


def _with_decimals(block: bytes, delimiter: str, cells: int) -> NDArray[np.bool_]:
    """Which columns of a block have a point or an exponent."""
    signs = np.frombuffer(block, dtype=np.uint8)
    at = np.flatnonzero((signs == ord(".")) | ((signs | 0x20) == ord("e")))
    ends = np.flatnonzero(marks(block, delimiter))
    return np.bincount(np.searchsorted(ends, at) % cells, minlength=cells) > 0


def _kind(at: int, names: list[str], decimal: NDArray[np.bool_], text_columns: Collection[str]) -> str:
    if names[at] in text_columns:
        return "string"
    return "double" if decimal[at] else "int64"


def _columns(source: BinaryIO, delimiter: str, kinds: list[str], records: int) -> list[Any] | None:
    """The columns, of these kinds; whole numbers with empty cells are doubles. None where it cannot be."""
    import pyarrow
    from pyarrow import csv

    numbers = {"int64": np.int64, "double": np.float64}
    columns: list[Any] = [np.empty(records, numbers[kind]) if kind in numbers else [] for kind in kinds]
    names = [str(at) for at in range(len(kinds))]
    done = 0
    try:
        with csv.open_csv(
            source,
            read_options=csv.ReadOptions(
                use_threads=False, block_size=BLOCK, skip_rows=1, column_names=names
            ),
            parse_options=csv.ParseOptions(delimiter=delimiter, quote_char=False, ignore_empty_lines=False),
            convert_options=csv.ConvertOptions(
                column_types=dict(zip(names, map(pyarrow.type_for_alias, kinds), strict=True)),
                null_values=[""],
                strings_can_be_null=True,
            ),
        ) as reader:
            for batch in reader:
                _fill(columns, batch, done)
                done += batch.num_rows
    except (pyarrow.ArrowException, ValueError):
        return None
    if done != records:
        return None
    return [_texts(column) if isinstance(column, list) else column for column in columns]


def _fill(columns: list[Any], batch: Any, start: int) -> None:
    """Put a batch where it belongs; the first empty cell makes a column of whole numbers one of doubles."""
    for at, cells in enumerate(batch.columns):
        if isinstance(columns[at], list):
            columns[at].append(cells)
            continue
        if cells.null_count and columns[at].dtype.kind == "i":
            columns[at] = columns[at].astype(np.float64)
        columns[at][start : start + len(cells)] = cells.to_numpy(zero_copy_only=False)


def _texts(batches: list[Any]) -> pd.Series:
    import pyarrow

    column: pd.Series = pyarrow.chunked_array(batches).to_pandas()
    return column.where(column.notna(), np.nan) if column.dtype == object else column
