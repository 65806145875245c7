"""The encoding of a text file: what it must be, or a line that says why it cannot be told."""

from __future__ import annotations

import re
from pathlib import Path

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.foreign import UTF16_TEXT, content_of, utf16_without_mark, wrong_name

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
_UTF8_LETTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}")


def decode(content: bytes, path: Path) -> tuple[str, str]:
    """The text of a file and its encoding.

    UTF-8 where the bytes are UTF-8, UTF-16 where its mark or its zeros show it. What is neither is
    Windows-1252 (Latin-1 has the same letters) only where nothing speaks against it: no byte without a letter
    there, no control characters, no letter of UTF-8 elsewhere in the file, which would make it a damaged one.

    Raises
    ------
    DataError
        If it is not text, or not in one of these encodings.
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
    if _UTF8_LETTER.search(content):
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
    return text.encode(UTF8) if encoding == WINDOWS and _UTF8_LETTER.search(content) else content


def cannot_encode(encoding: str, text: str) -> bool:
    """Whether an encoding has no bytes for some character of a text."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return True
    return False
