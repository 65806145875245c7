"""Statuses and levels of single cells, given by hand: what comes before all rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.category_names import spelled
from linkrisk.datasets.microdata.formats.registry import read_table
from linkrisk.datasets.microdata.numeric import check_known
from linkrisk.datasets.tables.cells_and_relations import FIXED, SAFE, SENSITIVE
from linkrisk.datasets.tables.numbers import numbers_of
from linkrisk.datasets.tables.own_columns import STATUS

LEVELS = ("lower_protection", "upper_protection", "sliding_protection")
_GIVEN = (SENSITIVE, SAFE, FIXED)


@dataclass(frozen=True, eq=False)
class ManualStatuses:
    """What is said of k cells.

    Attributes
    ----------
    cell : ndarray of int64, shape (k,)
    status : ndarray of str, shape (k,)
        ``u``, ``s`` or ``z``; empty where only the cost is given.
    numbers : dict of str to ndarray of float64, shape (k,)
        Levels and `cost`, those that the file has; NaN where one is empty.
    """

    cell: npt.NDArray[np.int64]
    status: npt.NDArray[np.str_]
    numbers: dict[str, npt.NDArray[np.float64]]


def read_manual_statuses(path: str | Path, codes: pd.DataFrame) -> ManualStatuses:
    """Read a file with a line for each cell: its codes, `status`, and if need be levels and `cost`.

    Parameters
    ----------
    path : path
    codes : DataFrame
        The codes of all cells, as text.

    Raises
    ------
    DataError
        If it cannot be read, or a cell, status or number is none.
    """
    by, name = list(codes.columns), str(path)
    frame = read_table(path, text_columns=[*by, STATUS])
    check_known([*by, STATUS], list(frame.columns), name, what="column")
    status = frame[STATUS].fillna("").astype(str).str.strip().to_numpy(dtype=np.str_)
    _refuse_statuses(status, name)
    given = [column for column in (*LEVELS, "cost") if column in frame.columns]
    matrix = numbers_of(frame, given, name, allow_missing=True)
    if (matrix < 0).any():
        row, at = (int(one[0]) for one in np.nonzero(matrix < 0))
        raise DataError(f"{name}, row {row + 1}, column {given[at]!r}: it is below 0")
    numbers = {column: matrix[:, at] for at, column in enumerate(given)}
    return ManualStatuses(_cells(frame, by, codes, name), status, numbers)


def _cells(frame: pd.DataFrame, by: Sequence[str], codes: pd.DataFrame, name: str) -> npt.NDArray[np.int64]:
    wanted = pd.MultiIndex.from_frame(frame[list(by)].map(spelled))
    found = pd.MultiIndex.from_frame(codes).get_indexer(wanted)
    if (found < 0).any():
        row = int(np.argmax(found < 0))
        cell = ", ".join(str(one) for one in wanted[row])
        raise DataError(f"{name}, row {row + 1}: there is no cell {cell}; correct its codes")
    twice = pd.Series(found).duplicated().to_numpy(dtype=bool)
    if twice.any():
        raise DataError(f"{name}, row {int(np.argmax(twice)) + 1}: the cell stands twice; give it one line")
    return np.asarray(found, dtype=np.int64)


def _refuse_statuses(status: npt.NDArray[np.str_], name: str) -> None:
    wrong = ~np.isin(status, (*_GIVEN, ""))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"{name}, row {row + 1}: there is no status {str(status[row])!r}; u is sensitive, s safe, z "
            "always published"
        )
