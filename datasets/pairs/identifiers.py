"""Who belongs to whom: match the records of two tables by an id column."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError

_WHOLE_FLOAT = re.compile(r"[+-]?\d+\.0+")


def record_ids(frame: pd.DataFrame, id_column: str, source: str) -> tuple[str, ...]:
    """Read the ids of a table as text, so that 1, 1.0, "1" and "1.0" name the same record.

    Parameters
    ----------
    frame : DataFrame
        The table, n rows.
    id_column : str
        Its column of ids.
    source : str
        What to call the table in messages.

    Returns
    -------
    tuple of str, length n
        Distinct ids.

    Raises
    ------
    DataError
        If an id is missing or given twice.
    """
    series = frame[id_column]
    missing = series.isna().to_numpy(dtype=bool)
    if missing.any():
        row = int(np.argmax(missing)) + 1
        raise DataError(
            f"{source}, column {id_column!r}, row {row}: missing id; fill it in or drop the record"
        )
    ids = tuple(id_text(value) for value in series.to_list())
    first_row: dict[str, int] = {}
    for row, identifier in enumerate(ids, start=1):
        if identifier in first_row:
            raise DataError(
                f"{source}, column {id_column!r}: the id {identifier!r} is in rows "
                f"{first_row[identifier]} and {row}; ids must be unique"
            )
        first_row[identifier] = row
    return ids


def match_ids(original_ids: tuple[str, ...], masked_ids: tuple[str, ...]) -> npt.NDArray[np.intp]:
    """Find the masked row of each original id.

    Returns
    -------
    intp array, as long as `original_ids`
        The row in `masked_ids` with the same id, -1 where there is none.
    """
    row_of = {identifier: row for row, identifier in enumerate(masked_ids)}
    return np.array([row_of.get(identifier, -1) for identifier in original_ids], dtype=np.intp)


def id_text(value: object) -> str:
    """An id as text: a whole number may be written as 7, 7.0, "7" or "7.0"."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = str(value).strip()
    return text.split(".")[0] if "." in text and _WHOLE_FLOAT.fullmatch(text) else text
