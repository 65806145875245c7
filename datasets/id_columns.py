"""Columns that say who is who though nobody has named one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from datasets.cells import cell_codes
from datasets.tables import Table
from datasets.written import NEARLY_ALL

_MOST = 0.5
"""Of the cells of a column of text, more than these are no numbers."""


def text_id(first: Table, second: Table, names: Iterable[str]) -> str | None:
    """The first column of text that holds (nearly) the same values in two tables, each of them once.

    Parameters
    ----------
    first, second : Table
    names : iterable of str
        Columns of both, those that are looked at.

    Returns
    -------
    str or None
        What `--id` could be; None where there is no such column.
    """
    for name in names:
        columns = (first.frame[name], second.frame[name])
        once = all(column.is_unique and not column.isna().any() for column in columns)
        if once and any(_is_text(column) for column in columns):
            codes = cell_codes(*columns, loosely=True)
            shared = np.isin(codes.first, codes.second).sum()
            if shared >= NEARLY_ALL * min(len(codes.first), len(codes.second)):
                return name
    return None


def _is_text(column: pd.Series) -> bool:
    return bool(pd.to_numeric(column.astype("str"), errors="coerce").isna().mean() > _MOST)
