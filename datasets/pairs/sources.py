"""Several sources of what an intruder knows, joined by id into one original table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.category_names import spelled
from linkrisk.datasets.microdata.formats.base import ColumnNotes
from linkrisk.datasets.microdata.numeric import check_known
from linkrisk.datasets.microdata.tables import Table
from linkrisk.datasets.pairs.identifiers import record_ids
from linkrisk.errors import called


def joined_sources(sources: Sequence[Table], id_column: str) -> Table:
    """All that several sources know of a record, side by side.

    Every record of any source is one of the result: an intruder knows whom he knows from anywhere. What no
    source says of a record is missing. Where two sources say something of the same, they must agree.

    Parameters
    ----------
    sources : sequence of Table
        At least one.
    id_column : str
        Identifies the records in all of them.

    Returns
    -------
    Table
        Records in the order in which sources first have them, columns likewise.

    Raises
    ------
    DataError
        If a source does not have the column, an id is missing or given twice, or two sources disagree.
    """
    for table in sources:
        check_known([id_column], table.columns, table.source, option="id")
    own = [record_ids(table.frame, id_column, table.source) for table in sources]
    ids = pd.Index(list(dict.fromkeys(each for listed in own for each in listed)), dtype=object)
    columns: dict[str, pd.Series] = {id_column: pd.Series(ids)}
    said_by: dict[str, str] = {}
    for table, listed in zip(sources, own, strict=True):
        rows = pd.Index(listed, dtype=object).get_indexer(ids)
        for name in table.columns:
            if name == id_column:
                continue
            found = table.frame[name].reindex(rows).reset_index(drop=True)
            if name in said_by:
                _check_agreement(columns[name], found, ids, (said_by[name], table.source))
                found = _both(columns[name], found)
            columns[name] = found
            said_by.setdefault(name, table.source)
    notes: dict[str, ColumnNotes] = {}
    for table in reversed(sources):
        notes |= table.notes
    return Table(
        pd.DataFrame(columns),
        " with ".join(table.source for table in sources),
        notes=notes,
        remarks=_remarks(sources, own),
    )


def _remarks(sources: Sequence[Table], own: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """What was said of each source, and how many records are not in all of them."""
    said = tuple(dict.fromkeys(remark for table in sources for remark in table.remarks))
    sets = [set(listed) for listed in own]
    everybody, everywhere = set.union(*sets), set.intersection(*sets)
    if (alone := len(everybody) - len(everywhere)) == 0:
        return said
    return (*said, f"{alone:,} of {len(everybody):,} records are not in every source")


def _check_agreement(first: pd.Series, second: pd.Series, ids: pd.Index, who: tuple[str, str]) -> None:
    """Raise a DataError for the first record of which two sources say different things."""
    known = (first.notna() & second.notna()).to_numpy(dtype=bool)
    apart = np.zeros(len(first), dtype=bool)
    apart[known] = _differ(first[known], second[known])
    if apart.any():
        at = int(np.argmax(apart))
        values = (spelled(series.iloc[at]) for series in (first, second))
        raise DataError(
            f"{who[0]} and {who[1]} disagree on column {str(second.name)!r} of record {ids[at]!r}: "
            f"{' and '.join(map(repr, values))}; correct one of them, rename the column if it is another "
            f"attribute, or give versions of one file with {called('versions', True)}",
            option="versions",
        )


def _differ(first: pd.Series, second: pd.Series) -> npt.NDArray[np.bool_]:
    """Where two columns of known values differ; 7, 7.0 and "7" are the same."""
    if _numeric(first, second):
        return np.asarray(first.to_numpy(dtype=np.float64) != second.to_numpy(dtype=np.float64))
    pairs = zip(first.tolist(), second.tolist(), strict=True)
    return np.array([spelled(one) != spelled(other) for one, other in pairs], dtype=bool)


def _both(first: pd.Series, second: pd.Series) -> pd.Series:
    """What the first column says, and where it says nothing, what the second one does."""
    if first.dtype != second.dtype:
        kind = np.float64 if _numeric(first, second) else object
        first, second = first.astype(kind), second.astype(kind)
    return first.where(first.notna(), second)


def _numeric(*columns: pd.Series) -> bool:
    return all(pd.api.types.is_numeric_dtype(column.dtype) for column in columns)
