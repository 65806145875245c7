"""Read and write users' tables: CSV and Parquet in, CSV and Parquet out, whole or not at all."""

from __future__ import annotations

import csv
import io
import os
import secrets
import stat
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.foreign import check_content, unread_suffix

# From version 3.1 pandas always reads the nearest double, and warns when asked to.
_PANDAS_ALWAYS_EXACT = tuple(int(part) for part in pd.__version__.split(".")[:2]) >= (3, 1)
_EXACT_NUMBERS: dict[str, Any] = {} if _PANDAS_ALWAYS_EXACT else {"float_precision": "round_trip"}

CSV_SUFFIXES = (".csv",)
PARQUET_SUFFIXES = (".parquet", ".pq")


MISSING_MARKS = (
    *("NA", "N/A", "n/a", "<NA>", "#N/A", "#N/A N/A", "#NA", "NULL", "null", "None"),
    *("NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
"""What stands for a missing value in a column of a CSV file that does not hold names."""


def read_table(path: str | Path, *, text_columns: Sequence[str] = ()) -> pd.DataFrame:
    """Read a CSV or Parquet file, by its suffix.

    A CSV file is UTF-8, separated by commas, with one header row and rows of equal length. Numbers are
    read to the nearest double, so that a file written by `write_table` comes back bit for bit. Empty cells
    and the usual marks (NA, NaN, null, ...) are missing values.

    Parameters
    ----------
    path : str or Path
        The file, ending in .csv, .parquet or .pq.
    text_columns : sequence of str
        Columns of a CSV file kept as written (ids and codes such as 007). There NA is a name like others,
        and only an empty cell is missing. Columns that the file does not have are ignored.

    Returns
    -------
    DataFrame
        Columns named by text, rows numbered from 0.

    Raises
    ------
    DataError
        If the file is missing, a folder, empty, damaged, ragged, or of another kind.
    """
    return read_labelled(path, text_columns=text_columns)[0]


def read_labelled(
    path: str | Path, *, text_columns: Sequence[str] = ()
) -> tuple[pd.DataFrame, pd.Index | None]:
    """Read a file as `read_table` does, and the labels of its rows that a Parquet file may have."""
    path = Path(path)
    kind, content = _content(path)
    if kind == "Parquet":
        frame, labels = _parse_parquet(content, path)
    else:
        frame, labels = _parse_csv(content, path, text_columns), None
    if frame.empty:
        raise DataError(f"{path} has no records, only column names")
    return frame, labels


def written_cell(path: Path, column: str, row: int) -> str:
    """What stands in a cell of a CSV file; nothing for a file of another kind.

    Parameters
    ----------
    path : Path
        A file that `read_table` reads.
    column : str
        Its column.
    row : int
        The record, from 0.
    """
    if path.suffix.lower() not in CSV_SUFFIXES:
        return ""
    reader = csv.DictReader(io.StringIO(_decode(path.read_bytes(), path), newline=""))
    return str(next(islice(reader, row, None))[column])


def _content(path: Path) -> tuple[str, bytes]:
    """What kind of file it is, by its suffix, and what is in it."""
    hint = unread_suffix(path.suffix)
    if hint is not None:
        raise DataError(f"{path}: {hint}")
    kind = _kind(path)
    if path.is_dir():
        raise DataError(f"{path} is a folder; give a {kind} file")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {_reason(error)}") from error
    if not content:
        raise DataError(f"{path} is empty; it needs a header and records")
    return kind, content


def write_table(frame: pd.DataFrame, path: str | Path) -> None:
    """Write a table as CSV or Parquet, by the suffix of `path`, whole or not at all.

    The index is not written. Floating-point numbers in a CSV file have as many digits as it takes to read
    the same double back.

    Raises
    ------
    DataError
        If the suffix is unknown, the folder does not exist or the file cannot be written.
    """
    write_whole(path, table_bytes(frame, path))


def table_bytes(frame: pd.DataFrame, path: str | Path) -> bytes:
    """What `write_table` writes; a DataError when the suffix of `path` is unknown."""
    if _kind(Path(path)) == "Parquet":
        buffer = io.BytesIO()
        frame.to_parquet(buffer, index=False)
        return buffer.getvalue()
    return frame.to_csv(index=False, lineterminator="\n").encode()


def write_whole(path: str | Path, content: str | bytes, *, mode: int = 0o666) -> None:
    """Write a file whole or not at all; `mode` says who may read it, as far as the user's umask allows.

    The content goes to a temporary file in the same folder, is flushed to the disk and then takes the name
    `path` in one step; on any failure the temporary file is removed and an older file at `path` stays as it
    was. A device or pipe (such as /dev/null) is written to directly.

    Raises
    ------
    DataError
        If the folder does not exist, `path` is a folder, permission is missing or the disk is full.
    """
    target = Path(os.path.realpath(path))
    data = content.encode("utf-8") if isinstance(content, str) else content
    if not target.parent.is_dir():
        raise DataError(f"cannot write {path}: the folder {target.parent} does not exist; create it first")
    if target.is_dir():
        raise DataError(f"cannot write {path}: it is a folder; give a file name")
    try:
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):
            # Renaming a file onto a device would replace the device itself.
            with target.open("wb") as device:
                device.write(data)
            return
        _replace(target, data, mode)
    except OSError as error:
        raise DataError(f"cannot write {path}: {_reason(error)}; nothing was written") from error


def _replace(target: Path, data: bytes, mode: int) -> None:
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        temporary.touch(mode, exist_ok=False)
        with temporary.open("wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    return (error.strerror or str(error)).lower()


def _kind(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix in CSV_SUFFIXES:
        return "CSV"
    if suffix in PARQUET_SUFFIXES:
        return "Parquet"
    known = ", ".join(CSV_SUFFIXES + PARQUET_SUFFIXES)
    raise DataError(f"{path}: unknown kind of file {suffix or 'without a suffix'!r}; use one of {known}")


def _parse_parquet(content: bytes, path: Path) -> tuple[pd.DataFrame, pd.Index | None]:
    try:
        frame = pd.read_parquet(io.BytesIO(content), engine="pyarrow")
    except (ValueError, OSError) as error:
        detail = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{path} is not a readable Parquet file (cut off or damaged?): {detail}") from error
    frame, labels = split_labels(frame)
    frame.columns = pd.Index([str(column) for column in frame.columns])
    return frame, labels


def split_labels(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.Index | None]:
    """A frame with rows numbered from 0 whose index, where it has a name, is a column; and its labels.

    Labels are None where rows were numbered from 0 before, or their labels are a column now.
    """
    if any(name is not None for name in frame.index.names):
        return frame.reset_index(), None
    return frame.reset_index(drop=True), own_labels(frame)


def own_labels(frame: pd.DataFrame) -> pd.Index | None:
    """What the rows of a frame are called; None where that is their number from 0."""
    index = frame.index
    return None if isinstance(index, pd.RangeIndex) and (index.start, index.step) == (0, 1) else index


def _parse_csv(content: bytes, path: Path, text_columns: Sequence[str]) -> pd.DataFrame:
    check_content(content, path)
    text = _decode(content, path)
    header = _check_shape(text, path)
    kept = [name for name in header if name in text_columns]
    marks: dict[Any, list[str]] = {name: [""] if name in kept else ["", *MISSING_MARKS] for name in header}
    try:
        frame: pd.DataFrame = pd.read_csv(
            io.StringIO(text),
            dtype=dict.fromkeys(kept, "str"),
            na_values=marks,
            keep_default_na=False,
            low_memory=False,
            **_EXACT_NUMBERS,
        )
    except ValueError as error:
        raise DataError(f"{path} cannot be read as CSV: {str(error).splitlines()[0]}") from error
    return frame


def _decode(content: bytes, path: Path) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path}, line {line}: byte 0x{content[error.start]:02X} is not UTF-8; save the file as UTF-8"
        ) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise DataError(f"{path}, line {line}: a NUL byte; this is not a text file, save it as UTF-8 CSV")
    return text


def _check_shape(text: str, path: Path) -> list[str]:
    """Check the header and the length of every row: pandas pads short rows and renames twins silently."""
    # Blank lines at the end of a file are harmless; pandas skips those inside as well, which would move rows.
    reader = csv.reader(io.StringIO(text.rstrip("\r\n") + "\n", newline=""), strict=True)
    try:
        header = next(reader)
        _check_header(header, path)
        for row in reader:
            # A line of blanks is one blank cell here, and nothing at all to pandas, which would move rows.
            cells = 0 if len(row) == 1 and row[0].isspace() else len(row)
            if cells != len(header):
                raise DataError(_ragged(path, reader.line_num, cells, len(header)))
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: not valid CSV: {error}; mend its quotes") from error
    return header


def _ragged(path: Path, line: int, found: int, expected: int) -> str:
    if found == 0:
        return f"{path}, line {line}: empty line; delete it"
    cells = "cell" if found == 1 else "cells"
    return f"{path}, line {line}: {found} {cells} where the header has {expected}; mend or delete the line"


def _check_header(header: list[str], path: Path) -> None:
    if not header:
        raise DataError(f"{path}, line 1: empty line where the column names belong; delete it")
    if len(header) == 1 and (";" in header[0] or "\t" in header[0]):
        mark = "semicolons" if ";" in header[0] else "tabs"
        raise DataError(f"{path}: the columns seem to be separated by {mark}; save the file with commas")
    for position, name in enumerate(header, start=1):
        if not name.strip():
            raise DataError(
                f"{path}: column {position} has no name in the header; name it (an index written along with "
                "the table can be named and given as --id) or delete it"
            )
    twins = [name for name, count in Counter(header).items() if count > 1]
    if twins:
        raise DataError(f"{path}: the column name {twins[0]!r} stands twice in the header; rename one")
