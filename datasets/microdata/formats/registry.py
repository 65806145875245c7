"""All file formats, by the suffixes of their files."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.argus_metadata import DATA, METADATA, is_metadata
from linkrisk.datasets.microdata.formats.base import Format, StoredFile
from linkrisk.datasets.microdata.formats.delimited import Delimited
from linkrisk.datasets.microdata.values import without_blanks
from linkrisk.datasets.options.late import imported
from linkrisk.errors import needs_extra

DELIMITED = Delimited()
"""Text files without types."""

_R = "r:R"

_PLACES = {
    **dict.fromkeys(Delimited.suffixes, "delimited:Delimited"),
    **dict.fromkeys((".parquet", ".pq"), "parquet:Parquet"),
    **dict.fromkeys((".feather", ".arrow"), "parquet:Feather"),
    ".xlsx": "excel:Excel",
    **dict.fromkeys((".sav", ".zsav"), "spss:Spss"),
    ".dta": "stata:Stata",
    ".sas7bdat": "sas:Sas",
    ".xpt": "sas:SasTransport",
    **dict.fromkeys((".rds", ".rdata"), _R),
    **dict.fromkeys((METADATA, *DATA), "argus:Argus"),
}
"""Where the format of each suffix is; it is imported when a file of it is read or written."""


@cache
def _made(place: str) -> Format:
    found: Format = imported(f"linkrisk.datasets.microdata.formats.{place}")()
    return found


def formats() -> tuple[Format, ...]:
    """Every format that is read."""
    return tuple(map(_made, dict.fromkeys(_PLACES.values())))


_FIXES = {
    **dict.fromkeys((".xls", ".xlsm", ".xlsb", ".ods"), "save the sheet as .xlsx"),
    ".por": "save it as .sav in SPSS",
    **dict.fromkeys((".gz", ".zip", ".bz2", ".xz", ".7z", ".zst"), "unpack it first"),
    ".sas7bcat": "a catalogue belongs to a .sas7bdat file; give that",
    ".cdl": "a code list belongs to an .rda file; give that",
    ".xml": "a codebook of DDI is a schema of a file of records; give that",
}


def known_suffixes(*, to_write: bool = False) -> tuple[str, ...]:
    """All suffixes that are read, or those that are written."""
    return tuple(suffix for suffix, place in _PLACES.items() if not (to_write and _made(place).cannot_write))


def format_of(path: str | Path) -> Format:
    """The format that the suffix of a file says."""
    suffix = Path(path).suffix.lower()
    if suffix in _PLACES:
        return _made(_PLACES[suffix])
    if suffix in _FIXES:
        raise DataError(f"{path}: {suffix} files are not supported; {_FIXES[suffix]}")
    listed = ", ".join(known_suffixes())
    what = f"the suffix {suffix!r} is not known" if suffix else "a file name without a suffix"
    close = difflib.get_close_matches(suffix, list(_PLACES), n=1)
    meant = f"; did you mean {close[0]!r}?" if close else ""
    raise DataError(f"{path}: {what}{meant}; use one of {listed}")


def read_file(path: str | Path, *, text_columns: Sequence[str] = ()) -> StoredFile:
    """Read a file of any format."""
    path = Path(path)
    if _PLACES.get(path.suffix.lower()) == _R and path.is_file() and is_metadata(path.read_bytes()):
        raise DataError(f"{path} is metadata of ARGUS, not data of R: name it {METADATA}")
    made = format_of(path)
    check_readable(path)
    needs_extra(f"reading {path.suffix.lower()} files", *made.requires)
    stored = made.read(path, text_columns=text_columns)
    if stored.frame.empty:
        raise DataError(f"{path} has no records, only column names")
    return stored


def read_table(path: str | Path, *, text_columns: Sequence[str] = ()) -> pd.DataFrame:
    """The table of a file of any format (see `read_file`), without blanks around its cells."""
    return without_blanks(read_file(path, text_columns=text_columns).frame)


def check_readable(path: Path) -> None:
    """Refuse a file that is not there, is a folder, empty, or of no known format."""
    check_content_of(path, format_of(path).name)


def check_content_of(path: Path, name: str) -> None:
    """Refuse a file that is not there, is a folder, or empty; `name` says what it should be."""
    if path.is_dir():
        raise DataError(f"{path} is a folder; give {'an' if name[0] in 'AE' else 'a'} {name} file")
    try:
        with path.open("rb") as handle:
            empty = not handle.read(1)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        reason = "there is no such file" if missing else (error.strerror or str(error)).lower()
        raise DataError(f"{path} cannot be read: {reason}") from error
    if empty:
        raise DataError(f"{path} is empty; it needs a header and records")


def writable_format(path: str | Path) -> Format:
    """The format of a file to be written."""
    made = format_of(path)
    if made.cannot_write is not None:
        raise DataError(f"cannot write {path}: {made.cannot_write}")
    needs_extra(f"writing {Path(path).suffix.lower()} files", *made.requires)
    return made


def with_suffix_of(path: str, source: str | Path) -> str:
    """A file name with the suffix of another file, where it has none of its own."""
    return path if Path(path).suffix else f"{path}{Path(source).suffix}"
