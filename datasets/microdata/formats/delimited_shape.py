"""Text of a delimited file: what separates its columns, and whether all rows have as many cells."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from linkrisk.datasets.errors import DataError
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
