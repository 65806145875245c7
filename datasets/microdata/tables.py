"""A table with its name: read from a file, or taken from a frame of any library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.base import ColumnNotes, Dialect
from linkrisk.datasets.microdata.formats.delimited import written_columns
from linkrisk.datasets.microdata.formats.parquet import own_labels, split_labels
from linkrisk.datasets.microdata.formats.registry import DELIMITED, read_file
from linkrisk.datasets.microdata.values import without_blanks


@dataclass(frozen=True, eq=False)
class Table:
    """A table with what to call it in messages."""

    frame: pd.DataFrame  # columns named by text, rows numbered from 0
    source: str  # what to call it
    labels: pd.Index | None = None  # what its rows were called, where that was not their number from 0
    indexed: bool = False  # whether it was a pandas frame, whose rows have labels whatever these are
    path: Path | None = None  # the file that it was read from
    # what its file says of its columns: labels, missing codes, measures
    notes: Mapping[str, ColumnNotes] = field(default_factory=dict)
    dialect: Dialect = field(default_factory=Dialect)  # how its file was written
    remarks: tuple[str, ...] = ()  # what was detected when it was read, a line each
    # columns as they are written, of those in which codes that are declared missing were taken out
    coded: Mapping[str, pd.Series] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """Names of its columns."""
        return list(self.frame.columns)

    def written(self, rows: Mapping[str, int]) -> dict[str, str]:
        """What stands in one missing cell each of some columns of a text file, such as NA, or nothing.

        `rows` says in which row of each column; what is not in a text file is nothing.
        """
        if not rows or self.path is None or self.path.suffix.lower() not in DELIMITED.suffixes:
            return dict.fromkeys(rows, "")
        cells = written_columns(self.path, list(rows), max(rows.values()) + 1)
        found = {name: cells[name].iloc[row] for name, row in rows.items()}
        return {name: cell if isinstance(cell, str) else "" for name, cell in found.items()}


def load_table(table: Any, name: str, text_columns: Sequence[str] = ()) -> Table:
    """Read a file, or take a frame, with rows numbered from 0 and columns named by text.

    Blanks around text cells are stripped, and text of blanks alone is a missing value.

    Parameters
    ----------
    table : str, Path, frame, ndarray or Table
        A file of any format (`datasets.microdata.formats.registry`), a pandas frame, a frame of another
        library with a `to_pandas` method, or an array (n, a), whose columns are called V1, V2, ...;
        or a table that was loaded before, which stays as it is.
    name : str
        What to call a frame in messages.
    text_columns : sequence of str
        Columns of a text file that hold names and not numbers.

    Raises
    ------
    DataError
        If it is neither, or two columns have the same name.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> table = linkrisk.data.load_table(iris, "flowers")
    >>> table.frame.shape
    (15, 4)
    """
    if isinstance(table, Table):
        return table
    if isinstance(table, str | Path):
        stored = read_file(table, text_columns=text_columns)
        return Table(
            without_blanks(stored.frame),
            str(table),
            stored.labels,
            path=Path(table),
            notes=stored.columns,
            dialect=stored.dialect,
            remarks=stored.remarks,
        )
    if isinstance(table, np.ndarray):
        return Table(without_blanks(_frame_of(table, name)), name)
    indexed = isinstance(table, pd.DataFrame)
    if indexed:
        frame, labels = table.reset_index(drop=True), own_labels(table)
    else:
        convert = getattr(table, "to_pandas", None)
        converted = convert() if callable(convert) else None
        if not isinstance(converted, pd.DataFrame):
            raise DataError(
                f"{name} is a {type(table).__name__}; give a file name or a table (pandas, polars, pyarrow, "
                "numpy)"
            )
        frame, labels = split_labels(converted)
    frame.columns = pd.Index([str(column) for column in frame.columns])
    twins = frame.columns[frame.columns.duplicated()]
    if len(twins):
        raise DataError(f"{name} has two columns named {twins[0]!r}; rename one of them")
    return Table(without_blanks(frame), name, labels, indexed)


def _frame_of(values: npt.NDArray[Any], name: str) -> pd.DataFrame:
    """An array of records by attributes as a frame; its columns have the names that R gives them too."""
    if values.ndim != 2:
        raise DataError(
            f"{name} is an array with {values.ndim} dimensions; give one with two, records by attributes"
        )
    return pd.DataFrame(values.copy(), columns=[f"V{at + 1}" for at in range(values.shape[1])])
