"""Excel workbooks: .xlsx."""

from __future__ import annotations

import datetime as dt
import io
import math
import re
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.base import Dialect, Format, Holds, StoredFile, columns, losses
from linkrisk.datasets.microdata.formats.delimited_rows import check_header
from linkrisk.datasets.microdata.formats.file_content import check_content, first_line
from linkrisk.datasets.microdata.formats.number_text import is_code, number_signs, reading_options
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.microdata.values import (
    Kind,
    as_text,
    cells_of,
    has_zone,
    is_wide,
    kind_of,
    plain,
)

_ROWS, _COLUMNS, _LETTERS = 1_048_575, 16_384, 32_767
"""The most records, columns and letters of a cell that a sheet holds."""

_MOST_EMPTY = 500_000
"""Cells without a value below or right of the table that are read over: a few seconds."""

_NEVER = (1980, 1, 1, 0, 0, 0)
_WRITTEN = re.compile(rb"(<dcterms:(created|modified)[^>]*>)[^<]*<")
_PADDED = re.compile(r"0{2,}")
_ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_FORMULA = re.compile(rb"<f[ >]")
_NOT_AVAILABLE = "#N/A"
_DATE, _MOMENT, _TIME = "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss", "hh:mm:ss"
_HOLDS = Holds.LOGICAL | Holds.DATES | Holds.MOMENTS | Holds.MIXED


@dataclass(frozen=True)
class ExcelDialect(Dialect):
    """The sheet that holds the table."""

    sheet: str = "Sheet1"


class Excel(Format):
    """The first sheet of a workbook, its first row the column names."""

    name = "Excel"
    suffixes = (".xlsx",)
    requires = ("openpyxl",)

    def read(self, path: Path, *, text_columns: Sequence[str] = ()) -> StoredFile:  # noqa: ARG002
        """Read the first sheet (see `Format.read`).

        Text stays text, also where it looks like a number. A number that is shown with leading zeros (number
        format ``00000``) is read as the code that is shown.
        """
        content = path.read_bytes()
        check_content(content, path, self.name, self.suffixes)
        try:
            sheets, rows = _sheet(content, path)
        except DataError:
            raise
        except Exception as error:  # openpyxl raises what parsers of ZIP and XML do, of any class
            raise DataError(
                f"{path} is not a readable Excel file (cut off or damaged?): {first_line(error)}"
            ) from error
        if not rows:
            raise DataError(f"{path}: the sheet {sheets[0]!r} is empty; it needs a header and records")
        _check_formulas(content, rows, path)
        frame = _frame(rows, path)
        frame = _with_signs(frame) if number_signs().given else frame
        others = f"; {len(sheets) - 1} more not read" if len(sheets) > 1 else ""
        remarks: tuple[str, ...] = (f"read from the sheet {sheets[0]!r}{others}",) if others else ()
        remarks += tuple(
            f"{columns(names)}: text such as {text!r} is kept as text; {options} reads numbers"
            for (options, text), names in _unread(frame).items()
        )
        return StoredFile(frame, dialect=ExcelDialect(sheets[0]), remarks=remarks)

    def write(self, stored: StoredFile, path: Path) -> dict[Path, bytes]:
        """One sheet; text as text, numbers with all their digits."""
        import openpyxl

        self._check(stored, path)
        book = openpyxl.Workbook(write_only=True)
        title = stored.dialect.sheet if isinstance(stored.dialect, ExcelDialect) else ExcelDialect().sheet
        sheet = book.create_sheet(title)
        columns = [_prepared(stored.frame[name]) for name in stored.frame.columns]
        sheet.append([_cell(sheet, name) for name in stored.frame.columns])
        for row in zip(*columns, strict=True):
            sheet.append([_cell(sheet, value) for value in row])
        target = io.BytesIO()
        book.save(target)
        return {path: without_moment(target.getvalue())}

    def loses(self, stored: StoredFile) -> tuple[str, ...]:
        """Labels, whole numbers of many digits, empty text."""
        return tuple(losses(stored, _HOLDS))

    def _check(self, stored: StoredFile, path: Path) -> None:
        frame = stored.frame
        if len(frame) > _ROWS or len(frame.columns) > _COLUMNS:
            raise DataError(
                f"{path}: an Excel sheet holds at most {_ROWS} records and {_COLUMNS} columns; write .parquet"
            )
        for name in frame.columns:
            if _is_far_off(frame[name]):
                raise DataError(
                    f"{path}, column {name!r}: Excel has no dates after the year {dt.MAXYEAR}; write .parquet"
                )
            if kind_of(frame[name]) not in (Kind.TEXT, Kind.MIXED):
                continue
            for row, text in enumerate(cells_of(frame[name]), start=1):
                if isinstance(text, str) and (len(text) > _LETTERS or _ILLEGAL.search(text)):
                    raise DataError(
                        f"{path}, column {name!r}, row {row}: an Excel cell holds at most {_LETTERS} "
                        "characters and no control characters; write .parquet"
                    )


def _is_far_off(column: pd.Series) -> bool:
    """Whether a column has moments beyond those of Python."""
    values = plain(column)
    return values.dtype.kind == "M" and bool((values.dt.year > dt.MAXYEAR).any())


def _sheet(content: bytes, path: Path) -> tuple[list[str], list[list[Any]]]:
    """The names of all sheets, and the rows of the first one (`_rows`)."""
    import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    try:
        sheet = book.worksheets[0]
        sheet.reset_dimensions()
        return list(book.sheetnames), _rows(sheet.iter_rows(), f"{path}, sheet {sheet.title!r}")
    finally:
        book.close()


def _rows(cells: Iterable[Sequence[Any]], where: str) -> list[list[Any]]:
    """Values of rows without empty cells and rows at the end; nothing behind an empty row between others."""
    rows: list[list[Any]] = []
    gap, width, empty = 0, 0, 0
    for number, row in enumerate(cells, start=1):
        values = [_value(cell) for cell in row]
        while values and values[-1] is None:
            values.pop()
        width = max(width, len(values))
        empty += len(row) if not values else max(0, len(row) - width)
        if empty > _MOST_EMPTY:
            raise DataError(
                f"{where}: more than {_MOST_EMPTY:,} cells below or right of the table have a format and no "
                "value; delete these rows and columns in Excel, or save the sheet as CSV (UTF-8)"
            )
        if rows and not values:
            gap = gap or number
        elif gap:
            rows.append([])
            return rows
        else:
            rows.append(values)
    return rows if any(rows) else []


def _check_formulas(content: bytes, rows: list[list[Any]], path: Path) -> None:
    """Refuse formulas that no program has computed: they would pass for missing values."""
    import openpyxl

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
        if not any(_FORMULA.search(archive.read(name)) for name in sheets):
            return
    book = openpyxl.load_workbook(io.BytesIO(content), read_only=True)
    try:
        sheet = book.worksheets[0]
        sheet.reset_dimensions()
        for number, (cells, values) in enumerate(zip(sheet.iter_rows(), rows, strict=False), start=1):
            for cell, value, name in zip_longest(cells[: len(rows[0])], values, rows[0]):
                if cell is not None and cell.data_type == "f" and value is None:
                    raise DataError(
                        f"{path}, row {number} of the sheet, column {name!r}: a formula whose value is not "
                        "in the file; open the file in Excel and save it"
                    )
    finally:
        book.close()


def _value(cell: Any) -> Any:
    """What a cell holds; a date without a time where it is shown as one."""
    value = cell.value
    if value is None or (cell.data_type == "e" and value == _NOT_AVAILABLE):
        return None
    if isinstance(value, dt.datetime):
        shown = str(cell.number_format).lower()
        return value if "h" in shown or "s" in shown else value.date()
    if type(value) is int and _PADDED.fullmatch(str(cell.number_format)):
        return str(value).zfill(len(cell.number_format))
    return value


def _frame(rows: list[list[Any]], path: Path) -> pd.DataFrame:
    used = _used(rows)
    names = ["" if value is None else str(value) for value in rows[0]][:used]
    header = names + [""] * (used - len(names))
    check_header(header, path)
    for number, row in enumerate(rows[1:], start=2):
        if all(value is None for value in row):
            raise DataError(f"{path}, row {number} of the sheet: empty; delete it")
    columns = {
        name: _column([row[at] if at < len(row) else None for row in rows[1:]])
        for at, name in enumerate(header)
    }
    return pd.DataFrame(columns)


def _with_signs(frame: pd.DataFrame) -> pd.DataFrame:
    """A table whose text is read as numbers where all of it is some, with the signs that were said."""
    changed = {}
    for name in frame.columns:
        cells = frame[name]
        texts = cells[[isinstance(cell, str) for cell in cells]]
        numbers = None if texts.empty or any(map(is_code, texts)) else number_signs().numbers(texts)
        if numbers is not None and not [cell for cell in cells if isinstance(cell, bool | dt.date | dt.time)]:
            made = pd.to_numeric(cells.where(~cells.index.isin(texts.index), None).astype(object))
            changed[name] = made.astype(float).fillna(numbers.astype(float))
    return with_columns(frame, changed)


def _unread(frame: pd.DataFrame) -> dict[tuple[str, str], list[str]]:
    """Columns of text that other signs make numbers of, by the options that say so and the text of a cell."""
    found: dict[str, tuple[str, list[str]]] = {}
    for name in frame.columns:
        texts = frame[name][[isinstance(cell, str) for cell in frame[name]]]
        options = "" if any(map(is_code, texts)) else reading_options(texts)
        if options:
            found.setdefault(options, (str(texts.iloc[0]), []))[1].append(name)
    return {(options, text): names for options, (text, names) in found.items()}


def _used(rows: Iterable[Sequence[Any]]) -> int:
    """How many columns have a value in some row."""
    return max(at + 1 for row in rows for at, value in enumerate(row) if value is not None)


def _column(values: list[Any]) -> pd.Series:
    """A column of one type where its cells are of one."""
    present = [value for value in values if value is not None]
    kinds = {type(value) for value in present}
    if not present:
        return pd.Series([math.nan] * len(values), dtype=float)
    if kinds <= {int, float}:
        whole = kinds == {int} and len(present) == len(values)
        fits = whole and max(map(abs, present)) < 2**63
        return pd.Series(
            [math.nan if value is None else value for value in values], dtype="int64" if fits else float
        )
    if kinds == {bool} and len(present) == len(values):
        return pd.Series(values, dtype=bool)
    if kinds == {dt.datetime}:
        return pd.Series(pd.to_datetime(pd.Series(values, dtype=object)))
    if kinds == {str}:
        return pd.Series(values, dtype="str")
    return pd.Series(values, dtype=object)


def _prepared(column: pd.Series) -> list[Any]:
    return cells_of(as_text(column) if is_wide(column) or has_zone(column) else column)


def _cell(sheet: Any, value: Any) -> Any:
    """A cell that keeps its value: text that begins with '=' is not a formula, numbers keep digits."""
    from openpyxl.cell import WriteOnlyCell

    if value is None or value == "":
        return None
    cell = WriteOnlyCell(sheet)
    if isinstance(value, bool):
        cell.value = value
    elif isinstance(value, int | float):
        # openpyxl would write 16 digits of a number.
        cell._value, cell.data_type = (repr(value), "n") if math.isfinite(value) else (str(value), "s")
    elif isinstance(value, dt.datetime | dt.date | dt.time):
        cell.value = value
        shown = _MOMENT if isinstance(value, dt.datetime) else _DATE
        cell.number_format = _TIME if isinstance(value, dt.time) else shown
    else:
        cell._value, cell.data_type = str(value), "s"
    return cell


def without_moment(content: bytes) -> bytes:
    """A workbook without the moment at which it was written: the same table is the same file."""
    target = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as book,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made,
    ):
        for name in book.namelist():
            part = _WRITTEN.sub(rb"\g<1>1980-01-01T00:00:00Z<", book.read(name))
            made.writestr(zipfile.ZipInfo(name, _NEVER), part, zipfile.ZIP_DEFLATED)
    return target.getvalue()
