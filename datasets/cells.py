"""A column of one table and a column of another side by side: which cells are the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from datasets.identifiers import id_text

IndexArray = npt.NDArray[np.intp]


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


def are_numeric(*columns: pd.Series) -> bool:
    """Whether all columns hold numbers, or True and False, as such."""
    return all(
        pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_complex_dtype(column.dtype)
        for column in columns
    )


def cell_codes(first: pd.Series, second: pd.Series) -> CellCodes:
    """Codes of two columns: numbers are compared as numbers, everything else as ids are.

    So 7, 7.0 and the text 7 are the same cell, and the text 007 is another one.
    """
    if are_numeric(first, second):
        numbers = [_numbers(column) for column in (first, second)]
        codes, values = pd.factorize(np.concatenate(numbers))
    else:
        parts = [pd.factorize(column) for column in (first, second)]
        texts = [np.array([id_text(value) for value in part[1].tolist()], dtype=object) for part in parts]
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
