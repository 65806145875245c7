"""Types of the columns of a delimited file: numbers, logical values or text, in one pass over its cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import FloatArray
from linkrisk.datasets.microdata.formats.number_text import (
    CODE,
    COMMA_NUMBER,
    GROUPS,
    LOGICAL,
    MISSING_MARKS,
    NUMBER,
    POINT_NUMBER,
    WHOLE,
)

_NO_NUMBER = rf"\A(?:{CODE}|-?0[xX].*)\z"
"""Codes, and numbers to the base of 16, which Arrow would read."""

Tables = Callable[[], Iterable[Any]]
"""Reads the records again, as Arrow tables of text."""


@dataclass(frozen=True)
class TypedColumns:
    """Columns by name, the decimal sign, and the columns of numbers that have another one."""

    columns: Mapping[str, Any]
    decimal: str
    unclear: tuple[str, ...]


def typed_columns(
    tables: Tables, header: Sequence[str], kept: Collection[str], decimal: str | None
) -> TypedColumns:
    """Types the columns of tables of text; `kept` ones stay text, in which only an empty cell is missing.

    `decimal` is the decimal sign; None where the columns decide.
    """
    plain, pointed = _plain_numbers(tables, header, kept)
    texts = {name: cells for name, cells in plain.items() if _is_text(cells)}
    commas = decimal == "," or (decimal is None and any(map(_has_commas, texts.values())))
    if pointed and commas:  # points are no decimal signs, or speak against the comma: as text again
        plain, _ = _plain_numbers(tables, header, {*kept, *pointed})
        texts = {name: cells for name, cells in plain.items() if _is_text(cells)}
    unclear: tuple[str, ...] = ()
    if decimal is None:
        decimal, unclear = _decimal_of(texts) if commas else (".", ())
    texts.clear()
    columns: dict[str, Any] = {}
    for name in header:
        cells = plain.pop(name)  # one column at a time is there as text and as what it becomes
        if _is_text(cells):
            cells = _as_column(cells) if name in kept else _typed(cells, decimal)
        columns[name] = cells
    return TypedColumns(columns, decimal, unclear)


def _has_commas(cells: Any) -> bool:
    """Whether a column of text is one of numbers with decimal commas."""
    from pyarrow import compute

    known = compute.drop_null(_without_marks(cells))
    return _are_numbers(known, COMMA_NUMBER) and _has(known, "[0-9],[0-9]")


def _is_text(cells: Any) -> bool:
    return not isinstance(cells, np.ndarray)


def _plain_numbers(
    tables: Tables, header: Sequence[str], kept: Collection[str]
) -> tuple[dict[str, Any], set[str]]:
    """Columns that are numbers in all tables as arrays, others as text; and those of numbers with points.

    Tables are read again where a column begins with numbers and is none.
    """
    gathered = _Gathered(header, set(kept))
    for table in tables():
        gathered.add(table)
    if gathered.late:
        gathered = _Gathered(header, gathered.texts | gathered.late)
        for table in tables():
            gathered.add(table)
    return gathered.columns(), gathered.pointed


class _Gathered:
    """Columns of several tables, as numbers while all cells are plain ones, else as text."""

    def __init__(self, header: Sequence[str], texts: set[str]) -> None:
        self.parts: dict[str, list[Any]] = {name: [] for name in header}
        self.texts = texts
        self.late: set[str] = set()  # columns that began with numbers and are none
        self.pointed: set[str] = set()
        self.fractions: set[str] = set()  # columns of numbers that are not all whole

    def add(self, table: Any) -> None:
        """Append the records of a table."""
        for name, cells in zip(self.parts, table.columns, strict=True):
            if name in self.texts:
                self.parts[name].append(cells)
            elif name not in self.late:
                self._add_numbers(name, cells)

    def _add_numbers(self, name: str, cells: Any) -> None:
        found = _numbers(cells)
        if found is not None:
            numbers, whole = found
            self.parts[name].append(numbers)
            self.fractions |= set() if whole else {name}
            if not whole and name not in self.pointed and _has(cells, "[.]"):
                self.pointed.add(name)
        elif self.parts[name]:
            self.late.add(name)
            self.parts[name].clear()
        else:
            self.texts.add(name)
            self.parts[name].append(cells)

    def columns(self) -> dict[str, Any]:
        """Arrays of numbers and Arrow columns of text by name."""
        import pyarrow

        found: dict[str, Any] = {}
        for name in list(self.parts):
            parts = self.parts.pop(name)
            if name in self.texts:
                chunks = [one for cells in parts for one in cells.chunks]
                found[name] = pyarrow.chunked_array(chunks, pyarrow.string())
            else:
                numbers = np.concatenate(parts) if parts else np.empty(0, np.int64)
                found[name] = numbers if name in self.fractions else _whole(numbers)
        return found


def _without_marks(cells: Any) -> Any:
    import pyarrow
    from pyarrow import compute

    marks = compute.is_in(cells, value_set=pyarrow.array(MISSING_MARKS))
    if not compute.any(marks).as_py():
        return cells
    return compute.if_else(marks, pyarrow.scalar(None, pyarrow.string()), cells)


def _has(cells: Any, pattern: str) -> bool:
    """Whether a part of some cell matches a pattern."""
    from pyarrow import compute

    return bool(compute.any(compute.match_substring_regex(cells, pattern)).as_py())


def _all(cells: Any, pattern: str) -> bool:
    """Whether all known cells match a pattern from end to end."""
    from pyarrow import compute

    return compute.all(compute.match_substring_regex(cells, rf"\A(?:{pattern})\z")).as_py() is not False


def _numbers(cells: Any) -> tuple[npt.NDArray[Any], bool] | None:
    """Cells as numbers, NaN where one is missing, and whether all are whole; None where one is a code.

    Doubles take the place of whole numbers where one is written as -0, whose sign they keep.
    """
    import pyarrow
    from pyarrow import compute

    known = _without_marks(cells)
    first = known[0].as_py() if len(known) else None
    fraction = first is not None and "." in first  # a cast to whole numbers would fail
    for kind in [pyarrow.float64()] if fraction else [pyarrow.int64(), pyarrow.float64()]:
        try:
            made = compute.cast(known, kind)
        except pyarrow.ArrowInvalid:
            continue
        spelled = kind == pyarrow.float64() and compute.any(compute.is_nan(made)).as_py()  # such as NAN
        if spelled or _has(known, _NO_NUMBER):
            return None
        whole = kind == pyarrow.int64()
        if whole and compute.any(compute.equal(known, "-0")).as_py():
            made = compute.cast(known, pyarrow.float64())
        return made.to_numpy(zero_copy_only=False), whole
    return None


def _whole(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Whole numbers without a sign of zero, as doubles where one is missing."""
    return numbers + 0.0 if np.isnan(numbers).any() else numbers.astype(np.int64, copy=False)


def _typed(cells: Any, decimal: str) -> Any:
    """A column of text as what it is: numbers with a decimal sign, blanks or of any size, logical values."""
    from pyarrow import compute

    known = _without_marks(cells)
    first = compute.drop_null(known)[:1].to_pylist()
    if not first:
        return np.full(len(cells), np.nan)
    if first[0] in LOGICAL and set(compute.unique(compute.drop_null(known)).to_pylist()) <= LOGICAL:
        logical = compute.utf8_lower(known).to_pandas().map({"true": True, "false": False})
        return logical.astype(object if known.null_count else bool)
    if NUMBER.fullmatch(first[0]) is None or _has(known, _NO_NUMBER):
        return _as_column(known)
    if decimal == "," and _has(known, "[.]"):
        return _as_column(known)
    plain = compute.utf8_trim_whitespace(known)
    plain = compute.replace_substring(plain, ",", ".") if decimal == "," else plain
    numbers = _numbers(plain)
    if numbers is None:
        return _each(known, plain)
    return _whole(numbers[0]) if numbers[1] else numbers[0]


def _each(known: Any, plain: Any) -> FloatArray | pd.Series:
    """Numbers that only Python reads, such as 1e400; the text where one is none."""
    table = plain.combine_chunks().dictionary_encode()
    values = [*map(_number, table.dictionary.to_pylist()), math.nan]
    if None in values:
        return _as_column(known)
    made: FloatArray = np.array(values, dtype=np.float64)[
        table.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    ]
    return made


def _number(text: str) -> float | None:
    return float(text) if text.isascii() and NUMBER.fullmatch(text) and "," not in text else None


def _as_column(cells: Any) -> pd.Series:
    column: pd.Series = cells.to_pandas()
    return column.where(column.notna(), np.nan) if column.dtype == object else column


def _decimal_of(texts: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """The decimal sign, and columns of numbers with the other one or with one that may separate thousands.

    It is a comma only where a column of numbers cannot be read otherwise: one of cells such as ``1,234``,
    which may be a thousand or more, proves nothing. Where some columns speak for the comma and others for
    the point, it is the point, as the number of a day and month has one.
    """
    from pyarrow import compute

    with_comma: list[str] = []
    unclear: list[str] = []
    with_point: list[str] = []
    for name, column in texts.items():
        cells = compute.drop_null(_without_marks(column))
        if _are_numbers(cells, COMMA_NUMBER):
            commas = cells.filter(compute.match_substring(cells, ","))
            (unclear if _all(commas, GROUPS) else with_comma).append(name)
        elif _are_numbers(cells, POINT_NUMBER):
            with_point.append(name)
    if with_comma and not with_point:
        return ",", ()
    return ".", (*with_comma, *unclear)


def _are_numbers(cells: Any, marked: str) -> bool:
    """Whether all cells are numbers with this decimal sign or whole ones, and some have the sign."""
    if not len(cells) or not _all(cells[:1], f"{marked}|{WHOLE}"):  # nearly all text is out after a cell
        return False
    return _all(cells, f"{marked}|{WHOLE}") and _has(cells, rf"\A(?:{marked})\z")
