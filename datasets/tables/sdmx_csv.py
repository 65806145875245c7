"""SDMX-CSV: a line for each observation, with its confidentiality status; versions 1.0 and 2.0."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from linkrisk.arrays import BoolArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.base import ColumnNotes, Dialect
from linkrisk.datasets.microdata.formats.file_content import decode
from linkrisk.datasets.microdata.tables import Table
from linkrisk.datasets.tables.argus.ready_tables import with_usual_levels
from linkrisk.datasets.tables.argus.written_tables import in_full
from linkrisk.datasets.tables.code_trees import TOTAL, Hierarchies
from linkrisk.datasets.tables.stored_table import (
    SAFE,
    SECONDARY,
    SENSITIVE,
    STATUS,
    StoredTable,
    as_written,
    numbers_of,
)

SUFFIX, SUFFIX_1 = ".sdmx.csv", ".sdmx1.csv"
"""How names of files end that are written in version 2.0, and in 1.0."""

DATAFLOW = "LINKRISK:TABLE(1.0)"
"""What a table is called where nobody says it."""

SDMX_TOTAL = "_T"
"""The code of a total in SDMX."""

_FREE, _PRIMARY, _SECONDARY = "F", "C", "D"
_SECRET = {
    **dict.fromkeys("CAOTGMNEX", SENSITIVE),  # confidential, for these reasons; not for publication; embargo
    **dict.fromkeys("DS", SECONDARY),  # set by the sender, by the receiver
}
"""Codes of CL_CONF_STATUS (SDMX 1.2, 2018) that are not free, and what they are here."""

_NORMAL, _MISSING = "A", "Q"
"""Codes of CL_OBS_STATUS (SDMX 2.2): a normal value; a missing value, suppressed."""

_VALUE, _TIME, _CONF, _OBS = "OBS_VALUE", "TIME_PERIOD", "CONF_STATUS", "OBS_STATUS"
_LEADS = {"DATAFLOW", "STRUCTURE"}
_OF_MESSAGE = {
    *_LEADS,
    *("STRUCTURE_ID", "STRUCTURE_NAME", "ACTION", "SERIES_KEY", "OBS_KEY", "LAST UPDATE", "LAST_UPDATE"),
}
"""Columns before the dimensions that are none."""

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_DATAFLOW = re.compile(r"[A-Za-z][\w.-]*:[\w@$-]+\([0-9]+(\.[0-9]+){1,2}(-[\w.-]+)?\)")
_MOST_HEADER = 100_000


@dataclass(frozen=True)
class CellsDialect(Dialect):
    """What a file of cells says of itself, besides them."""

    by: tuple[str, ...] = ()  # columns of codes
    totals: dict[str, str] = field(default_factory=dict)  # the code of the total, where it is said
    apart: tuple[str, ...] = ()  # columns without a total, whose codes are not summed
    trees: dict[str, Hierarchies] = field(default_factory=dict)  # those of the file
    dataflow: str = ""


def is_sdmx(path: Path) -> bool:
    """Tell by its header whether a text file is SDMX-CSV."""
    if path.suffix.lower() != ".csv" or not path.is_file():
        return False
    with path.open("rb") as handle:
        line = handle.readline(_MOST_HEADER).decode("utf-8-sig", errors="replace")
    names = _identifiers(_header(line)[0])
    return bool(names) and names[0] in _LEADS and _VALUE in names


def read_sdmx(path: Path) -> Table:
    """Read the cells of a file: codes, `value`, `status`, and levels of sensitive ones.

    Columns before ``OBS_VALUE`` are dimensions. Of ``CONF_STATUS``, F and nothing are safe, D and S are
    suppressed with others, and every other code is sensitive, with a level of 20 % of the value. Cells with
    an identifier and a name (``M: Monthly``) are read by the first, and the second is a label.
    """
    text = decode(path.read_bytes(), path)[0]
    header, delimiter = _header(text.partition("\n")[0])
    names = _identifiers(header)
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        raise DataError(f"{path} has two columns {twice!r}; leave one of them out")
    rows = _rows(text, len(names), delimiter, path)
    raw = pd.DataFrame(rows, columns=names)
    dataflow = _dataflow(raw, path)
    dimensions = [name for name in names[: names.index(_VALUE)] if name not in {*_OF_MESSAGE, _CONF, _OBS}]
    frame, notes = pd.DataFrame(index=raw.index), {}
    for name in dimensions:
        label = dict(zip(names, header, strict=True))[name].partition(":")[2].strip()
        frame[name], codes = _named(raw[name], both=bool(label))
        notes[name] = ColumnNotes(label=label, value_labels=codes)
    given = raw[[_VALUE]].replace(["", "NaN"], pd.NA)
    frame["value"] = as_written(numbers_of(given, [_VALUE], str(path), allow_missing=True)[:, 0])
    if _CONF in raw:
        frame[STATUS] = _statuses(raw[_CONF], path)
        frame = with_usual_levels(frame)
    dialect = CellsDialect(tuple(dimensions), apart=(_TIME,), dataflow=dataflow)
    return Table(frame, str(path), path=path, notes=notes, dialect=dialect)


def _header(line: str) -> tuple[list[str], str]:
    """The cells of a header, and what stands between them."""
    delimiter = ";" if line.count(";") > line.count(",") else ","
    found = next(csv.reader([line.strip("\r\n")], delimiter=delimiter), [])
    return [cell.strip() for cell in found], delimiter


def _identifiers(header: Iterable[str]) -> list[str]:
    """The identifiers of columns, without their names and what separates values in a cell."""
    return [cell.partition(":")[0].partition("[")[0].strip() for cell in header]


def _rows(text: str, width: int, delimiter: str, path: Path) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    try:
        for row in reader:
            if not row:
                continue
            if len(row) != width:
                raise DataError(
                    f"{path}, line {reader.line_num}: {len(row)} cells where the header has {width}; quote "
                    "cells that have a separator"
                )
            rows.append([cell.strip() for cell in row])
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: {error}; correct its quotes") from None
    if len(rows) < 2:
        raise DataError(f"{path} has no cells")
    return rows[1:]


def _dataflow(raw: pd.DataFrame, path: Path) -> str:
    """The one structure that all observations belong to."""
    if "ACTION" in raw and raw["ACTION"].str.upper().eq("D").any():
        row = int(np.argmax(raw["ACTION"].str.upper().eq("D").to_numpy()))
        raise DataError(f"{path}, row {row + 1}: the observation is to be deleted (ACTION D); leave it out")
    column = "STRUCTURE_ID" if "STRUCTURE_ID" in raw else raw.columns[0]
    found = raw[column].str.partition(": ")[0].unique()
    if len(found) > 1:
        raise DataError(
            f"{path} has observations of {found[0]} and of {found[1]}; give each table a file of its own"
        )
    return str(found[0])


def _named(column: pd.Series, *, both: bool) -> tuple[pd.Series, dict[str, str]]:
    """Codes of a dimension, and their names where they stand beside them."""
    if not both:
        return column, {}
    parts = column.str.partition(": ")
    named = zip(parts[0], parts[2].str.strip(), strict=True)
    return parts[0], {code: name for code, name in named if name}


def _statuses(column: pd.Series, path: Path) -> list[str]:
    codes = column.str.partition(":")[0].str.strip().str.upper()
    known = {"": SAFE, _FREE: SAFE, **_SECRET}
    wrong = (~codes.isin(list(known))).to_numpy()
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"{path}, row {row + 1}: there is no confidentiality status {codes.iloc[row]!r}; F is free, C "
            "confidential, D suppressed with others, N not for publication (CL_CONF_STATUS)"
        )
    return [known[code] for code in codes]


def published_sdmx(table: StoredTable, suppressed: BoolArray, path: Path) -> dict[Path, bytes]:
    """Encode what may be published; all suppressed cells have the status C.

    Whether a cell is confidential itself or protects others would help an intruder.
    """
    value = [
        "" if gone else text
        for text, gone in zip(
            in_full(np.where(suppressed, 0.0, table.numbers["value"])), suppressed, strict=True
        )
    ]
    words = np.where(suppressed, _MISSING, _NORMAL), np.where(suppressed, _PRIMARY, _FREE)
    return _encoded(table, path, (value, *(one.tolist() for one in words)))


def internal_sdmx(table: StoredTable, path: Path) -> dict[Path, bytes]:
    """Encode all values with their status, as they are sent to who is allowed to see them."""
    word = {SENSITIVE: _PRIMARY, SECONDARY: _SECONDARY}
    status = [word.get(one, _FREE) for one in table.status.tolist()]
    return _encoded(table, path, (in_full(table.numbers["value"]), [_NORMAL] * len(table), status))


def in_dataflow(table: StoredTable, name: str | None) -> StoredTable:
    """The same table by another name of SDMX, if one is given."""
    return table if name is None else replace(table, dataflow=checked_dataflow(name))


def checked_dataflow(name: str) -> str:
    """Refuse what is no name of a dataflow."""
    if _DATAFLOW.fullmatch(name) is None:
        raise DataError(
            f"{name!r} is no dataflow of SDMX; write AGENCY:ID(VERSION), such as {DATAFLOW}",
            option="dataflow",
        )
    return name


def _encoded(table: StoredTable, path: Path, cells: tuple[Sequence[str], ...]) -> dict[Path, bytes]:
    dataflow = checked_dataflow(table.dataflow or DATAFLOW)
    if not table.by:
        raise DataError(f"{table.name} has no columns of codes; SDMX names cells by them")
    for name in table.by:
        if _IDENTIFIER.fullmatch(name) is None or name in {*_OF_MESSAGE, _VALUE, _CONF, _OBS}:
            raise DataError(
                f"cannot write {path}: {name!r} is no identifier of a dimension in SDMX; rename the column: "
                "letters without accents, digits, _ and -, a letter first"
            )
    first = path.name.lower().endswith(SUFFIX_1)
    lead = [dataflow] if first else ["dataflow", dataflow, "I"]
    target = io.StringIO(newline="")
    writer = csv.writer(target, lineterminator="\r\n")
    heads = ["DATAFLOW"] if first else ["STRUCTURE", "STRUCTURE_ID", "ACTION"]
    writer.writerow([*heads, *table.by, _VALUE, _OBS, _CONF])
    columns = [_codes(table, name) for name in table.by]
    writer.writerows([*lead, *row] for row in zip(*columns, *cells, strict=True))
    return {path: target.getvalue().encode("utf-8")}


def _codes(table: StoredTable, name: str) -> list[str]:
    """The codes of a dimension; the total is called as SDMX calls it, where we have named it."""
    codes: list[str] = table.codes[name].tolist()
    ours = any(tree.variable == name and tree.codes[0] == TOTAL for tree in table.trees)
    if ours and SDMX_TOTAL not in codes:
        return [SDMX_TOTAL if code == TOTAL else code for code in codes]
    return codes
