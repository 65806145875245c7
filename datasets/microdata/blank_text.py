"""Text cells as their owner means them: without blanks at their ends, missing where nothing else is left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from linkrisk.datasets.microdata.names import with_columns


def without_blanks(frame: pd.DataFrame) -> pd.DataFrame:
    """Strip the blanks around text cells; text without anything else becomes a missing value.

    Parameters
    ----------
    frame : DataFrame
        Columns of any type.

    Returns
    -------
    DataFrame
        The same one where no cell changes.
    """
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
