"""Values of columns: their kinds, their names as categories, text without blanks."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from enum import Enum
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd

from linkrisk.datasets.microdata.names import with_columns

_LARGEST_WHOLE = 1e15
"""Doubles below this that are whole are spelled without a point."""


def spelled(value: object) -> str:
    """A cell as the name of a category: 7, 7.0 and "7" are the same one."""
    if isinstance(value, bool | np.bool_ | str):
        return str(value)
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        number = float(value)
        whole = number.is_integer() and abs(number) < _LARGEST_WHOLE
        return str(int(number)) if whole else repr(number)
    return str(value)


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Names ascending: as numbers where all of them spell numbers, else by their letters."""
    listed = list(names)
    numbers = [_number(name) for name in listed]
    if any(math.isnan(number) for number in numbers):
        return tuple(sorted(listed))
    return tuple(name for _, name in sorted(zip(numbers, listed, strict=True)))


def in_natural_order(names: Iterable[str]) -> tuple[str, ...]:
    """Names ascending as `in_order`, but numbers within text by their size: c1, c2, c10."""
    listed = list(names)
    return in_order(listed) if are_numbers(listed) else tuple(sorted(listed, key=_parts))


def _parts(name: str) -> tuple[list[str | tuple[int, str]], str]:
    """Text and numbers in turn, then the name itself, since 01 and 1 are the same number."""
    # Digits are compared by their number first: they may be more than an int is made of.
    found = [one.lstrip("0") if at % 2 else one for at, one in enumerate(re.split("([0-9]+)", name))]
    return [(len(one), one) if at % 2 else one for at, one in enumerate(found)], name


def are_numbers(names: Iterable[str]) -> bool:
    """Whether all names spell numbers, so that their order needs no list."""
    return not any(math.isnan(_number(name)) for name in names)


def _number(name: str) -> float:
    try:
        return float(name)
    except ValueError:
        return math.nan


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


def without_blanks(frame: pd.DataFrame) -> pd.DataFrame:
    """Strip the blanks around text cells; text without anything else becomes a missing value."""
    columns = {}
    for name in frame.columns:
        before = frame[name]
        made = _stripped(before)
        if made is not before:
            columns[name] = made
    return with_columns(frame, columns) if columns else frame


def _stripped(column: pd.Series) -> pd.Series:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _stripped_categories(column)
    if column.dtype != object and not pd.api.types.is_string_dtype(column.dtype):
        return column
    if column.dtype != object:
        texts = column.str.strip()
        same = texts.eq(column) | column.isna()
        return column if same.all() and not column.eq("").any() else texts.mask(texts.eq(""))
    cells = column.to_list()
    made = [_cell(cell) for cell in cells]
    if all(new is old for new, old in zip(made, cells, strict=True)):
        return column
    known = [cell for cell in made if not pd.isna(cell)]
    if known and all(type(cell) in (int, float) for cell in known):
        return pd.Series(pd.to_numeric(pd.Series(made, column.index, dtype=object)), name=column.name)
    return pd.Series(made, column.index, dtype=object, name=column.name)


def _cell(cell: Any) -> Any:
    """A cell without blanks at its ends; None where it has nothing else."""
    if not isinstance(cell, str):
        return cell
    text = cell.strip()
    return cell if text == cell and text else text or None


def _stripped_categories(column: pd.Series) -> pd.Series:
    names = list(column.cat.categories)
    made = [_cell(name) for name in names]
    if all(new is old for new, old in zip(made, names, strict=True)):
        return column
    kept = list(dict.fromkeys(name for name in made if name is not None))
    place = {name: at for at, name in enumerate(kept)}
    table = np.array([*(-1 if name is None else place[name] for name in made), -1], dtype=np.intp)
    kind = pd.CategoricalDtype(kept, ordered=column.cat.ordered)
    codes = table[column.cat.codes.to_numpy()]
    return pd.Series(pd.Categorical.from_codes(codes, dtype=kind), column.index, name=column.name)
