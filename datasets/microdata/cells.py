"""A column of one table and a column of another side by side: which cells are the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import FloatArray, IndexArray, LongArray
from linkrisk.datasets.microdata.cell_text import alike
from linkrisk.datasets.pairs.identifiers import id_text

_DIGITS, _ALL_DIGITS = 12, 17
"""Decimal digits of a number that programs write at least, and those that every double has."""

_BITS = 40
"""About as much as `_DIGITS`."""

_WIDEST = 2**53
"""Doubles hold all whole numbers up to this."""


@dataclass(frozen=True, eq=False)
class CellCodes:
    """Two columns as codes.

    Attributes
    ----------
    first : intp array (n,)
        The cells of the first column.
    second : intp array (m,)
        The cells of the second one; cells that are the same have the same code, missing ones -1.
    count : int
        How many codes there are, from 0 on.
    """

    first: IndexArray
    second: IndexArray
    count: int

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

    Parameters
    ----------
    first, second : Series
    loosely : bool
        Whether cells are the same that programs write differently: numbers to twelve digits, text as
        `datasets.microdata.cell_text.alike` reads it.
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
    return bool(numbers.dtype == np.int64 and ((numbers > _WIDEST) | (numbers < -_WIDEST)).any())


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
