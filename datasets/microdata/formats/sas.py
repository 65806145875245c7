"""SAS: data files are read, transport files are read and written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.base import (
    Dialect,
    Format,
    Holds,
    StoredFile,
    ends_blank,
    losses,
    sentence,
)
from linkrisk.datasets.microdata.formats.file_content import check_content
from linkrisk.datasets.microdata.formats.readstat import (
    check_names,
    cut,
    dumped,
    is_text,
    load,
    notes_of,
    storable,
    with_letters,
    with_missing_text,
    with_whole_numbers,
)

_MOMENT = re.compile(rb"\d{2}[A-Z]{3}\d{2}:\d{2}:\d{2}:\d{2}")
_NEVER = b"01JAN80:00:00:00"
"""In the place of the moment of writing, so that the same table is the same file."""
_HEADERS = 880
"""Eleven records of 80 letters, among them those of library and member (SAS technical note TS-140)."""


class Sas(Format):
    """Doubles and text, as SAS keeps them."""

    name = "SAS"
    suffixes = (".sas7bdat",)
    cannot_write = "no free library writes .sas7bdat files; write .xpt, which SAS reads, or .csv"
    requires = ("pyreadstat",)

    def read(self, path: Path, *, text_columns: Sequence[str] = ()) -> StoredFile:  # noqa: ARG002
        """Read a file (see `Format.read`). Blank text is missing, as it is in SAS."""
        import pyreadstat

        content = path.read_bytes()
        check_content(content, path, self.name, self.suffixes)
        frame, meta = load(pyreadstat.read_sas7bdat, content, path, self.name, user_missing=True)
        notes = notes_of(meta, "sas")
        names = list(frame.columns)
        frame = with_whole_numbers(with_missing_text(with_letters(frame, notes), names), names)
        return StoredFile(frame, columns=notes)

    def write(self, stored: StoredFile, path: Path) -> dict[Path, bytes]:  # noqa: ARG002
        """Always a DataError."""
        raise DataError(f"{path}: {self.cannot_write}")

    def loses(self, stored: StoredFile) -> tuple[str, ...]:  # noqa: ARG002
        """Nothing, as nothing is written."""
        return ()


_RECORD = 80
"""Bytes of a record; a whole file has a multiple of them."""

_COUNT = re.compile(rb"HEADER RECORD\*{7}OBSV8   HEADER RECORD!{7} *(\d+)")
_OLD, _OLD_LETTERS = 5, 8
_DATES = re.compile(
    r"\w*(?:DATE|TIME|DDMMYY|MMDDYY|YYMMDD|MMYY|YYMM|YYQ|MON|YEAR|WEEK|DAY|HHMM|MMSS|HOUR|JUL|TOD)\w*"
)
"""Formats of dates and times, which would make dates of numbers."""

_LABEL_BYTES = 256
_SMALLEST, _LARGEST = 5.4e-79, 7.2e75
_RULES = (
    "in SAS names have at most 32 ASCII letters, digits or underscores (8 in old files), do not begin "
    "with a digit and differ in more than upper and lower case; rename the column or write .csv"
)
_HOLDS = Holds.LABELS | Holds.DATES | Holds.MOMENTS


@dataclass(frozen=True)
class TransportDialect(Dialect):
    """What a transport file says of itself."""

    version: int = 8  # 8, or 5 for old files, whose names have at most 8 letters
    table: str = "DATASET"  # what the table in it is called
    label: str = ""  # its title

    def without_documents(self) -> TransportDialect:
        """See `Dialect.without_documents`."""
        return replace(self, label="")


class SasTransport(Format):
    """Doubles as mainframes have them, and text; no value labels."""

    name = "SAS transport"
    suffixes = (".xpt",)
    requires = ("pyreadstat",)

    def read(self, path: Path, *, text_columns: Sequence[str] = ()) -> StoredFile:  # noqa: ARG002
        """Read a file (see `Format.read`). Blank text is missing, as it is in SAS."""
        import pyreadstat

        content = path.read_bytes()
        check_content(content, path, self.name, self.suffixes)
        if len(content) % _RECORD:
            raise DataError(f"{path} is cut off: its length is not a multiple of {_RECORD} bytes")
        frame, meta = load(pyreadstat.read_xport, content, path, self.name)
        counted = _COUNT.search(content)
        if counted is not None and int(counted.group(1)) != len(frame):
            raise DataError(f"{path} is cut off: it has {len(frame)} of {int(counted.group(1))} records")
        names = list(frame.columns)
        frame = with_whole_numbers(with_missing_text(frame, names), names)
        version = 8 if content.startswith(b"HEADER RECORD*******LIBV8") else 5
        dialect = TransportDialect(version, meta.table_name or TransportDialect.table, meta.file_label or "")
        return StoredFile(frame, columns=notes_of(meta, "sas"), dialect=dialect)

    def write(self, stored: StoredFile, path: Path) -> dict[Path, bytes]:
        """With labels of columns."""
        import pyreadstat

        dialect = stored.dialect if isinstance(stored.dialect, TransportDialect) else TransportDialect()

        def writer(frame: pd.DataFrame, target: str, **options: object) -> None:
            pyreadstat.write_xport(frame, target, file_format_version=dialect.version, **options)

        check_names(writer, list(stored.frame.columns), path, _RULES)
        frame = pd.DataFrame({name: storable(stored.frame[name]) for name in stored.frame.columns})
        _check_range(frame, path)
        labels = {name: stored.notes(name).label for name in frame.columns}
        most = _LABEL_BYTES if dialect.version == TransportDialect.version else 40
        content = dumped(
            writer,
            frame,
            path,
            table_name=dialect.table,
            file_label=dialect.label,
            column_labels={name: cut(label, most) for name, label in labels.items() if label},
            variable_format=_formats(stored, frame, dialect.version),
        )
        return {path: _MOMENT.sub(_NEVER, content[:_HEADERS]) + content[_HEADERS:]}

    def loses(self, stored: StoredFile) -> tuple[str, ...]:
        """Value labels, missing codes, types that SAS does not have."""
        frame, said = stored.frame, losses(stored, _HOLDS, own="sas")
        blank = [name for name in frame.columns if ends_blank(frame[name])]
        return (*said, *sentence(blank, "blanks at the end of text are lost"))


def _formats(stored: StoredFile, frame: pd.DataFrame, version: int) -> dict[str, str]:
    """Display formats of the file, also those of users, where they suit the values."""
    found = {}
    for name in frame.columns:
        own = stored.notes(name).settings.get("sas.format", "")
        word = own.rstrip("0123456789.").lstrip("$")
        column = frame[name]
        kind = "text" if own.startswith("$") else "date" if _DATES.fullmatch(word) else "number"
        held = "text" if is_text(column) else "number" if column.dtype.kind in "if" else "date"
        if own and kind == held and (version != _OLD or len(word) <= _OLD_LETTERS):
            found[name] = own
    return found


def _check_range(frame: pd.DataFrame, path: Path) -> None:
    for name in frame.columns:
        if frame[name].dtype.kind != "f":
            continue
        sizes = frame[name].dropna().abs()
        if ((sizes > _LARGEST) | ((sizes < _SMALLEST) & (sizes > 0))).any():
            raise DataError(
                f"{path} cannot be written: column {name!r} has numbers beyond {_LARGEST:g} or below "
                f"{_SMALLEST:g}, which SAS transport files do not have; write .parquet"
            )
