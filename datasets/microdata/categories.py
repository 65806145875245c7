"""Categories out of table columns: their names, their order, and the code of every record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import IndexArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.missing import without_codes
from linkrisk.datasets.microdata.numeric import suggestion
from linkrisk.datasets.microdata.roles import CATEGORICAL
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.values import are_numbers, in_order, spelled


@dataclass(frozen=True, eq=False)
class Categories:
    """A column as codes."""

    names: tuple[str, ...]  # the categories, in their order
    codes: IndexArray  # (n,) The category of each record, -1 where it is missing

    @property
    def frequency(self) -> IndexArray:
        """How many records have each category, shape (categories,)."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.names)).astype(np.intp)


def occurring(column: pd.Series) -> Categories:
    """The categories of a column: those of its type, where it is categorical, else the values that occur."""
    codes, values = pd.factorize(column)
    cells = [spelled(value) for value in values]
    if isinstance(column.dtype, pd.CategoricalDtype):
        names = tuple(spelled(value) for value in column.dtype.categories)
    else:
        names = in_order(set(cells))
    return Categories(names, _translated(codes, cells, names))


def coded(column: pd.Series, names: Sequence[str], source: str) -> Categories:
    """A column as codes of given categories."""
    codes, values = pd.factorize(column)
    cells = [spelled(value) for value in values]
    known = set(names)
    for at, cell in enumerate(cells):
        if cell not in known:
            row = int(np.argmax(codes == at)) + 1
            raise DataError(
                f"{source}, column {str(column.name)!r}, row {row}: {cell!r} is not a category"
                f"{suggestion(cell, list(names))}; fix the cell or list the category in the schema"
            )
    return Categories(tuple(names), _translated(codes, cells, names))


def _translated(codes: npt.NDArray[Any], cells: Sequence[str], names: Sequence[str]) -> IndexArray:
    """Codes of `cells` as codes of `names`; -1 stays -1."""
    position = {name: at for at, name in enumerate(names)}
    table = np.array([*(position[cell] for cell in cells), -1], dtype=np.intp)
    return np.asarray(table[codes], dtype=np.intp)


def with_names(column: pd.Series, names: Sequence[str], codes: IndexArray) -> pd.Series:
    """A column of categories given by codes (-1: missing), of the kind of `column` where names allow it.

    Numbers stay numbers where all names spell some, categorical columns stay categorical.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        kind = pd.CategoricalDtype(list(names), ordered=column.dtype.ordered)
        return pd.Series(
            pd.Categorical.from_codes(codes.tolist(), dtype=kind), column.index, name=column.name
        )
    cells: list[Any] = [*names]
    if pd.api.types.is_bool_dtype(column.dtype) and set(names) <= {"True", "False"}:
        cells = [name == "True" for name in names]
    elif pd.api.types.is_numeric_dtype(column.dtype) and are_numbers(names):
        whole = pd.api.types.is_integer_dtype(column.dtype) or (
            (codes >= 0).all() and all(name.lstrip("-").isdigit() for name in names)
        )
        cells = [int(name) if whole and name.lstrip("-").isdigit() else float(name) for name in names]
    if (codes < 0).any():
        missing = np.nan if all(isinstance(cell, float) for cell in cells) else None
        cells = [*cells, missing]
    return pd.Series([cells[code] for code in codes.tolist()], column.index, name=column.name)


def categories_of(frame: pd.DataFrame, name: str, schema: Schema | None, source: str) -> Categories:
    """The categories of an attribute; of a numeric one, all values except for missing codes."""
    if schema is None:
        return occurring(frame[name])
    declared = schema.get(name)
    column = without_codes(frame[name], declared.missing)
    if declared.categories and declared.scale in CATEGORICAL:
        return coded(column, declared.categories, source)
    return occurring(column)
