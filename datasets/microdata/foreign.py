"""Files of another kind than their name says, known by their first bytes, and what to do with them."""

from __future__ import annotations

import io
import zipfile

from linkrisk.datasets.errors import DataError

_SAVE = "save it as CSV (UTF-8)"
_UNPACK = "unpack it first"
_BEGINNINGS: tuple[tuple[bytes, str, str], ...] = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel file", _SAVE),
    (b"PAR1", "a Parquet file", "name it .parquet"),
    (b"\x1f\x8b", "a gzip file", _UNPACK),
    (b"BZh", "a bzip2 file", _UNPACK),
    (b"\xfd7zXZ\x00", "an xz file", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", _UNPACK),
    (b"SQLite format 3\x00", "an SQLite database", "export the table as CSV (UTF-8)"),
    (b"$FL2", "an SPSS file", _SAVE),
    (b"$FL3", "an SPSS file", _SAVE),
    (b"<stata_dta>", "a Stata file", _SAVE),
    (b"\x00" * 12 + b"\xc2\xea\x81\x60", "a SAS file", _SAVE),
    (b"HEADER RECORD*******LIB", "a SAS file", _SAVE),
    (b"ARROW1", "a Feather file", _SAVE),
    (b"%PDF", "a PDF file", "export the table as CSV (UTF-8)"),
    (b"\xff\xfe\x00\x00", "UTF-32 text", "save it as UTF-8"),
    (b"\x00\x00\xfe\xff", "UTF-32 text", "save it as UTF-8"),
    (b"\xff\xfe", "UTF-16 text", "save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text", "save it as UTF-8"),
)
_ZIP = b"PK\x03\x04"
_OLD_STATA = {bytes([version, order, 1]) for version in range(0x69, 0x74) for order in (1, 2)}

_SUFFIXES = {
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls"), "Excel files are"),
    ".ods": "OpenDocument files are",
    **dict.fromkeys((".sav", ".zsav", ".por"), "SPSS files are"),
    ".dta": "Stata files are",
    **dict.fromkeys((".sas7bdat", ".xpt"), "SAS files are"),
    **dict.fromkeys((".rds", ".rda", ".rdata"), "R files are"),
    **dict.fromkeys((".gz", ".zip", ".bz2", ".xz"), "compressed files are"),
    **dict.fromkeys((".txt", ".tsv", ".dat"), "text files other than CSV are"),
}


def check_content(content: bytes, path: object) -> None:
    """Raise a DataError when a file that is named as a CSV file begins like one of another kind."""
    kind, cure = _kind(content)
    if kind:
        raise DataError(f"{path} is {kind}, whatever its name says; {cure}")


def unread_suffix(suffix: str) -> str | None:
    """What to say about a file with this suffix, which is not read; None where nothing is known of it."""
    what = _SUFFIXES.get(suffix.lower())
    if what is None:
        return None
    cure = _UNPACK if what.startswith("compressed") else f"{_SAVE} under a name that ends in .csv"
    return f"{what} not read; {cure}"


def _kind(content: bytes) -> tuple[str, str]:
    if content.startswith(_ZIP):
        return _zipped(content)
    if content[:3] in _OLD_STATA:
        return "a Stata file", _SAVE
    for beginning, kind, cure in _BEGINNINGS:
        if content.startswith(beginning):
            return kind, cure
    if _has_zeros_at_every_other_byte(content[:200]):
        return "UTF-16 text", "save it as UTF-8"
    return "", ""


def _zipped(content: bytes) -> tuple[str, str]:
    """An Excel file unless it can be seen to be something else: a cut one cannot be looked into."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, OSError):
        return "an Excel file", _SAVE
    if "[Content_Types].xml" in names:
        return "an Excel file", _SAVE
    if "content.xml" in names and "mimetype" in names:
        return "an OpenDocument file", _SAVE
    return "a ZIP archive", _UNPACK


def _has_zeros_at_every_other_byte(beginning: bytes) -> bool:
    """Whether this is UTF-16 without a mark at its beginning: plain letters have one byte that is zero."""
    even, odd = beginning[::2], beginning[1::2]
    halves = ((even, odd), (odd, even))
    return len(beginning) >= 8 and any(not any(zeros) and all(letters) for zeros, letters in halves)
