"""Cells of fixed and free format files of ARGUS, read and written."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.argus_metadata import Metadata
from linkrisk.datasets.microdata.formats.number_text import CODE
from linkrisk.datasets.microdata.values import Kind, as_doubles, as_text, cells_of, is_wide, kind_of, spelled

Cells = Any
"""The cells of a column as they stand in a file: a pyarrow array of text."""

_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_WHOLE = r"[+-]?[0-9]{1,18}"


@dataclass(frozen=True)
class Written:
    """A column as text."""

    cells: list[str]  # blank where a value is missing
    number: bool  # whether they are numbers
    decimals: int = 0  # the most decimals that they have


def typed_cells(raw: Cells, *, numeric: bool, text: bool, where: str) -> pd.Series:
    """Cells as a column; blanks around them do not count, and a blank cell is a missing value."""
    from pyarrow import compute

    cells = compute.utf8_trim_whitespace(raw)
    blank = _flags(compute.equal(cells, ""))
    numbers = _all_are(cells, _NUMBER, blank)
    if numeric and not (text or numbers):
        _refuse_text(cells, blank, where)
    objects = cells.to_numpy(zero_copy_only=False)
    if text or blank.all() or not numbers or not (numeric or not _flags(_matches(cells, CODE)).any()):
        objects[blank] = None
        return pd.Series(objects, dtype=object if blank.all() else "str")
    if not blank.any() and _all_are(cells, _WHOLE, blank):
        return pd.Series(objects.astype(np.int64))
    objects[blank] = "nan"
    return pd.Series(objects.astype(np.float64))


def _flags(found: Any) -> npt.NDArray[np.bool_]:
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.bool_)


def _matches(cells: Cells, pattern: str) -> Any:
    """Which cells are as the pattern says from beginning to end."""
    from pyarrow import compute

    return compute.match_substring_regex(cells, f"^(?:{pattern})$")


def _all_are(cells: Cells, pattern: str, blank: npt.NDArray[np.bool_]) -> bool:
    return bool((_flags(_matches(cells, pattern)) | blank).all())


def _refuse_text(cells: Cells, blank: npt.NDArray[np.bool_], where: str) -> NoReturn:
    row = int(np.argmin(_flags(_matches(cells, _NUMBER)) | blank))
    raise DataError(
        f"{where}, row {row + 1}: {cells[row].as_py()!r} is not a number, though the column is <NUMERIC>"
    )


def code_in(column: pd.Series, code: str) -> str:
    """A code of the metadata as a column spells it: ``099`` among numbers is 99."""
    if column.dtype.kind in "if" and re.fullmatch(_NUMBER, code):
        return spelled(float(code))
    return code


def written(column: pd.Series, decimals: int | None, path: Path) -> Written:
    """A column as text that reads back the same."""
    kind = kind_of(column)
    values = cells_of(column)
    if kind is Kind.LOGICAL:
        return Written(["" if value is None else str(int(value)) for value in values], number=False)
    if kind is Kind.WHOLE and not is_wide(column):
        return Written(["" if value is None else str(int(value)) for value in values], number=True)
    if kind is Kind.NUMBER:
        return _written_numbers(as_doubles(column).to_numpy(), decimals)
    texts = ["" if value is None else value for value in cells_of(as_text(column))]
    unprintable = {text for text in set(texts) if not text.isprintable()}
    if unprintable:
        row = next(row for row, text in enumerate(texts, start=1) if text in unprintable)
        raise DataError(
            f"{path} cannot be written: column {column.name!r}, row {row}: a line end or a character "
            "that cannot be printed; write .csv"
        )
    return Written([text.strip() for text in texts], number=False)


def _written_numbers(doubles: npt.NDArray[np.float64], decimals: int | None) -> Written:
    """Numbers as text, blank where there is NaN."""
    known = ~np.isnan(doubles)
    present = doubles[known]
    values = [value if is_known else None for value, is_known in zip(doubles.tolist(), known, strict=True)]
    if not np.isfinite(present).all():
        return Written(["" if value is None else str(value) for value in values], number=False)
    whole = bool((present == np.trunc(present)).all())
    if whole and not decimals and (decimals is not None or not known.all()):
        return Written(["" if value is None else f"{value:.0f}" for value in values], number=True)
    cells = [None if value is None else _in_full(value).partition(".") for value in values]
    places = max(decimals or 0, *(len(cell[2]) for cell in cells if cell is not None), 1)
    padded = ["" if cell is None else f"{cell[0]}.{cell[2].ljust(places, '0')}" for cell in cells]
    return Written(padded, number=True, decimals=places)


def _in_full(value: float) -> str:
    """A number as it reads back, without an exponent."""
    text = repr(value)
    return format(Decimal(text), "f") if "e" in text else text


def is_left_aligned(raw: Cells) -> bool:
    """Whether cells stand at the left of their place: blanks only after them."""
    from pyarrow import compute

    padded = compute.not_equal(raw, compute.utf8_trim_whitespace(raw))
    blank = compute.equal(compute.utf8_trim_whitespace(raw), "")
    shorter = raw.filter(compute.and_not(padded, blank))
    return len(shorter) > 0 and bool(
        compute.all(compute.equal(shorter, compute.utf8_ltrim_whitespace(shorter))).as_py()
    )


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
