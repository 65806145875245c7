"""Numbers of respondents that are published beside the values of a table: counts of the same cells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.tables.cells_and_relations import FIXED, SAFE, SENSITIVE, StoredTable
from linkrisk.datasets.tables.numbers import numbers_of
from linkrisk.datasets.tables.own_columns import BESIDE, STATUS
from linkrisk.errors import called


def with_beside(cells: pd.DataFrame, least: int) -> pd.DataFrame:
    """Cells whose numbers of respondents are published, and what a reader must think that these could be.

    Parameters
    ----------
    cells : DataFrame
        With `respondents` and `status`.
    least : int
        Fewer respondents are sensitive; 0 where there is no such rule.
    """
    count = cells["respondents"]
    made = with_columns(cells, {BESIDE: count})
    if least:
        below = (cells["status"] == SENSITIVE) & (count < least)
        made["threshold"] = np.where(below, float(least), np.nan)
    return made


def split_beside(stored: StoredTable) -> tuple[StoredTable, StoredTable | None]:
    """A table of values, and that of the numbers of respondents that are published beside them.

    Both have the same cells, relations and statuses: what is suppressed in one is in the other. Cells that
    nobody is in are published in both, as their number says that their value is 0. Of a sensitive cell
    another number of respondents has to stay possible, and the threshold of a rule be reached.

    Parameters
    ----------
    stored : StoredTable

    Returns
    -------
    StoredTable
        That of the values.
    StoredTable or None
        That of the counts; None where none are published.

    Raises
    ------
    DataError
        If a number is none, or the values are counts themselves.
    """
    if BESIDE not in stored.cells.columns:
        return stored, None
    count = _counts_of(stored)
    status = np.where((count == 0) & (stored.status == SAFE), FIXED, stored.status)
    sensitive = status == SENSITIVE
    numbers = {"value": count, "sliding_protection": np.where(sensitive, 1.0, 0.0)}
    if "threshold" in stored.numbers:
        numbers["threshold"] = np.where(sensitive, stored.numbers["threshold"], np.nan)
    codes = {name: stored.cells[name] for name in stored.by}
    cells = pd.DataFrame({**codes, **numbers, "respondents": count, STATUS: status})
    name = f"{stored.name}, {BESIDE}"
    counts = replace(stored, cells=cells, numbers=numbers, status=status, name=name, counts=True)
    return replace(stored, status=status, cells=with_columns(stored.cells, {STATUS: status})), counts


def _counts_of(stored: StoredTable) -> FloatArray:
    """The numbers of respondents of all cells."""
    if stored.counting:
        raise DataError(
            f"{stored.name}: the values are counts themselves; leave the column {BESIDE!r} out, or say that "
            f"they are none ({called('counts', False)})",
            option="counts",
        )
    count = numbers_of(stored.cells, [BESIDE], stored.name, allow_missing=True)[:, 0]
    for wrong, why in (
        (np.isnan(count), "is empty; give the numbers of all cells, or leave the column out"),
        ((count != np.round(count)) | (count < 0), "is no number of respondents; correct it"),
        ((count == 0) & (stored.numbers["value"] != 0), "is 0, and the value is not; correct one of them"),
    ):
        if wrong.any():
            at = int(np.argmax(wrong))
            raise DataError(f"{stored.name}, column {BESIDE!r}, row {at + 1} ({stored.title(at)}): it {why}")
    return count


def refuse_beside(stored: StoredTable, what: str) -> None:
    """Refuse numbers of respondents where only values are protected: they would be forgotten.

    Raises
    ------
    DataError
    """
    if BESIDE in stored.cells.columns:
        raise DataError(
            f"{stored.name} has numbers of respondents that are published beside its values, and {what} does "
            f"nothing to them; suppress cells instead (tables suppress), or leave the column {BESIDE!r} out"
        )


def with_thresholds(stored: StoredTable, counts: StoredTable) -> StoredTable:
    """A table of values with thresholds that the numbers of respondents beside them can reach."""
    if "threshold" not in stored.numbers:
        return stored
    lowered = counts.numbers["threshold"]
    return replace(
        stored,
        cells=stored.cells.assign(threshold=lowered),
        numbers={**stored.numbers, "threshold": lowered},
    )
