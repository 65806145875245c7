"""A table with its name: read from a file, or taken from a frame of any library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.files import own_labels, read_labelled, split_labels, written_cell


@dataclass(frozen=True, eq=False)
class Table:
    """A table with what to call it in messages.

    Attributes
    ----------
    frame : DataFrame
        Columns named by text, rows numbered from 0.
    source : str
        What to call it.
    labels : Index, optional
        What its rows were called, where that was not their number from 0.
    indexed : bool
        Whether it was a pandas frame, whose rows have labels whatever these are.
    path : Path, optional
        The file that it was read from.
    """

    frame: pd.DataFrame
    source: str
    labels: pd.Index | None = None
    indexed: bool = False
    path: Path | None = None

    @property
    def columns(self) -> list[str]:
        """Names of its columns."""
        return list(self.frame.columns)

    def written(self, column: str, row: int) -> str:
        """What stands in a missing cell of a CSV file, such as NA; otherwise nothing."""
        return "" if self.path is None else written_cell(self.path, column, row)


def load_table(table: Any, name: str, text_columns: Sequence[str] = ()) -> Table:
    """Read a file, or take a frame as it is, with rows numbered from 0 and columns named by text.

    Parameters
    ----------
    table : str, Path, frame or ndarray
        A CSV or Parquet file, a pandas frame, a frame of another library with a `to_pandas` method, or an
        array (n, a), whose columns are called V1, V2, ...
    name : str
        What to call a frame in messages.
    text_columns : sequence of str
        Columns of a CSV file that hold names and not numbers (`datasets.microdata.files.read_table`).

    Raises
    ------
    DataError
        If it is neither, or two columns have the same name.
    """
    if isinstance(table, str | Path):
        frame, labels = read_labelled(table, text_columns=text_columns)
        return Table(frame, str(table), labels, path=Path(table))
    if isinstance(table, np.ndarray):
        return Table(_frame_of(table, name), name)
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
    return Table(frame, name, labels, indexed)


def _frame_of(values: npt.NDArray[Any], name: str) -> pd.DataFrame:
    """An array of records by attributes as a frame; its columns have the names that R gives them too."""
    if values.ndim != 2:
        raise DataError(
            f"{name} is an array with {values.ndim} dimensions; give one with two, records by attributes"
        )
    return pd.DataFrame(values.copy(), columns=[f"V{at + 1}" for at in range(values.shape[1])])
