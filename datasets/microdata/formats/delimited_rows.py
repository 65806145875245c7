"""Rows of delimited text: separators, header and length of rows; blocks of records."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.delimited_cells import Cells, UncertainError, cells_of, check_windows
from linkrisk.datasets.microdata.formats.file_content import UTF8, WINDOWS, content_of
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
"""Bytes that are read at a time; more take more memory, fewer more calls of NumPy."""

HEAD = 1 << 22
"""Bytes that decide what separates columns, and rows among them where the file has more."""
_ROWS_OF_HEAD = 300

MOST_IN_LINE = 100_000
"""Bytes of a line; below what the module csv takes for a cell."""

_RESPELLED = 4096
"""Records that are spelled anew at a time."""


@dataclass(frozen=True)
class Opening:
    """The first line of a file, and where the next one begins."""

    names: list[str]
    delimiter: str
    encoding: str
    marked: bool  # whether the file begins with a byte order mark
    line_end: str
    size: int  # bytes before the first record


def opening(path: Path, encoding: str = UTF8) -> Opening:
    """Read the header; in Windows-1252 where that is said, or the first lines are not UTF-8."""
    with path.open("rb") as source:
        head = source.read(HEAD)
        more = bool(source.read(1))
    if content_of(head) is not None or (more and head.count(b"\n") < _ROWS_OF_HEAD):
        raise UncertainError
    marked = head.startswith(codecs.BOM_UTF8)
    head = head.removeprefix(codecs.BOM_UTF8)
    lines = head[: head.rfind(b"\n") + 1] if more else head
    if encoding == UTF8:
        try:
            text = lines.decode(UTF8)
        except UnicodeDecodeError as error:
            if marked:
                raise UncertainError from error
            encoding = WINDOWS
    if encoding == WINDOWS:
        check_windows(lines)
        text = lines.decode(WINDOWS)
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
    line_end = "\r\n" if head[end - 2 : end - 1] == b"\r" else "\n"
    return Opening(names, delimiter, encoding, marked, line_end, end + 3 * marked)


def records_of(path: Path, opened: Opening) -> Iterator[Cells]:
    """The records, some at a time."""
    with path.open("rb") as source:
        source.seek(opened.size)
        for block in _blocks(source):
            found = cells_of(block, opened.delimiter, len(opened.names), opened.encoding)
            if found.outer_blanks:
                text = stripped(block.decode(opened.encoding), opened.delimiter)
                found = cells_of(
                    text.encode(opened.encoding), opened.delimiter, len(opened.names), opened.encoding
                )
            yield found


def respelled(text: str, delimiter: str) -> Iterator[Cells]:
    """The records of a text whose rows are even, but which is written in an unusual way."""
    reader = csv.reader(StringIO(without_end(text), newline=""), delimiter=delimiter)
    columns = len(next(reader))
    while rows := list(islice(reader, _RESPELLED)):
        written = StringIO(newline="")
        csv.writer(written, delimiter=delimiter, lineterminator="\n").writerows(rows)
        yield cells_of(written.getvalue().encode(), delimiter, columns, UTF8, usual=True)


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
