"""Categories that two tables spell differently: 007 in one and 7 in the other are one category."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from linkrisk.datasets.microdata.category_names import spelled
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.microdata.tables import Table

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_LOGICAL = {"true", "false"}


def spelled_alike(tables: Sequence[Table], listed: Mapping[str, Sequence[str]]) -> list[Table]:
    """Tables whose categories have one spelling where they can only mean the same.

    A spreadsheet writes the code 007 as 7, other programs write 7 as 7.0, or True as TRUE. Such a spelling is
    replaced by the one of the schema, or else of the first table, unless a table or the schema has both and
    so tells them apart.

    Parameters
    ----------
    tables : sequence of Table
        The original, the masked one, perhaps others.
    listed : mapping of str to sequence of str
        The columns compared as categories, with those that a schema lists.

    Returns
    -------
    list of Table
        The same tables, with other ones in the place of those that change.
    """
    made = list(tables)
    for name, categories in listed.items():
        holders = [at for at, table in enumerate(made) if name in table.columns]
        columns = [made[at].frame[name] for at in holders]
        for at, column in zip(holders, _alike(columns, categories), strict=True):
            if column is not made[at].frame[name]:
                made[at] = replace(made[at], frame=with_columns(made[at].frame, {name: column}))
    return made


def _alike(columns: Sequence[pd.Series], listed: Sequence[str]) -> list[pd.Series]:
    chosen: dict[str, str] = {}
    told_apart: set[str] = set()
    for names in (listed, *([spelled(value) for value in _values(column)] for column in columns)):
        meanings: dict[str, str] = {}
        for name in names:
            if meanings.setdefault(_meaning(name), name) != name:
                told_apart.add(_meaning(name))
        chosen = {**meanings, **chosen}
    one = {meaning: name for meaning, name in chosen.items() if meaning not in told_apart}
    changed = []
    for column in columns:
        cells = {value: spelled(value) for value in _values(column)}
        renamed = {value: one.get(_meaning(cell), cell) for value, cell in cells.items()}
        changed.append(column if renamed == cells else _renamed(column, renamed))
    return changed


def _values(column: pd.Series) -> Iterable[object]:
    """The different values of a column, those of its type where it is categorical."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return list(column.dtype.categories)
    values = column.dropna().unique()
    # Texts that Arrow holds become Python's one by one otherwise, which takes ten times as long.
    return (
        np.asarray(values, dtype=object).tolist()
        if isinstance(column.dtype, pd.StringDtype)
        else list(values)
    )


def _renamed(column: pd.Series, names: Mapping[object, str]) -> pd.Series:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.rename_categories({value: names.get(value, value) for value in _values(column)})
    codes, values = pd.factorize(column)
    cells = [names.get(value, value) for value in values] + [None]
    return pd.Series([cells[code] for code in codes.tolist()], column.index, dtype=object, name=column.name)


def _meaning(name: str) -> str:
    """Equal for spellings of the same number, or of the same logical value."""
    text = name.strip()
    if text.lower() in _LOGICAL:
        return text.lower()
    return repr(float(text)) if _NUMBER.fullmatch(text) else name
