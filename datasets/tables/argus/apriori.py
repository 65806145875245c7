"""A-priori files of tau-ARGUS (.hst): statuses, costs, levels and bounds of single cells.

A line names a cell by its codes and says one thing of it: a status (``u`` unsafe, ``s`` safe, ``p`` always
published, ``m`` suppressed), a cost (``c`` and a number), protection levels (``pl``, the lower and the upper
one) or bounds (``ab``, the lower and the upper one).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.argus_metadata import read_text
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.tables.argus.ready_tables import MANUAL
from linkrisk.datasets.tables.relations import equal_cells
from linkrisk.datasets.tables.stored_table import (
    FIXED,
    SAFE,
    SECONDARY,
    SENSITIVE,
    STATUS,
    StoredTable,
)

SUFFIX = ".hst"
_STATUSES = {"U": SENSITIVE, "S": SAFE, "P": FIXED, "M": SECONDARY, "ML": SECONDARY}
_NUMBERS = {
    "C": ("cost",),
    "W": ("cost",),
    "PL": ("lower_protection", "upper_protection"),
    "AB": ("lower_bound", "upper_bound"),
}
_LEVELS = _NUMBERS["PL"]


@dataclass(frozen=True)
class Known:
    """A line: codes of a cell, and a status, ``C``, ``W``, ``PL`` or ``AB`` with numbers."""

    line: int
    codes: tuple[str, ...]
    word: str  # In capital letters: a status, ``C``, ``W``, ``PL`` or ``AB``.
    numbers: tuple[float, ...]


def read_apriori(path: str | Path, variables: int, separator: str | None = None) -> list[Known]:
    """Read a file whose cells are named by so many codes.

    Without a `separator` it is the first of ``;``, tabulators and ``,`` that the first line has (a comma may
    be that of decimals).
    """
    text = read_text(Path(path))[0]
    mark = separator or next((one for one in ";\t," if one in text.partition("\n")[0]), ",")
    found = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, skipinitialspace=True)
    for row in reader:
        cells = [cell.strip() for cell in row]
        if any(cells):
            found.append(_known(cells, variables, f"{path}, line {reader.line_num}", reader.line_num))
    return found


def _known(cells: Sequence[str], variables: int, where: str, line: int) -> Known:
    word = cells[variables].upper() if len(cells) > variables else ""
    wanted = len(_NUMBERS.get(word, ()))
    numbers = [cell.replace(",", ".") for cell in cells[variables + 1 :] if cell]
    if word not in (*_STATUSES, *_NUMBERS) or len(numbers) != wanted:
        raise DataError(
            f"{where}: it says nothing of a cell; write its {variables} codes, then u, s, p or m alone, c "
            "and a cost, pl and two levels, or ab and two bounds"
        )
    try:
        values = tuple(float(one) for one in numbers)
    except ValueError:
        values = (np.nan,)
    if not np.isfinite(values).all():
        raise DataError(f"{where}: {' '.join(numbers)!r} are no numbers")
    if any(one < 0 for one in values) and word != "AB":
        raise DataError(f"{where}: {min(values):g} is below 0, as no cost and no level is")
    return Known(line, tuple(cells[:variables]), word, values)


def with_apriori(
    table: StoredTable,
    path: str | Path,
    *,
    separator: str | None = None,
    skip_unknown: bool = False,
    expand: bool = False,
    manual: float = MANUAL,
) -> StoredTable:
    """Apply a file to the statuses, levels, bounds and costs of a table.

    With `skip_unknown`, lines of cells that the table lacks are left out. With `expand`, a status counts for
    all cells that are the same one, where a code has a single one below it. A cell that becomes sensitive
    here has levels of `manual` percent of its value.
    """
    if not table.by:
        raise DataError(f"{table.name} has no columns of codes, by which {path} names cells")
    number = {codes: at for at, codes in enumerate(table.codes.itertuples(index=False, name=None))}
    same = equal_cells(table) if expand else np.arange(len(table))
    status = table.status.copy()
    numbers = {name: column.copy() for name, column in table.numbers.items()}
    value = np.abs(table.numbers["value"])
    for one in read_apriori(path, len(table.by), separator):
        cell = number.get(one.codes)
        if cell is None:
            if skip_unknown:
                continue
            shown = ", ".join(f"{name}={code}" for name, code in zip(table.by, one.codes, strict=True))
            raise DataError(f"{path}, line {one.line}: there is no cell {shown}")
        if one.word in _STATUSES:
            for each in np.flatnonzero(same == same[cell]).tolist():
                _set_status(numbers, status, each, _STATUSES[one.word], value[each] * manual / 100.0)
        elif one.word == "PL" and status[cell] != SENSITIVE:
            raise DataError(
                f"{path}, line {one.line}: {table.title(cell)} is not sensitive; make it so before its levels"
            )
        else:
            for name, given in zip(_NUMBERS[one.word], one.numbers, strict=True):
                _column(numbers, name, len(table))[cell] = given
    made = {name: column for name, column in numbers.items() if name != "value"}
    cells = with_columns(table.cells, {**made, STATUS: status})
    return replace(table, cells=cells, numbers=numbers, status=status)


def _set_status(
    numbers: dict[str, FloatArray], status: npt.NDArray[np.str_], cell: int, word: str, level: float
) -> None:
    if word == SENSITIVE and status[cell] == SENSITIVE:
        return
    status[cell] = word
    for name in _LEVELS:
        _column(numbers, name, status.size)[cell] = level if word == SENSITIVE else 0.0


def _column(numbers: dict[str, FloatArray], name: str, cells: int) -> FloatArray:
    return numbers.setdefault(name, np.full(cells, np.nan))
