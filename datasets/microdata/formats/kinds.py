"""What the values of a column are, and columns as formats with few types take them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np
import pandas as pd

from linkrisk.datasets.microdata.category_names import spelled

WIDEST = 2**53
"""Doubles hold all whole numbers up to this."""


class Kind(Enum):
    """Values of one kind; missing ones beside them."""

    LOGICAL = "logical"
    WHOLE = "whole"
    NUMBER = "number"
    DATE = "date"
    MOMENT = "moment"
    TIME = "time"
    TEXT = "text"
    MIXED = "mixed"


_INFERRED = {
    "string": Kind.TEXT,
    "empty": Kind.TEXT,
    "boolean": Kind.LOGICAL,
    "integer": Kind.WHOLE,
    "floating": Kind.NUMBER,
    "mixed-integer-float": Kind.NUMBER,
    "decimal": Kind.NUMBER,
    "date": Kind.DATE,
    "datetime": Kind.MOMENT,
    "datetime64": Kind.MOMENT,
    "time": Kind.TIME,
}


def kind_of(column: pd.Series) -> Kind:
    """What the values of a column are."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return kind_of(pd.Series(dtype.categories))
    if pd.api.types.is_bool_dtype(dtype):
        return Kind.LOGICAL
    if pd.api.types.is_integer_dtype(dtype):
        return Kind.WHOLE
    if pd.api.types.is_float_dtype(dtype):
        return Kind.NUMBER
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return Kind.MOMENT
    return _INFERRED.get(pd.api.types.infer_dtype(column, skipna=True), Kind.MIXED)


def plain(column: pd.Series) -> pd.Series:
    """A column whose values are not kept by pyarrow, nor as categories."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return pd.Series(cells_of(column), column.index, dtype=column.cat.categories.dtype, name=column.name)
    if not isinstance(column.dtype, pd.ArrowDtype):
        return column
    import pyarrow

    return pd.Series(pyarrow.array(column).to_pandas().array, column.index, name=column.name)


def has_zone(column: pd.Series) -> bool:
    """Whether a column has dates and times of a time zone."""
    return isinstance(plain(column).dtype, pd.DatetimeTZDtype)


def cells_of(column: pd.Series) -> list[Any]:
    """The values as Python's own, None where one is missing."""
    objects = column.astype(object)
    return objects.where(column.notna(), None).tolist()


def is_wide(column: pd.Series) -> bool:
    """Whether a column has whole numbers that no double holds."""
    if kind_of(column) is not Kind.WHOLE:
        return False
    return any(value is not None and abs(int(value)) > WIDEST for value in _extremes(column))


def _extremes(column: pd.Series) -> Sequence[Any]:
    values = column.dropna()
    if isinstance(column.dtype, pd.CategoricalDtype):
        values = values.astype(object)
    return [] if values.empty else [values.min(), values.max()]


def as_text(column: pd.Series) -> pd.Series:
    """A column as text, spelled as categories are; None where a value is missing."""
    if kind_of(column) is Kind.TEXT:
        return column.astype(object).where(column.notna(), None)
    texts = [None if value is None else spelled(value) for value in cells_of(column)]
    return pd.Series(texts, column.index, dtype=object, name=column.name)


def as_doubles(column: pd.Series) -> pd.Series:
    """A column of numbers or logical values as doubles, NaN where one is missing."""
    if column.dtype.kind in "biuf":
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        values = np.array([np.nan if cell is None else float(cell) for cell in cells_of(column)], dtype=float)
    return pd.Series(values, column.index, dtype=np.float64, name=column.name)


def narrowed(column: pd.Series) -> pd.Series:
    """A column of doubles as whole numbers where all are whole, none is missing and doubles hold them."""
    values = column.to_numpy(dtype=np.float64)
    whole = len(values) > 0 and np.isfinite(values).all() and (np.abs(values) <= WIDEST).all()
    if not whole or (values != np.trunc(values)).any() or (np.signbit(values) & (values == 0)).any():
        return column
    return column.astype(np.int64)
