"""The data of ARGUS cut into cells: by the places of variables, or at separators."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.argus_metadata import Metadata
from linkrisk.datasets.microdata.formats.argus_values import Cells


def cut(text: str, metadata: Metadata, path: Path) -> dict[str, Cells]:
    """The cells of a fixed-width file, with the blanks around them."""
    import pyarrow
    from pyarrow import compute

    lines = _lines(text, path)
    needed = max(variable.start + variable.length - 1 for variable in metadata.variables)
    for number, line in enumerate(lines, start=1):
        if len(line) < needed:
            raise DataError(
                f"{path}, line {number}: {len(line)} characters where the variables need {needed}; the file "
                "is cut off, or its .rda describes another one"
            )
    whole = pyarrow.array(lines, pyarrow.string())
    return {
        item.name: compute.utf8_slice_codeunits(whole, item.start - 1, item.start - 1 + item.length)
        for item in metadata.variables
    }


def left_out(text: str, metadata: Metadata, path: Path) -> list[str]:
    """What to say where a fixed-width file has text in positions that belong to no variable."""
    places = sorted((item.start - 1, item.start - 1 + item.length) for item in metadata.variables)
    starts, ends = [start for start, _ in places], [0, *(end for _, end in places)]
    lines = _lines(text, path)
    for begin, end in zip(ends, [*starts, None], strict=True):
        if begin != end and any(piece.strip() for piece in {line[begin:end] for line in lines}):
            where = f"from position {begin + 1} " + ("on" if end is None else f"to {end}")
            return [f"{path}: the text {where} is ignored: its .rda has no variable there"]
    return []


def separated(text: str, metadata: Metadata, path: Path) -> dict[str, Cells]:
    """The cells of a separated file."""
    import pyarrow

    names = [variable.name for variable in metadata.variables]
    separator = metadata.separator or ";"
    rows: list[list[str]] = []
    reader = csv.reader(
        io.StringIO("\n".join(_lines(text, path)), newline=""), delimiter=separator, strict=True
    )
    try:
        for row in reader:
            if len(row) != len(names):
                raise DataError(
                    f"{path}, line {reader.line_num}: {len(row)} cells where its .rda has "
                    f"{len(names)} variables"
                )
            rows.append(row)
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: {error}; fix its quotes") from error
    records = rows[1:] if metadata.names_in_front else rows
    return {
        name: pyarrow.array([row[at] for row in records], pyarrow.string()) for at, name in enumerate(names)
    }


def _lines(text: str, path: Path) -> list[str]:
    lines = text.rstrip("\r\n\x1a").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not any(line.strip() for line in lines):
        raise DataError(f"{path} is empty; it needs records")
    return lines
