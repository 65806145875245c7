"""Alignment: which masked record is which original one, by id, record of a masking, index labels or row."""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError, read_bytes
from linkrisk.datasets.microdata.names import shown_name
from linkrisk.datasets.microdata.numeric import check_known
from linkrisk.datasets.microdata.roles import Role
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.strict_json import AmbiguousError, parse
from linkrisk.datasets.microdata.tables import Table, load_table
from linkrisk.datasets.pairs.cells import match_ids, record_ids
from linkrisk.datasets.pairs.row_order import check_old_labels, check_row_order
from linkrisk.errors import called


def names_record(id_column: str | None) -> bool:
    """Whether what identifies the records is a record of `mask`, and no column."""
    return id_column is not None and id_column.lower().endswith(".json") and Path(id_column).is_file()


def records_named(id_column: str | None) -> tuple[str, ...]:
    """The records of several maskings, joined by commas, or one; none where it is a column."""
    if id_column is None or names_record(id_column):
        return () if id_column is None else (id_column,)
    parts = tuple(id_column.split(","))
    return parts if all(names_record(part) for part in parts) else ()


def recorded_partner(path: str, original: Table, masked: Table) -> npt.NDArray[np.intp]:
    """The masked row of each original record, by the order that a record keeps.

    Returns (n,).
    """
    rows = _read(path).get("order")
    if not isinstance(rows, list) or not all(type(row) is int for row in rows):
        raise DataError(
            f"{called('id', path)} keeps no order of records, as `mask --shuffle --record` does: name "
            "a column, or give such a record",
            option="id",
        )
    order = np.array(rows, dtype=np.intp)
    if not np.array_equal(np.sort(order), np.arange(1, len(order) + 1)):
        raise DataError(
            f"{called('id', path)}: its order does not have every record once; it is damaged",
            option="id",
        )
    for table in (original, masked):
        if len(table.frame) != len(order):
            raise DataError(
                f"{called('id', path)} is about {len(order)} records and {table.source} has "
                f"{len(table.frame)}: give the two files of that masking",
                option="id",
            )
    return np.argsort(order).astype(np.intp)


def record_notes(path: str, masked: Table) -> tuple[str, ...]:
    """Say where a masked file is not the one that the masking of a record has written."""
    output = _read(path).get("output")
    written = output.get("sha256") if isinstance(output, dict) else None
    if masked.path is None or not isinstance(written, str) or not masked.path.is_file():
        return ()
    if hashlib.sha256(masked.path.read_bytes()).hexdigest() == written:
        return ()
    return (
        f"{masked.source} is not what the masking of {path} has written: who is who is right where that file "
        "was changed since without moving records, and wrong where another masking made this one",
    )


def _read(path: str) -> dict[str, Any]:
    """A record; an empty one where it is none."""
    try:
        record = parse(read_bytes(path, called("id", path), "id").removeprefix(codecs.BOM_UTF8))
    except (ValueError, RecursionError, AmbiguousError):
        return {}
    return record if isinstance(record, dict) else {}


BY_ROW = "row by row"
BY_LABEL = "index labels"
BY_RECORD = "masking record"
BY_ID = "id "
"""Before the name of the column."""

_LABELS_NOTE = (
    "records were aligned by the labels of the two indexes, which hold the same ones in different orders; "
    "row_by_row=True takes the rows as they are"
)


@dataclass(frozen=True, eq=False)
class TablePair:
    """An original table, its masked version, and the true partners."""

    original: Table  # n and m records, numbered from 0, all columns
    masked: Table  # n and m records, numbered from 0, all columns
    # (n,) The masked row of each original record, -1 for an original record that has none
    partner: npt.NDArray[np.intp]
    # what to call the records: their ids, the labels of their index, or their row numbers from 1
    original_labels: tuple[str, ...]
    masked_labels: tuple[str, ...]
    # how records were aligned: ``row by row``, ``id`` with the name of the column, ``index labels``,
    # ``masking record``
    alignment: str = BY_ROW
    notes: tuple[str, ...] = ()  # what a user should know about the pair, in sentences

    @property
    def name(self) -> str:
        """What to call the pair."""
        return f"{self.original.source} and {self.masked.source}"


def check_alignment(id_column: str | None, row_by_row: bool) -> None:
    """Refuse two ways to align the records at a time."""
    if row_by_row and id_column is not None:
        raise DataError(
            f"{called('id')} and {called('row_by_row')} are two ways to align the records; give one of them",
            option="row_by_row",
        )


def load_tables(
    original: Any, masked: Any, id_column: str | None, text_columns: Sequence[str], names: tuple[str, str]
) -> tuple[Table, Table]:
    """Read two tables of at least two records each, `names` of which are those of frames in messages."""
    # Ids stay text, so that 007 and 7 remain two records.
    id_column = None if names_record(id_column) else id_column
    text = (*text_columns, *(() if id_column is None else (id_column,)))
    first, second = load_table(original, names[0], text), load_table(masked, names[1], text)
    for table in (first, second):
        if len(table.frame) < 2:
            raise DataError(f"{table.source} has fewer than two records; linkage needs at least two")
        if id_column is not None:
            check_known([id_column], table.columns, table.source, option="id")
    return first, second


def align(first: Table, second: Table, *, id_column: str | None, row_by_row: bool) -> TablePair:
    """Align the records of two tables: by an id, a record of masking, index labels, or row by row."""
    pair = _aligned(first, second, id_column=id_column, row_by_row=row_by_row)
    said = tuple(f"{table.source}: {remark}" for table in (first, second) for remark in table.remarks)
    return replace(pair, notes=(*dict.fromkeys(said), *pair.notes))


def _aligned(first: Table, second: Table, *, id_column: str | None, row_by_row: bool) -> TablePair:
    if id_column is not None and names_record(id_column):
        shuffled = recorded_partner(id_column, first, second)
        numbers = tuple(str(row) for row in range(1, len(shuffled) + 1))
        notes = record_notes(id_column, second)
        return TablePair(first, second, shuffled, numbers, numbers, BY_RECORD, notes)
    if id_column is not None:
        return _by_id(first, second, id_column)
    records = len(first.frame)
    if records != len(second.frame):
        raise DataError(
            f"{first.source} has {records} records and {second.source} has {len(second.frame)}; "
            f"name the column that identifies the records with {called('id')}",
            option="id",
        )
    partner = None if row_by_row else _by_label(first, second)
    if partner is not None:
        frame = second.frame.iloc[partner].reset_index(drop=True)
        moved = replace(second, frame=frame, labels=_labels(first))
        notes = (_LABELS_NOTE, *_checked_order(first, moved))
        labels = [tuple(str(label) for label in _labels(table)) for table in (first, second)]
        return TablePair(first, second, partner, labels[0], labels[1], BY_LABEL, notes)
    notes = () if row_by_row else _checked_order(first, second)
    numbers = tuple(str(row) for row in range(1, records + 1))
    return TablePair(first, second, np.arange(records, dtype=np.intp), numbers, numbers, notes=notes)


def _checked_order(first: Table, second: Table) -> tuple[str, ...]:
    """Notes on two tables whose rows stand side by side; a DataError where they are out of order."""
    check_old_labels(first, second)
    return check_row_order(first, second)


def _by_id(first: Table, second: Table, id_column: str) -> TablePair:
    original_ids = record_ids(first.frame, id_column, first.source)
    masked_ids = record_ids(second.frame, id_column, second.source)
    partner = match_ids(original_ids, masked_ids)
    if not (partner >= 0).any():
        raise DataError(
            f"{first.source} and {second.source} have no id in common in column {id_column!r} "
            f"(for example {original_ids[0]!r} and {masked_ids[0]!r}); write the ids alike "
            "in both files"
        )
    notes = _alone(first, second, partner, id_column)
    alignment = f"{BY_ID}{id_column}"
    return TablePair(first, second, partner, original_ids, masked_ids, alignment, notes)


def _alone(first: Table, second: Table, partner: npt.NDArray[np.intp], id_column: str) -> tuple[str, ...]:
    """What to say of records without a partner, as a file that was cut off leaves them, too."""
    partners = int((partner >= 0).sum())
    told = []
    for one, other in ((first, second), (second, first)):
        alone = len(one.frame) - partners
        if alone:
            verb = "has" if alone == 1 else "have"
            told.append(
                f"{alone:,} of the {len(one.frame):,} records of {one.source} {verb} no partner in "
                f"{other.source} by {shown_name(id_column)}: where each should have one, "
                f"{other.source} is not whole"
            )
    return tuple(told)


def _by_label(first: Table, second: Table) -> npt.NDArray[np.intp] | None:
    """Partners by the labels of rows; None where these stand in the same order, or a table has none."""
    labels = [_labels(table) for table in (first, second)]
    if labels[0].equals(labels[1]):
        return None
    unique = labels[0].is_unique and labels[1].is_unique
    partner = labels[1].get_indexer(labels[0]) if unique else np.array([-1])
    if (partner >= 0).all():
        return partner.astype(np.intp)
    if all(table.indexed or table.labels is not None for table in (first, second)):
        raise DataError(
            f"the indexes of {first.source} and {second.source} do not hold the same labels, each once; name "
            "the column that identifies the records as id, take the rows as they are with "
            "row_by_row=True, or renumber them with reset_index"
        )
    return None


def _labels(table: Table) -> pd.Index:
    return pd.RangeIndex(len(table.frame)) if table.labels is None else table.labels


UNKNOWN = "unknown"
"""How their records are aligned."""


def label_columns(
    tables: tuple[Table, Table], given: tuple[str | None, str | None], schema: Schema | None
) -> tuple[str | None, str | None]:
    """The column that names the records of each table: the given one, else the record id of the schema."""
    listed = None if schema is None else schema.only(Role.RECORD_ID)
    found = []
    for table, name, option in zip(tables, given, ("original_id", "masked_id"), strict=True):
        if name is not None:
            check_known([name], table.columns, table.source, option=option)
        found.append(name or (listed if listed in table.columns else None))
    return found[0], found[1]


def unaligned(first: Table, second: Table, columns: tuple[str | None, str | None]) -> TablePair:
    """Both tables without partners."""
    names = [
        tuple(str(row) for row in range(1, len(table.frame) + 1))
        if column is None
        else record_ids(table.frame, column, table.source)
        for table, column in zip((first, second), columns, strict=True)
    ]
    said = (f"{table.source}: {remark}" for table in (first, second) for remark in table.remarks)
    nobody = np.full(len(first.frame), -1, dtype=np.intp)
    return TablePair(first, second, nobody, names[0], names[1], UNKNOWN, tuple(dict.fromkeys(said)))
