"""Rows of delimited text: separators, header and length of rows; blocks of records as Arrow tables."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from linkrisk.arrays import BoolArray, ByteArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.file_content import content_of
from linkrisk.errors import called

if TYPE_CHECKING:
    from _csv import Reader


DELIMITERS = {",": "','", ";": "';'", "\t": "tabs", "|": "'|'"}
"""What may stand between columns, and what it is called."""


def _index() -> str:
    return f"an index written along with the table can be named and given as {called('id')}"


HINT = re.compile(r"sep=.?\s*$", re.IGNORECASE)
"""A first line for Excel alone."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")

_MARKS = "".join(DELIMITERS)
_QUOTED = rf'(?<![^{_MARKS}])[ ]*+"(?:[^"]|"")*+"(?=[ ]*(?:[{_MARKS}\r\n]|\Z))'
_HEADER = re.compile(rf"(?:{_QUOTED}|[^\r\n])*+")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?")

_LOOKED_AT = 200
"""Rows that decide between delimiters, where the header has several."""


def delimiter_of(text: str, suffix: str) -> str:
    """What stands between the columns: what the header has outside of quotes, and makes rows equally long.

    Where that leaves several, it is the one between most numbers; of these, or where nothing is left, the one
    that the suffix says, then the first of `DELIMITERS`.
    """
    first = "\t" if suffix in (".tsv", ".tab") else ","
    order = [first, *(mark for mark in DELIMITERS if mark != first)]
    header = _HEADER.match(text)
    plain = re.sub(_QUOTED, "", header[0]) if header else ""
    found = [mark for mark in order if mark in plain and _header_cells(text, mark) > 1]
    even = found if len(found) <= 1 else [mark for mark in found if _is_even(text, mark)] or found[:1]
    return max(even, key=lambda mark: _numbers(text, mark)) if len(even) > 1 else (even or [first])[0]


def _numbers(text: str, delimiter: str) -> float:
    """Which share of the cells of the first rows are numbers, with a decimal point or comma."""
    cells = [cell for row in islice(_reader(text, delimiter), 1, _LOOKED_AT) for cell in row]
    return sum(_NUMBER.fullmatch(cell.strip()) is not None for cell in cells) / max(len(cells), 1)


def _header_cells(text: str, delimiter: str) -> int:
    try:
        return len(next(_reader(text, delimiter), []))
    except csv.Error:
        return 0


def _is_even(text: str, delimiter: str) -> bool:
    try:
        return len({len(row) for row in islice(_reader(text, delimiter), _LOOKED_AT)}) == 1
    except csv.Error:
        return False


def _reader(text: str, delimiter: str) -> Reader:
    return csv.reader(_lines(text), delimiter=delimiter, strict=True)


def _lines(text: str) -> Iterator[str]:
    """The lines of a text with their ends, without blank ones at its end; each is made when asked for."""
    return (found.group() for found in _LINE.finditer(text, 0, len(text.rstrip("\r\n"))))


def header_line(names: Sequence[str], delimiter: str, line_end: str) -> str:
    """A header in which every name that has any separator, quote or line break is in quotes.

    Then the separator shows, whichever others are in the names.
    """
    special = re.compile(rf'[{_MARKS}"\r\n]')
    cells = ['"' + name.replace('"', '""') + '"' if special.search(name) else name for name in names]
    return (delimiter.join(cells) or '""') + line_end


def without_end(text: str) -> str:
    """A text without blank lines at its end."""
    if text[-1:] == "\n" and text[-2:-1] not in ("", "\r", "\n"):
        return text  # not a copy
    return text.rstrip("\r\n") + "\n"


def stripped(text: str, delimiter: str) -> str:
    """A text without blanks around its cells; those inside of quotes stay, and so do lines of blanks."""
    blanks = " \u00a0" if delimiter == "\t" else " \t\u00a0"
    beside = (pair for one in blanks for end in (delimiter, "\r", "\n") for pair in (one + end, end + one))
    if not (
        text.startswith(tuple(blanks)) or text.endswith(tuple(blanks)) or any(map(text.__contains__, beside))
    ):
        return text
    blank, edge = rf"[{blanks}]", rf"[{re.escape(delimiter)}\r\n]"
    begins = rf"(?:(?<={edge})|\A)"
    line = rf"(?:(?<=[\r\n])|\A){blank}++(?=[\r\n]|\Z)"
    cell = rf'{begins}{blank}*+("(?:[^"]++|"")*+")|({line})|{blank}++(?={edge}|\Z)|{begins}{blank}++'
    return re.sub(cell, lambda found: found[1] or found[2] or "", text)


def check_shape(text: str, delimiter: str, path: Path, *, named: bool = True) -> list[str]:
    """Check the header and the length of every row: pandas pads short rows and renames twins silently."""
    # Blank lines at the end of a file are harmless; pandas skips those inside as well, which would move rows.
    first = text[:8].splitlines()[:1]
    if first and HINT.match(first[0]):
        raise DataError(f"{path}, line 1: {first[0]!r} is for Excel alone; delete the line")
    reader = _reader(text, delimiter)
    try:
        header = next(reader)
        if named:
            check_header(header, path, last="does each line end with a separator?")
        for row in reader:
            # A line of blanks is one blank cell here, and nothing at all to pandas, which would move rows.
            cells = 0 if len(row) == 1 and row[0].isspace() else len(row)
            if cells != len(header):
                raise DataError(_ragged(path, reader.line_num, cells, len(header)))
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: not valid CSV: {error}; fix its quotes") from error
    return header


def _ragged(path: Path, line: int, found: int, expected: int) -> str:
    if found == 0:
        return f"{path}, line {line}: empty line; delete it"
    cells = "cell" if found == 1 else "cells"
    return f"{path}, line {line}: {found} {cells} where the header has {expected}; fix or delete the line"


def check_header(header: list[str], path: Path, *, last: str | None = None) -> None:
    """Refuse two columns of one name and one without any; `last` says what may be wrong with the last one."""
    if not header:
        raise DataError(f"{path}, line 1: empty line instead of the column names; delete it")
    for position, name in enumerate(header, start=1):
        if not name.strip():
            likely = last if last and position == len(header) > 1 else _index()
            raise DataError(
                f"{path}: column {position} has no name in the header; name it ({likely}) or delete it"
            )
    twins = [name for name, count in Counter(header).items() if count > 1]
    if twins:
        raise DataError(f"{path}: the column name {twins[0]!r} is twice in the header; rename one")


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
            clean = _checked(block, opened.delimiter)
            reading = arrow_csv.ReadOptions(
                use_threads=False, block_size=len(clean) + 1, column_names=numbers
            )
            try:
                yield arrow_csv.read_csv(pyarrow.BufferReader(clean), reading, parsing, converting)
            except pyarrow.ArrowException as error:  # uneven rows, or no text in UTF-8
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


def _checked(block: bytes, delimiter: str) -> bytes:
    """A block without blanks around its cells, if its quotes and line ends certainly are what they seem.

    That its rows are even is for Arrow to see, except for empty lines, which it reads as missing values.
    """
    signs = np.frombuffer(block, dtype=np.uint8)
    inside = _inside_quotes(signs)
    if _has_outer_blanks(signs, inside, delimiter):
        try:
            block = stripped(block.decode("utf-8"), delimiter).encode()
        except UnicodeDecodeError as error:
            raise UncertainError from error
        signs = np.frombuffer(block, dtype=np.uint8)
        inside = _inside_quotes(signs)
    empty = block.startswith((b"\n", b"\r")) or b"\n\n" in block or b"\n\r" in block
    if empty or inside[-1] or b"\0" in block or not _quoted_well(signs, inside, delimiter):
        raise UncertainError
    return block


def _inside_quotes(signs: ByteArray) -> BoolArray:
    """Which bytes are within quotes, those that open them included."""
    return np.asarray(np.bitwise_xor.accumulate(signs == _QUOTE), dtype=np.bool_)


def _has_outer_blanks(signs: ByteArray, inside: BoolArray, delimiter: str) -> bool:
    """Whether a blank is the first or last sign of a cell."""
    blank = (signs == _BLANK) | (signs == _NO_BREAK)
    if delimiter != "\t":
        blank |= signs == _TAB
    if not blank.any():
        return False
    ends = ((signs == ord(delimiter)) | (signs == _NEWLINE)) & ~inside
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
