"""Tables as two files: one line for each cell, and one for each term of each relation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.local_suppression import without_values
from linkrisk.datasets.microdata.formats.registry import read_table
from linkrisk.datasets.microdata.numeric import check_known, numeric_matrix

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

NUMBERS = (
    *("value", "cost", "lower_bound", "upper_bound"),
    *("lower_protection", "upper_protection", "sliding_protection"),
)
"""Columns of numbers that mean something; `value` is needed."""

STATUS = "status"
SENSITIVE, SECONDARY, SAFE, FIXED = "u", "m", "s", "z"
STATUSES = (SENSITIVE, SECONDARY, SAFE, FIXED)


@dataclass(frozen=True, eq=False)
class StoredTable:
    """A table of two files.

    Attributes
    ----------
    cells : DataFrame
        All columns of the file of cells, n rows.
    numbers : dict of str to ndarray of float64, shape (n,)
        Those of `NUMBERS` that are there; NaN where one is empty.
    status : ndarray of str, shape (n,)
        ``u`` sensitive, ``m`` suppressed with them, ``s`` safe, ``z`` always published.
    relation, cell : ndarray of int64, shape (k,)
        Of each term: its relation and its cell, both from 0.
    coefficient : ndarray of float64, shape (k,)
    name : str
        Of the file of cells, for messages.
    """

    cells: pd.DataFrame
    numbers: dict[str, FloatArray]
    status: npt.NDArray[np.str_]
    relation: IntArray
    cell: IntArray
    coefficient: FloatArray
    name: str


def read_cells_and_relations(cells: str | Path, relations: str | Path) -> StoredTable:
    """Read a table.

    Parameters
    ----------
    cells : path
        A file of any format with a line for each cell: `value`, and where they are known the others of
        `NUMBERS` and `status`. Other columns, such as codes, are kept as they are. A column `cell` holds the
        numbers of the lines, from 0.
    relations : path
        Columns `relation` (or `equation`), `cell` and `coefficient`: the terms of each relation sum to 0.

    Raises
    ------
    DataError
        If a file cannot be read, lacks a column, or a cell, status or number is none.
    """
    frame = read_table(cells, text_columns=[STATUS])
    name = str(cells)
    check_known(["value"], list(frame.columns), name, what="column")
    if frame.empty:
        raise DataError(f"{name} has no cells")
    present = [column for column in NUMBERS if column in frame.columns]
    matrix = numeric_matrix(frame, present, name, allow_missing=True)
    numbers = {column: matrix[:, at] for at, column in enumerate(present)}
    _refuse(np.isnan(numbers["value"]), name, "value", "is empty; every cell has one")
    if "cell" in frame.columns:
        wrong = numeric_matrix(frame, ["cell"], name)[:, 0] != np.arange(len(frame))
        _refuse(wrong, name, "cell", "is not the number of the line, from 0")
    return StoredTable(frame, numbers, _status(frame, name), *_terms(relations, len(frame)), name)


def _status(frame: pd.DataFrame, name: str) -> npt.NDArray[np.str_]:
    if STATUS not in frame.columns:
        return np.full(len(frame), SAFE)
    found = frame[STATUS].fillna(SAFE).astype(str).str.strip().to_numpy(dtype=np.str_)
    wrong = ~np.isin(found, STATUSES)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"{name}, row {row + 1}: there is no status {str(found[row])!r}; u is sensitive, m suppressed "
            "with it, s safe, z always published"
        )
    return found


def _terms(path: str | Path, cells: int) -> tuple[IntArray, IntArray, FloatArray]:
    frame, name = read_table(path), str(path)
    number = "equation" if "equation" in frame.columns else "relation"
    check_known([number, "cell", "coefficient"], list(frame.columns), name, what="column")
    terms = numeric_matrix(frame, [number, "cell", "coefficient"], name)
    for at, column in enumerate((number, "cell")):
        _refuse(
            (terms[:, at] != np.floor(terms[:, at])) | (terms[:, at] < 0), name, column, "is no number from 0"
        )
    _refuse(terms[:, 1] >= cells, name, "cell", f"is no cell; they are 0 to {cells - 1}")
    relation = np.unique(terms[:, 0], return_inverse=True)[1].astype(np.int64)
    return relation, terms[:, 1].astype(np.int64), terms[:, 2]


def _refuse(wrong: npt.NDArray[np.bool_], name: str, column: str, why: str) -> None:
    if wrong.any():
        raise DataError(f"{name}, row {int(np.argmax(wrong)) + 1}, column {column!r}: it {why}")


def published(frame: pd.DataFrame, suppressed: Sequence[bool], status: str = STATUS) -> pd.DataFrame:
    """What may be published: no value of a suppressed cell, and nothing about how it is protected."""
    kept = [column for column in frame.columns if column not in NUMBERS[1:]]
    gone = np.asarray(suppressed, dtype=np.bool_)
    made = frame[kept].copy()
    made["value"] = without_values(made["value"], gone)
    made[status] = np.where(gone, "suppressed", "published")
    return made
