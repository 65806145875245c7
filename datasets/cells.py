"""A column of one table and a column of another side by side: which cells are the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from datasets.identifiers import id_text
from datasets.written import alike

IndexArray = npt.NDArray[np.intp]

_DIGITS = 12
_BITS = 40
"""Significant ones of a number, about `_DIGITS` decimal digits."""


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
        `datasets.written.alike` reads it.
    """
    if are_numeric(first, second):
        numbers = np.concatenate([_numbers(column) for column in (first, second)])
        codes, values = pd.factorize(_to_digits(numbers) if loosely else numbers)
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


def _numbers(column: pd.Series) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
    """Whole numbers as such, which doubles above 2**53 would not tell apart."""
    if pd.api.types.is_signed_integer_dtype(column.dtype) and not column.isna().any():
        return column.to_numpy(dtype=np.int64)
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def same_numbers(first: pd.Series, second: pd.Series) -> bool:
    """Whether two columns hold the same numbers, cell by cell, but for the digits that a program cuts off."""
    if not are_numeric(first, second):
        return False
    one, other = (column.to_numpy(dtype=np.float64, na_value=np.nan) for column in (first, second))
    return bool(np.allclose(one, other, rtol=10.0**-_DIGITS, atol=0.0, equal_nan=True))


def _to_digits(
    values: npt.NDArray[np.int64] | npt.NDArray[np.float64],
) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
    """Numbers that are not whole, rounded to `_BITS`."""
    if values.dtype == np.int64:
        return values
    part = np.isfinite(values) & (values != np.rint(values))
    rounded = values.copy()
    mantissa, exponent = np.frexp(values[part])  # in binary, where no power leaves the range of doubles
    rounded[part] = np.ldexp(np.rint(np.ldexp(mantissa, _BITS)), exponent - _BITS)
    return rounded
