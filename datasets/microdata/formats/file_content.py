"""Recognises what a file is by its bytes: its format, and the encoding of text."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linkrisk.datasets.errors import DataError

_EXPORT = "export the table as CSV (UTF-8)"
_UNPACK = "unpack it first"


@dataclass(frozen=True)
class Content:
    """What a file is."""

    words: str  # such as ``an Excel file``
    fix: str  # what to do when its name says something else
    suffix: str = ""  # how the name of such a file ends; empty where no format here reads it


def _readable(words: str, suffix: str) -> Content:
    return Content(words, f"name it {suffix}", suffix)


_EXCEL = _readable("an Excel file", ".xlsx")
_OLD_EXCEL = Content("an old Excel file", "save it as .xlsx")
_SPSS = _readable("an SPSS file", ".sav")
_STATA = _readable("a Stata file", ".dta")
_R_TEXT = Content("an R file", "save it in R without ascii = TRUE")
_R = {
    b"X\n\0\0\0\2": _readable("an R file", ".rds"),
    b"X\n\0\0\0\3": _readable("an R file", ".rds"),
    b"RDX2\nX": _readable("an R file", ".rdata"),
    b"RDX3\nX": _readable("an R file", ".rdata"),
}
_COMPRESSED: Mapping[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
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
    (b"RDA2\n", _R_TEXT),
    (b"RDA3\n", _R_TEXT),
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
    if (of_r := _R.get(beginning(content))) is not None:
        return of_r
    if content[:3] in _OLD_STATA:
        return _STATA
    for sign, kind in _BEGINNINGS:
        if content.startswith(sign):
            return kind
    if utf16_without_mark(content) is not None:
        return UTF16_TEXT
    return _marked_up(content[:200].lstrip(b"\xef\xbb\xbf \r\n\t").lower())


def beginning(content: bytes) -> bytes:
    """Six bytes of a file, unpacked where it is compressed as R does it; none where it is cut off before."""
    failures = (OSError, EOFError, zlib.error, lzma.LZMAError)
    for sign, opened in _COMPRESSED.items():
        if content.startswith(sign):
            with contextlib.suppress(*failures), opened(io.BytesIO(content)) as file:
                return bytes(file.read(6))
            return b""
    return content[:6]


def _marked_up(beginning: bytes) -> Content | None:
    """Which of the formats that are text this is; a table does not begin so."""
    if beginning.startswith(_HTML_TAGS):
        return _HTML
    if beginning.startswith(b"<?xml"):
        return _XML
    return _JSON if _JSON_BEGINS.match(beginning) else None


def check_content(content: bytes, path: Path, name: str, suffixes: tuple[str, ...]) -> None:
    """Raise a DataError unless a binary file begins as its format does."""
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


UTF8, UTF8_MARK, WINDOWS = "utf-8", "utf-8-sig", "cp1252"
UTF16 = "utf-16"

NAMES = {
    UTF8: "UTF-8",
    UTF8_MARK: "UTF-8 with a byte order mark",
    WINDOWS: "Windows-1252",
    UTF16: "UTF-16",
    "utf-16-le": "UTF-16 without a byte order mark",
    "utf-16-be": "UTF-16, high byte first, without a byte order mark",
}
"""What the encodings are called."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
UTF8_LETTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}")
"""A letter of UTF-8 beyond ASCII."""


def decode(content: bytes, path: Path) -> tuple[str, str]:
    """The text of a file and its encoding.

    UTF-8 where the bytes are UTF-8, UTF-16 where its mark or its zeros show it. What is neither is
    Windows-1252 (Latin-1 has the same letters) only where nothing speaks against it: no byte without a letter
    there, no control characters, no letter of UTF-8 elsewhere in the file, which would make it a damaged one.
    """
    found = content_of(content)
    if found is not None and found is not UTF16_TEXT:
        raise wrong_name(path, found)
    if found is UTF16_TEXT:
        return _decoded(content, utf16_without_mark(content) or UTF16, path)
    if content.startswith(b"\xef\xbb\xbf"):
        return _decoded(content, UTF8_MARK, path)
    try:
        text, encoding = content.decode(UTF8), UTF8
    except UnicodeDecodeError as error:
        text, encoding = _windows(content, error, path), WINDOWS
    _check_letters(text, path)
    return text, encoding


def _decoded(content: bytes, encoding: str, path: Path) -> tuple[str, str]:
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise _not_encoded(content, error, NAMES[encoding].partition(" ")[0].strip(","), path) from error
    _check_letters(text, path)
    return text, encoding


def _windows(content: bytes, error: UnicodeDecodeError, path: Path) -> str:
    if UTF8_LETTER.search(content):
        raise _not_encoded(content, error, "UTF-8, as other characters of the file are", path) from error
    try:
        text = content.decode(WINDOWS)
    except UnicodeDecodeError as other:
        raise _not_encoded(content, other, "UTF-8 nor Windows-1252", path) from other
    found = _CONTROL.search(text)
    if found is not None and found.group() != "\0":
        raise _not_encoded(content, error, "UTF-8", path) from error
    return text


def _not_encoded(content: bytes, error: UnicodeDecodeError, name: str, path: Path) -> DataError:
    line = content.count(b"\n", 0, error.start) + 1
    neither = "neither" if " nor " in name else "not"
    byte = content[error.start] if error.start < len(content) else content[-1]
    return DataError(f"{path}, line {line}: byte 0x{byte:02X} is {neither} {name}; save the file as UTF-8")


def _check_letters(text: str, path: Path) -> None:
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise DataError(f"{path}, line {line}: a NUL byte; this is not a text file, save it as UTF-8 CSV")


def encode(text: str, encoding: str) -> bytes:
    """Text in an encoding; in UTF-8 where that has no such character, or its bytes would be read as UTF-8."""
    if cannot_encode(encoding, text):
        return text.encode(UTF8)
    content = text.encode(encoding)
    return text.encode(UTF8) if encoding == WINDOWS and UTF8_LETTER.search(content) else content


def cannot_encode(encoding: str, text: str) -> bool:
    """Whether an encoding has no bytes for some character of a text."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return True
    return False
