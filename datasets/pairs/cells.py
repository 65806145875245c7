"""Cells of two columns: ids as text, spellings of one value, codes of equal cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import FloatArray, IndexArray, LongArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.values import WIDEST

_WHOLE_FLOAT = re.compile(r"[+-]?\d+\.0+")


def record_ids(frame: pd.DataFrame, id_column: str, source: str) -> tuple[str, ...]:
    """Read the ids of a table as text, so that 1, 1.0, "1" and "1.0" name the same record."""
    series = frame[id_column]
    missing = series.isna().to_numpy(dtype=bool)
    if missing.any():
        row = int(np.argmax(missing)) + 1
        raise DataError(
            f"{source}, column {id_column!r}, row {row}: missing id; fill it in or drop the record"
        )
    ids = tuple(id_text(value) for value in series.to_list())
    first_row: dict[str, int] = {}
    for row, identifier in enumerate(ids, start=1):
        if identifier in first_row:
            raise DataError(
                f"{source}, column {id_column!r}: the id {identifier!r} is in rows "
                f"{first_row[identifier]} and {row}; ids must be unique"
            )
        first_row[identifier] = row
    return ids


def match_ids(original_ids: tuple[str, ...], masked_ids: tuple[str, ...]) -> npt.NDArray[np.intp]:
    """Find the masked row of each original id.

    Returns as long as `original_ids`.
    """
    row_of = {identifier: row for row, identifier in enumerate(masked_ids)}
    return np.array([row_of.get(identifier, -1) for identifier in original_ids], dtype=np.intp)


def id_text(value: object) -> str:
    """An id as text: a whole number may be written as 7, 7.0, "7" or "7.0"."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = str(value).strip()
    return text.split(".")[0] if "." in text and _WHOLE_FLOAT.fullmatch(text) else text


NEARLY_ALL = 0.9
"""Of the values of two columns, so many must be in both to call these the same."""

_MIDNIGHT = re.compile(r"(?<=\d{4}-\d\d-\d\d)[ t]0?0:00(:00(\.0+)?)?z?$")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_LETTERS = re.compile(r"[^\W\d_]\D*")
_LEADING_ZEROS = re.compile(r"0+(?=\d+$)")
_YEAR_LAST = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?!\d)")
_YEAR_FIRST = re.compile(r"(\d{4})([./-])(\d{1,2})\2(\d{1,2})(?!\d)")


def alike(first: Sequence[object], second: Sequence[object]) -> tuple[list[str], list[str]]:
    """The different values of two columns as text.

    What most programs write differently is the same in all: upper and lower case, blanks, the time of
    midnight, separators of thousands. Where the columns still hold different values, and hold (nearly) the
    same ones without letters that all values of a column begin with (``P007`` and ``7``), or as dates with
    the day or the month first, they are read so. A date that can be read in two ways is read in the one that
    makes the columns the same.
    """
    sides = [[_as_any_program_writes_it(value) for value in side] for side in (first, second)]
    if not all(sides) or _are_same(*map(set, sides)):
        return sides[0], sides[1]
    read = [[(texts, set(texts)) for texts in _readings(side)] for side in sides]
    for (one, here), (other, there) in product(*read):
        if _are_same(here, there):
            return one, other
    return sides[0], sides[1]


def _are_same(first: set[str], second: set[str]) -> bool:
    """Whether two sets are the same, or nearly."""
    return len(first & second) >= NEARLY_ALL * max(len(first), len(second))


def _as_any_program_writes_it(value: object) -> str:
    """A cell as text that does not depend on the program that wrote it."""
    text = " ".join(id_text(value).casefold().split()).removeprefix("=").strip('"')
    text = _MIDNIGHT.sub("", text)
    return text.replace(",", "") if _THOUSANDS.fullmatch(text) else text


def _readings(texts: list[str]) -> list[list[str]]:
    """All that the values of a column may mean; none that makes two of them the same."""
    ways: tuple[Callable[[list[str]], list[str]], ...] = (_without_prefix, _day_first, _month_first)
    read = [texts]
    for way in ways:
        other = way(texts)
        if other not in read and len(set(other)) == len(set(texts)):
            read.append(other)
    return read


def _without_prefix(texts: list[str]) -> list[str]:
    """Numbers without the letters that all of them begin with, and without leading zeros."""
    letters = _LETTERS.match(texts[0])
    if letters is not None and all(text.startswith(letters[0]) for text in texts):
        left = [text[letters.end() :] for text in texts]
        texts = left if all(text[:1].isdigit() for text in left) else texts
    return [_LEADING_ZEROS.sub("", text) for text in texts]


def _day_first(texts: list[str]) -> list[str]:
    return [_iso(text, r"\4-\3-\1") for text in texts]


def _month_first(texts: list[str]) -> list[str]:
    return [_iso(text, r"\4-\1-\3") for text in texts]


def _iso(text: str, order: str) -> str:
    """A text that begins with a date, with this as ISO 8601 has it; any other as it is."""
    for pattern, places in ((_YEAR_LAST, order), (_YEAR_FIRST, r"\1-\3-\4")):
        found = pattern.match(text)
        if found is not None:
            date = "-".join(part.zfill(2) for part in found.expand(places).split("-"))
            return _MIDNIGHT.sub("", date + text[found.end() :])
    return text


_DIGITS, _ALL_DIGITS = 12, 17
"""Decimal digits of a number that programs write at least, and those that every double has."""

_BITS = 40
"""About as much as `_DIGITS`."""


@dataclass(frozen=True, eq=False)
class CellCodes:
    """Two columns as codes."""

    first: IndexArray  # (n,) The cells of the first column
    # (m,) The cells of the second one; cells that are the same have the same code, missing ones -1
    second: IndexArray
    count: int  # how many codes there are, from 0 on

    @property
    def in_place(self) -> bool:
        """Whether each cell is the same as the one beside it."""
        return bool(np.array_equal(self.first, self.second))


def are_numeric(*columns: pd.Series) -> bool:
    """Whether all columns hold numbers, or True and False, as such."""
    return all(
        pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_complex_dtype(column.dtype)
        for column in columns
    )


def cell_codes(first: pd.Series, second: pd.Series, *, loosely: bool = False) -> CellCodes:
    """Codes of two columns: numbers are compared as numbers, everything else as ids are.

    So 7, 7.0 and the text 7 are the same cell, and the text 007 is another one.
    """
    if are_numeric(first, second):
        sides = [_numbers(column) for column in (first, second)]
        if loosely:
            sides = [_to_digits(numbers) for numbers in sides]
        codes, values = pd.factorize(_together(*sides))
    else:
        parts = [pd.factorize(column) for column in (first, second)]
        cells = [part[1].tolist() for part in parts]
        read = alike(*cells) if loosely else [[id_text(value) for value in side] for side in cells]
        texts = [np.array(side, dtype=object) for side in read]
        merged, values = pd.factorize(np.concatenate(texts))
        tables = np.split(merged, [len(texts[0])])
        codes = np.concatenate(
            [np.append(table, -1)[part[0]] for table, part in zip(tables, parts, strict=True)]
        )
    codes = codes.astype(np.intp, copy=False)
    return CellCodes(codes[: len(first)], codes[len(first) :], len(values))


def _numbers(column: pd.Series) -> LongArray | FloatArray:
    """Whole numbers as such, which doubles above 2**53 would not tell apart."""
    if pd.api.types.is_signed_integer_dtype(column.dtype) and not column.isna().any():
        return column.to_numpy(dtype=np.int64)
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _together(first: LongArray | FloatArray, second: LongArray | FloatArray) -> npt.NDArray[Any]:
    """Both in one array, whole numbers that no double can hold as they are."""
    if first.dtype != second.dtype and (_is_wide(first) or _is_wide(second)):
        return np.concatenate([first.astype(object), second.astype(object)])
    return np.concatenate([first, second])


def _is_wide(numbers: LongArray | FloatArray) -> bool:
    """Whether doubles would not tell some of these whole numbers apart."""
    return bool(numbers.dtype == np.int64 and ((numbers > WIDEST) | (numbers < -WIDEST)).any())


def has_digits_cut(column: pd.Series, original: pd.Series) -> bool:
    """Whether a column holds the numbers of the original one, cell by cell, rounded to fewer digits.

    That is to the same number of significant decimal digits, at least `_DIGITS`, as programs write what is
    not whole.
    """
    if not are_numeric(column, original) or not pd.api.types.is_float_dtype(original.dtype):
        return False
    numbers, long = (each.to_numpy(dtype=np.float64, na_value=np.nan) for each in (column, original))
    if not np.array_equal(np.isnan(numbers), np.isnan(long)):
        return False
    apart = (numbers != long) & ~np.isnan(long)
    if (long[apart] == np.rint(long[apart])).any():
        return False
    cells = list(zip(long[apart].tolist(), numbers[apart].tolist(), strict=True))
    return any(
        all(float(f"{number:.{digits}g}") == short for number, short in cells)
        for digits in range(_DIGITS, _ALL_DIGITS)
    )


def _to_digits(values: LongArray | FloatArray) -> LongArray | FloatArray:
    """Numbers that are not whole, rounded to `_BITS`."""
    if values.dtype == np.int64:
        return values
    part = np.isfinite(values) & (values != np.rint(values))
    rounded = values.copy()
    mantissa, exponent = np.frexp(values[part])  # in binary, where no power leaves the range of doubles
    rounded[part] = np.ldexp(np.rint(np.ldexp(mantissa, _BITS)), exponent - _BITS)
    return rounded
