"""What a file is by its first bytes, whatever its name says."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from linkrisk.datasets.errors import DataError

_EXPORT = "export the table as CSV (UTF-8)"
_UNPACK = "unpack it first"


@dataclass(frozen=True)
class Content:
    """What a file is.

    Attributes
    ----------
    words : str
        Such as ``an Excel file``.
    fix : str
        What to do when its name says something else.
    suffix : str
        How the name of such a file ends; empty where no format here reads it.
    """

    words: str
    fix: str
    suffix: str = ""


def _readable(words: str, suffix: str) -> Content:
    return Content(words, f"name it {suffix}", suffix)


_EXCEL = _readable("an Excel file", ".xlsx")
_OLD_EXCEL = Content("an old Excel file", "save it as .xlsx")
_SPSS = _readable("an SPSS file", ".sav")
_STATA = _readable("a Stata file", ".dta")
_HTML = Content("an HTML page", _EXPORT)
_XML = Content("an XML file", _EXPORT)
_JSON = Content("a JSON file", _EXPORT)
UTF16_TEXT = Content("UTF-16 text", "save it as UTF-8")

_BEGINNINGS: tuple[tuple[bytes, Content], ...] = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", _OLD_EXCEL),
    (b"PAR1", _readable("a Parquet file", ".parquet")),
    (b"ARROW1", _readable("a Feather file", ".feather")),
    (b"FEA1", _readable("a Feather file", ".feather")),
    (b"$FL2", _SPSS),
    (b"$FL3", _SPSS),
    (b"<stata_dta>", _STATA),
    (b"\x00" * 12 + b"\xc2\xea\x81\x60", _readable("a SAS file", ".sas7bdat")),
    (b"HEADER RECORD*******LIB", _readable("a SAS transport file", ".xpt")),
    (b"\x1f\x8b", Content("a gzip file", _UNPACK)),
    (b"BZh", Content("a bzip2 file", _UNPACK)),
    (b"\xfd7zXZ\x00", Content("an xz file", _UNPACK)),
    (b"\x28\xb5\x2f\xfd", Content("a Zstandard file", _UNPACK)),
    (b"7z\xbc\xaf\x27\x1c", Content("a 7-Zip archive", _UNPACK)),
    (b"SQLite format 3\x00", Content("an SQLite database", _EXPORT)),
    (b"%PDF", Content("a PDF file", _EXPORT)),
    (b"RDX2\n", Content("an R file", _EXPORT)),
    (b"RDX3\n", Content("an R file", _EXPORT)),
    (b"RDA2\n", Content("an R file", _EXPORT)),
    (b"RDA3\n", Content("an R file", _EXPORT)),
    (b"\xff\xfe\x00\x00", Content("UTF-32 text", "save it as UTF-8")),
    (b"\x00\x00\xfe\xff", Content("UTF-32 text", "save it as UTF-8")),
    (b"\xff\xfe", UTF16_TEXT),
    (b"\xfe\xff", UTF16_TEXT),
)
_ZIP = b"PK\x03\x04"
_OLD_STATA = {bytes([version, order, 1]) for version in range(0x69, 0x74) for order in (1, 2)}
_JSON_BEGINS = re.compile(rb'(?:\[\s*)?\{\s*(?:"|\})')
_HTML_TAGS = (b"<!doctype html", b"<html", b"<head", b"<body", b"<table")


def content_of(content: bytes) -> Content | None:
    """What this is; None where it may be text or is not known."""
    if content.startswith(_ZIP):
        return _zipped(content)
    if content[:3] in _OLD_STATA:
        return _STATA
    for beginning, kind in _BEGINNINGS:
        if content.startswith(beginning):
            return kind
    if utf16_without_mark(content) is not None:
        return UTF16_TEXT
    return _marked_up(content[:200].lstrip(b"\xef\xbb\xbf \r\n\t").lower())


def _marked_up(beginning: bytes) -> Content | None:
    """Which of the formats that are text this is; a table does not begin so."""
    if beginning.startswith(_HTML_TAGS):
        return _HTML
    if beginning.startswith(b"<?xml"):
        return _XML
    return _JSON if _JSON_BEGINS.match(beginning) else None


def check_content(content: bytes, path: Path, name: str, suffixes: tuple[str, ...]) -> None:
    """Raise a DataError unless a binary file begins as its format does.

    Parameters
    ----------
    content : bytes
        The file.
    path : Path
        What to call it.
    name : str
        The format that its name says.
    suffixes : tuple of str
        Those of the format.
    """
    found = content_of(content)
    if found is not None and found.suffix not in suffixes:
        raise wrong_name(path, found)
    if found is None:
        raise DataError(
            f"{path} is not a readable {name} file (cut off or damaged?): it does not begin like one"
        )


def wrong_name(path: Path, found: Content) -> DataError:
    """What to say of a file that is something else than its name says."""
    return DataError(f"{path} is {found.words}, despite its name; {found.fix}")


def first_line(error: Exception) -> str:
    """What a library says, in one line."""
    return (str(error).splitlines() or [""])[0] or type(error).__name__


def _zipped(content: bytes) -> Content:
    """An Excel file unless it can be seen to be something else: a cut one cannot be looked into."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, OSError):
        return _EXCEL
    if "[Content_Types].xml" in names:
        return _EXCEL
    if "content.xml" in names and "mimetype" in names:
        return Content("an OpenDocument file", "save it as .xlsx")
    return Content("a ZIP archive", _UNPACK)


def utf16_without_mark(content: bytes) -> str | None:
    """The encoding of UTF-16 without a mark at its beginning: plain letters have one byte that is zero."""
    even, odd = content[:200:2], content[1:200:2]
    if len(content) < 8:
        return None
    for zeros, letters, name in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        if not any(zeros) and all(letters):
            return name
    return None
