"""Declared missing codes: values such as 9 or 99999 that stand for no answer."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError


@dataclass(frozen=True)
class MissingRange:
    """All numbers from `low` to `high`, both ends included; infinite where there is no end."""

    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        if math.isnan(self.low) or math.isnan(self.high) or self.low > self.high:
            raise DataError(
                f"no number is between {self.low:g} and {self.high:g}; give the smaller end first"
            )
        if math.isinf(self.low) and math.isinf(self.high):
            raise DataError("a range of missing codes needs at least one end")


Missing = tuple[str | MissingRange, ...]
"""Codes that stand for a missing value, as they are spelled in a file, and ranges of numbers."""


def is_declared_missing(column: pd.Series, missing: Missing) -> npt.NDArray[np.bool_]:
    """Which cells have a declared missing code.

    In a column of numbers a code is the number that it spells (99 and 99.0 are one), in a column of text
    exactly what stands there (09 is not 9).

    Returns (n,).
    """
    codes = {each for each in missing if isinstance(each, str)}
    numeric = pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)
    values = pd.to_numeric(column.astype("object"), errors="coerce").to_numpy(dtype=np.float64)
    if numeric:
        found = np.isin(values, [number for number in map(_number, codes) if not math.isnan(number)])
    else:
        found = column.astype("object").map(str).isin(codes).to_numpy(dtype=bool)
    for each in missing:
        if isinstance(each, MissingRange):
            found = found | ((values >= each.low) & (values <= each.high))
    return np.asarray(found & column.notna().to_numpy(dtype=bool))


def without_codes(column: pd.Series, missing: Missing) -> pd.Series:
    """The column with missing values in the place of declared missing codes; itself where it has none."""
    if not missing:
        return column
    found = is_declared_missing(column, missing)
    return column.mask(pd.Series(found, column.index)) if found.any() else column


def with_codes(column: pd.Series, original: pd.Series, where: npt.NDArray[np.bool_]) -> pd.Series:
    """The column with the cells of the original one in some places: missing codes that masking keeps."""
    if not where.any():
        return column
    codes = original[where]
    restored = column.copy() if pd.api.types.is_numeric_dtype(codes.dtype) else column.astype("object")
    restored[where] = codes
    return restored


def overlapping(codes: Iterable[str], missing: Missing) -> list[str]:
    """Those of the codes that are declared missing."""
    listed = list(codes)
    found = is_declared_missing(pd.Series(listed, dtype=object), missing)
    return [code for code, is_missing in zip(listed, found.tolist(), strict=True) if is_missing]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
