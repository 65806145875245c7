"""Delimited text: .csv, .tsv, .tab, .txt."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import pandas as pd

from linkrisk.datasets.microdata.formats.base import (
    Dialect,
    Format,
    Holds,
    StoredFile,
    columns,
    losses,
    parts,
    sentence,
)
from linkrisk.datasets.microdata.formats.delimited_cells import Cells, NotUtf8Error, UncertainError
from linkrisk.datasets.microdata.formats.delimited_rows import (
    DELIMITERS,
    Opening,
    check_shape,
    delimiter_of,
    header_line,
    opening,
    records_of,
    respelled,
    stripped,
    without_end,
)
from linkrisk.datasets.microdata.formats.delimited_types import (
    Records,
    TypedColumns,
    columns_of_text,
    typed_columns,
)
from linkrisk.datasets.microdata.formats.file_content import (
    NAMES,
    UTF8,
    UTF8_MARK,
    WINDOWS,
    cannot_encode,
    decode,
    encode,
)
from linkrisk.datasets.microdata.formats.number_text import (
    MISSING_MARKS,
    is_code,
    number_signs,
    reads_as_numbers,
    with_thousands,
)
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.microdata.values import Kind, cells_of, kind_of, without_blanks
from linkrisk.errors import called

Result = TypeVar("Result")


@dataclass(frozen=True)
class DelimitedDialect(Dialect):
    """How a delimited file is written."""

    delimiter: str = ","  # what stands between columns
    encoding: str = UTF8  # as Python calls it
    decimal: str = "."  # what stands before decimals
    line_end: str = "\n"  # what ends a line
    suffix: str = ".csv"  # how the name of the file ended


class Delimited(Format):
    """Text with a header, one record a line, columns between commas, semicolons, tabs or bars."""

    name = "CSV"
    suffixes = (".csv", ".tsv", ".tab", ".txt")

    def read(self, path: Path, *, text_columns: Sequence[str] = ()) -> StoredFile:
        """Read a text file (see `Format.read`).

        Numbers are read to the nearest double, so that a file written by `write` comes back bit for bit.
        Blanks around a cell do not count, unless it is in quotes. Empty cells and the usual marks (NA, NaN,
        null, ...) are missing values; in `text_columns` NA is a name like others and only an empty cell is
        missing. A column in which a cell is written with leading zeros, a leading plus or more than 15 digits
        without a decimal sign holds codes, and stays text.
        """
        signs = number_signs()
        read, opened = _with_records(path, partial(_typed, text_columns=text_columns))
        header, encoding = opened.names, UTF8_MARK if opened.marked else opened.encoding
        dialect = DelimitedDialect(
            opened.delimiter, encoding, read.decimal, opened.line_end, path.suffix.lower()
        )
        frame = pd.DataFrame(dict(read.columns), copy=False)
        if signs.given:
            written = written_columns(path, header)
            frame = _with_signs(frame, written, [name for name in header if name not in text_columns])
        apart = with_thousands(frame, (*text_columns, *read.unclear))
        return StoredFile(frame, dialect=dialect, remarks=_remarks(dialect, read.unclear, apart))

    def write(self, stored: StoredFile, path: Path) -> dict[Path, bytes]:
        """As the dialect says; floating-point numbers with as many digits as it takes to read them back."""
        dialect = dialect_for(stored.dialect, path)
        return {path: encode(_as_text(stored.frame, dialect), dialect.encoding)}

    def pieces(self, stored: StoredFile, path: Path) -> Iterator[bytes]:
        """The same, some rows at a time; in UTF-8 without a mark, whatever the dialect says."""
        dialect = dialect_for(stored.dialect, path)
        for at, part in enumerate(parts(stored.frame)):
            yield _as_text(part, dialect, header=at == 0).encode(UTF8)

    def loses(self, stored: StoredFile) -> tuple[str, ...]:
        """Labels, types of text that looks like numbers, empty text."""
        holds = Holds.LOGICAL | Holds.WIDE | Holds.ZONES  # all dates are text here
        frame = stored.frame
        texts = [name for name in frame.columns if kind_of(frame[name]) in (Kind.TEXT, Kind.MIXED)]
        plain = without_blanks(frame[texts])
        marks = [name for name in texts if plain[name].isin(MISSING_MARKS).any()]
        numbers = [name for name in texts if reads_as_numbers(plain[name])]
        said = losses(stored, holds)
        said += sentence(marks, "text such as 'NA' comes back as a missing value")
        said += sentence(numbers, "text that looks like numbers or True and False comes back as such")
        return (*said, *_encoding_losses(stored))


def _with_signs(frame: pd.DataFrame, written: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """A table whose columns of numbers are read with the signs that were said; with others they are text."""
    signs, changed = number_signs(), {}
    for name in names:
        cells = written[name].mask(written[name].isin(MISSING_MARKS))
        if any(is_code(cell) for cell in cells.dropna().unique()):
            continue
        numbers = signs.numbers(cells)
        if numbers is not None:
            changed[name] = numbers
        elif signs.decimal == "," and pd.api.types.is_float_dtype(frame[name].dtype):
            points = cells.dropna().str.contains(".", regex=False).any()
            changed |= {name: cells} if points else {}
    return with_columns(frame, changed)


def _with_records(path: Path, work: Callable[[Records, Opening], Result]) -> tuple[Result, Opening]:
    """What is made of the records of a file, and how it begins.

    It is in memory as a whole only where a fault is to be found, or where it is written in an unusual way.
    """
    try:
        opened = opening(path)
        try:
            return work(partial(records_of, path, opened), opened), opened
        except NotUtf8Error:
            opened = opening(path, WINDOWS)
            return work(partial(records_of, path, opened), opened), opened
    except UncertainError:
        text, encoding, delimiter = _decoded(path)
        header = check_shape(text, delimiter, path)
        line_end = "\r\n" if "\r\n" in text[: text.find("\n") + 1] else "\n"
        opened = Opening(header, delimiter, encoding, marked=False, line_end=line_end, size=0)
        return work(partial(respelled, text, delimiter), opened), opened


def _typed(read: Records, opened: Opening, text_columns: Sequence[str]) -> TypedColumns:
    """Types the columns with the decimal sign that is given; a comma between columns is none."""
    given = number_signs().decimal or ("." if opened.delimiter == "," else None)
    kept = [name for name in opened.names if name in text_columns]
    found = typed_columns(read, opened.names, kept, "." if given == opened.delimiter else given)
    return replace(found, decimal=given) if given else found


def written_columns(path: Path, names: Sequence[str], records: int | None = None) -> pd.DataFrame:
    """Columns of a delimited file letter by letter, None where a cell is empty; all or the first records."""

    def texts(read: Records, opened: Opening) -> pd.DataFrame:
        return columns_of_text(_first(read(), records), opened.names, names).iloc[:records]

    return _with_records(path, texts)[0]


def _first(read: Iterable[Cells], records: int | None) -> Iterator[Cells]:
    """Blocks that together have so many records, if there are as many."""
    for cells in read:
        yield cells
        if records is not None:
            records -= cells.records
            if records <= 0:
                return


def plain_rows(path: Path) -> list[list[str]]:
    """The cells of a delimited file row by row, its first one, too, without blanks around them."""
    text, _, delimiter = _decoded(path)
    check_shape(text, delimiter, path, named=False)
    return [
        [cell.strip() for cell in row]
        for row in csv.reader(io.StringIO(without_end(text)), delimiter=delimiter)
    ]


def dialect_for(dialect: Dialect, path: Path) -> DelimitedDialect:
    """How to write a file of this name: alike, but with what its suffix says between columns."""
    chosen = dialect if isinstance(dialect, DelimitedDialect) else DelimitedDialect()
    suffix = path.suffix.lower()
    if suffix == chosen.suffix:
        return chosen
    if suffix in (".tsv", ".tab"):
        return replace(chosen, delimiter="\t", suffix=suffix)
    if chosen.suffix in (".tsv", ".tab"):
        return replace(chosen, delimiter=";" if chosen.decimal == "," else ",", suffix=suffix)
    return replace(chosen, suffix=suffix)


def _decoded(path: Path) -> tuple[str, str, str]:
    """The text of a file without blanks around its cells, its encoding and its delimiter."""
    text, encoding = decode(path.read_bytes(), path)
    delimiter = delimiter_of(text, path.suffix.lower())
    return stripped(text, delimiter), encoding, delimiter


def _remarks(dialect: DelimitedDialect, unclear: Sequence[str], apart: Sequence[str]) -> tuple[str, ...]:
    said = []
    if dialect.delimiter != ",":
        said.append(f"{DELIMITERS[dialect.delimiter]} between columns")
    if dialect.decimal != ".":
        said.append("',' as decimal sign")
    if dialect.encoding != UTF8:
        said.append(NAMES[dialect.encoding])
    remarks = [f"read with {', '.join(said)}"] if said else []
    if unclear:
        remarks.append(
            f"{columns(unclear)}: kept as text, because ',' may be a decimal sign or separate thousands; "
            f"say which with {called('decimal', ',')} or {called('thousands', ',')}"
        )
    if apart:
        remarks.append(
            f"{columns(apart)}: kept as text, because thousands are separated; "
            f"say how with {called('thousands')} and {called('decimal')}"
        )
    return tuple(remarks)


def _as_text(frame: pd.DataFrame, dialect: DelimitedDialect, *, header: bool = True) -> str:
    names = header_line(list(frame.columns), dialect.delimiter, dialect.line_end) if header else ""
    return names + _with_decimal(frame, dialect.decimal).to_csv(
        header=False,
        index=False,
        sep=dialect.delimiter,
        decimal=dialect.decimal,
        lineterminator=dialect.line_end,
    )


def _with_decimal(frame: pd.DataFrame, decimal: str) -> pd.DataFrame:
    """A frame whose floating-point numbers in columns of objects have the decimal sign, too."""
    if decimal == ".":
        return frame
    changed = {
        name: [
            repr(cell).replace(".", decimal) if isinstance(cell, float) else cell
            for cell in cells_of(frame[name])
        ]
        for name in frame.columns
        if frame[name].dtype == object
    }
    return with_columns(
        frame, {name: pd.Series(cells, frame.index, dtype=object) for name, cells in changed.items()}
    )


def _encoding_losses(stored: StoredFile) -> list[str]:
    dialect = stored.dialect
    if not isinstance(dialect, DelimitedDialect) or not cannot_encode(
        dialect.encoding, _letters(stored.frame)
    ):
        return []
    return [
        f"{NAMES[dialect.encoding]} cannot hold all characters of the table; the file is written as UTF-8"
    ]


def _letters(frame: pd.DataFrame) -> str:
    texts = [name for name in frame.columns if kind_of(frame[name]) in (Kind.TEXT, Kind.MIXED)]
    return "".join([*frame.columns, *(str(cell) for name in texts for cell in frame[name].dropna().unique())])
