"""Blocks of a delimited file in UTF-8, each of complete records, as Arrow tables of text.

Nothing is refused here: what is not certainly a table whose rows are even raises `UncertainError`, and is
read at once by the module csv (`delimited`), where every fault has its message.
"""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from linkrisk.arrays import BoolArray, ByteArray
from linkrisk.datasets.microdata.formats.delimited_shape import HINT, delimiter_of, stripped
from linkrisk.datasets.microdata.formats.file_content import content_of

BLOCK = 1 << 20
"""Bytes that are read at a time; more take more memory, fewer more calls of Arrow."""

HEAD = 1 << 22
"""Bytes that decide what separates columns, and rows among them where the file has more."""
_ROWS_OF_HEAD = 300

MOST_IN_LINE = 100_000
"""Bytes of a line; below what the module csv takes for a cell."""

_NEWLINE, _RETURN, _QUOTE, _BLANK, _TAB, _NO_BREAK = (*b'\n\r" \t', 0xA0)


class UncertainError(Exception):
    """A file may have a fault, or is written in an unusual way."""


@dataclass(frozen=True)
class Opening:
    """The first line of a file, and where the next one begins."""

    names: list[str]
    delimiter: str
    marked: bool  # whether the file begins with a byte order mark
    line_end: str
    size: int  # bytes before the first record


def opening(path: Path) -> Opening:
    """Read the header."""
    with path.open("rb") as source:
        head = source.read(HEAD)
        more = bool(source.read(1))
    if content_of(head) is not None or (more and head.count(b"\n") < _ROWS_OF_HEAD):
        raise UncertainError
    marked = head.startswith(codecs.BOM_UTF8)
    head = head.removeprefix(codecs.BOM_UTF8)
    try:
        text = (head[: head.rfind(b"\n") + 1] if more else head).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UncertainError from error
    line = text.partition("\n")[0].removesuffix("\r")
    if not line.strip() or HINT.match(line) or "\r" in line:
        raise UncertainError
    delimiter = delimiter_of(text, path.suffix.lower())
    try:
        names = next(csv.reader([stripped(line, delimiter)], delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise UncertainError from error
    if len(names) < 2 or len(set(names)) < len(names) or not all(name.strip() for name in names):
        raise UncertainError
    end = head.find(b"\n") + 1 or len(head)
    return Opening(
        names, delimiter, marked, "\r\n" if head[end - 2 : end - 1] == b"\r" else "\n", end + 3 * marked
    )


def tables(path: Path, opened: Opening) -> Iterator[Any]:
    """The records as Arrow tables of text, None where a cell is empty; their columns are numbered."""
    import pyarrow
    from pyarrow import csv as arrow_csv

    numbers = [str(at) for at in range(len(opened.names))]
    parsing = arrow_csv.ParseOptions(
        delimiter=opened.delimiter, newlines_in_values=True, ignore_empty_lines=False
    )
    converting = arrow_csv.ConvertOptions(
        column_types=dict.fromkeys(numbers, pyarrow.string()), null_values=[""], strings_can_be_null=True
    )
    with path.open("rb") as source:
        source.seek(opened.size)
        for block in _blocks(source):
            clean = _checked(block, opened.delimiter, len(numbers))
            reading = arrow_csv.ReadOptions(
                use_threads=False, block_size=len(clean) + 1, column_names=numbers
            )
            try:
                yield arrow_csv.read_csv(pyarrow.BufferReader(clean), reading, parsing, converting)
            except pyarrow.ArrowException as error:  # no text in UTF-8, say
                raise UncertainError from error


def _blocks(source: BinaryIO) -> Iterator[bytes]:
    """Blocks that end where a record does, the last one without blank lines at its end."""
    left = b""
    while read := source.read(BLOCK):
        joined = left + read
        end = _end_of_records(joined)
        if not end and len(joined) > BLOCK + MOST_IN_LINE:
            raise UncertainError
        left = joined[end:]
        if not left.strip(b"\r\n"):  # blank lines at the end of the file do not count
            left, end = joined, 0
        if end:
            yield joined[:end]
    if left.rstrip(b"\r\n"):
        yield left.rstrip(b"\r\n") + b"\n"


def _end_of_records(joined: bytes) -> int:
    """The end of the last line that is not within quotes; 0 where there is none."""
    end = joined.rfind(b"\n") + 1
    while end and joined.count(b'"', 0, end) % 2:
        end = joined.rfind(b"\n", 0, end - 1) + 1
    return end


def _checked(block: bytes, delimiter: str, cells: int) -> bytes:
    """A block without blanks around its cells, if every row certainly has so many."""
    signs = np.frombuffer(block, dtype=np.uint8)
    inside = _inside_quotes(signs)
    if _has_outer_blanks(signs, _ends(signs, inside, delimiter), delimiter):
        try:
            block = stripped(block.decode("utf-8"), delimiter).encode()
        except UnicodeDecodeError as error:
            raise UncertainError from error
        signs = np.frombuffer(block, dtype=np.uint8)
        inside = _inside_quotes(signs)
    ends = _ends(signs, inside, delimiter)
    found = signs[ends]
    if found.size % cells or not signs.all() or not _quoted_well(signs, inside, delimiter):
        raise UncertainError
    rows = found.reshape(-1, cells)
    lines = np.flatnonzero(ends & (signs == _NEWLINE))
    even = (rows[:, -1] == _NEWLINE).all() and (rows[:, :-1] == ord(delimiter)).all()
    if not even or int(np.diff(lines, prepend=-1).max()) >= MOST_IN_LINE:
        raise UncertainError
    return block


def _inside_quotes(signs: ByteArray) -> BoolArray:
    """Which bytes are within quotes, those that open them included."""
    return np.asarray(np.bitwise_xor.accumulate(signs == _QUOTE), dtype=np.bool_)


def _ends(signs: ByteArray, inside: BoolArray, delimiter: str) -> BoolArray:
    """Where cells end."""
    return np.asarray(((signs == ord(delimiter)) | (signs == _NEWLINE)) & ~inside)


def _has_outer_blanks(signs: ByteArray, ends: BoolArray, delimiter: str) -> bool:
    """Whether a blank is the first or last sign of a cell."""
    blank = (signs == _BLANK) | (signs == _NO_BREAK)
    if delimiter != "\t":
        blank |= signs == _TAB
    if not blank.any():
        return False
    before = np.r_[True, ends[:-1]]
    before |= np.r_[False, (signs == 0xC2)[:-1] & before[:-1]]
    after = np.r_[ends[1:], True] | np.r_[(signs == _RETURN)[1:], True]
    return bool((blank & (before | after)).any())


def _quoted_well(signs: ByteArray, inside: BoolArray, delimiter: str) -> bool:
    """Whether quotes enclose cells, those inside of cells are double, and all lines end with a line feed."""
    returns = np.flatnonzero(signs == _RETURN)
    if returns.size and (signs[returns + 1] != _NEWLINE).any():  # the last sign is a line feed
        return False
    quotes = np.flatnonzero(signs == _QUOTE)
    if not quotes.size:
        return True
    opens = inside[quotes]
    before = signs[quotes[opens] - 1].copy()
    before[quotes[opens] == 0] = _NEWLINE
    after = signs[quotes[~opens] + 1]
    beside = np.array([ord(delimiter), _NEWLINE, _QUOTE], dtype=np.uint8)
    return bool(np.isin(before, beside).all() and np.isin(after, np.append(beside, np.uint8(_RETURN))).all())
