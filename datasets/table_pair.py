"""Two tables and the truth between them: which record of one is which of the other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from datasets.errors import DataError
from datasets.files import read_table
from datasets.identifiers import match_ids, record_ids
from datasets.numeric import check_known


@dataclass(frozen=True, eq=False)
class Table:
    """A table with what to call it in messages."""

    frame: pd.DataFrame
    source: str

    @property
    def columns(self) -> list[str]:
        """Names of its columns."""
        return list(self.frame.columns)


@dataclass(frozen=True, eq=False)
class TablePair:
    """An original table, its masked version, and the truth about who is who.

    Attributes
    ----------
    original, masked : Table
        n and m records, numbered from 0, all columns.
    partner : intp array (n,)
        The masked row of each original record, -1 for an original record that has none.
    original_labels, masked_labels : tuple of str, lengths n and m
        What to call the records: their ids, or their row numbers from 1.
    """

    original: Table
    masked: Table
    partner: npt.NDArray[np.intp]
    original_labels: tuple[str, ...]
    masked_labels: tuple[str, ...]

    @property
    def name(self) -> str:
        """What to call the pair."""
        return f"{self.original.source} and {self.masked.source}"


def make_table_pair(
    original: Any,
    masked: Any,
    *,
    id_column: str | None = None,
    original_name: str = "original",
    masked_name: str = "masked",
) -> TablePair:
    """Read two tables and find out who is who.

    Parameters
    ----------
    original, masked : str, Path or frame
        CSV or Parquet files, or pandas frames, or frames of another library with a `to_pandas` method.
    id_column : str, optional
        The column that says who is who; the tables may then have different records. Without it the tables
        are aligned row by row and must be equally long.
    original_name, masked_name : str
        What to call the tables in messages when they are not files.

    Returns
    -------
    TablePair
        With at least two records on either side, at least one pair of partners.

    Raises
    ------
    DataError
        On any input that cannot be used, with one line that says what, where and how to mend it.
    """
    first, second = load_tables(original, masked, id_column, (original_name, masked_name))
    return TablePair(first, second, *truth_between(first, second, id_column))


def load_tables(
    original: Any, masked: Any, id_column: str | None, names: tuple[str, str]
) -> tuple[Table, Table]:
    """Read two tables of at least two records each (see `make_table_pair`)."""
    first, second = load_table(original, names[0], id_column), load_table(masked, names[1], id_column)
    for table in (first, second):
        if len(table.frame) < 2:
            raise DataError(f"{table.source} has fewer than two records; linkage needs at least two")
        if id_column is not None:
            check_known([id_column], table.columns, table.source, what="--id")
    return first, second


def load_table(table: Any, name: str, id_column: str | None = None) -> Table:
    """Read a file, or take a frame as it is, with rows numbered from 0 and columns named by text.

    Raises
    ------
    DataError
        If it is neither, or two columns have the same name.
    """
    if isinstance(table, str | Path):
        # Ids stay text, so that 007 and 7 remain two records.
        return Table(read_table(table, text_columns=() if id_column is None else (id_column,)), str(table))
    if not isinstance(table, pd.DataFrame):
        convert = getattr(table, "to_pandas", None)
        table = convert() if callable(convert) else table
    if not isinstance(table, pd.DataFrame):
        raise DataError(
            f"{name} is a {type(table).__name__}; give a file name or a table (pandas, polars, pyarrow)"
        )
    frame = table.reset_index(drop=True)
    frame.columns = pd.Index([str(column) for column in frame.columns])
    twins = frame.columns[frame.columns.duplicated()]
    if len(twins):
        raise DataError(f"{name} has two columns named {twins[0]!r}; rename one of them")
    return Table(frame, name)


def truth_between(
    first: Table, second: Table, id_column: str | None
) -> tuple[npt.NDArray[np.intp], tuple[str, ...], tuple[str, ...]]:
    """The partner of each original record, and the labels of both tables (see `make_table_pair`)."""
    if id_column is not None:
        original_ids = record_ids(first.frame, id_column, first.source)
        masked_ids = record_ids(second.frame, id_column, second.source)
        partner = match_ids(original_ids, masked_ids)
        if not (partner >= 0).any():
            raise DataError(
                f"{first.source} and {second.source} have no id in common in column {id_column!r} "
                f"(for example {original_ids[0]!r} and {masked_ids[0]!r}); is it the same id?"
            )
        return partner, original_ids, masked_ids
    if len(first.frame) != len(second.frame):
        raise DataError(
            f"{first.source} has {len(first.frame)} records and {second.source} has {len(second.frame)}; "
            "name the column that says who is who with --id"
        )
    labels = tuple(str(row) for row in range(1, len(first.frame) + 1))
    return np.arange(len(first.frame), dtype=np.intp), labels, labels
