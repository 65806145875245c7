"""The record of a masking that shuffled the records says who is who, where no column does."""

from __future__ import annotations

import codecs
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.strict_json import AmbiguousError, parse
from linkrisk.datasets.microdata.tables import Table
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

    Parameters
    ----------
    path : str
        What `mask --shuffle --record` has written.
    original, masked : Table
        n records each.

    Returns
    -------
    intp array (n,)

    Raises
    ------
    DataError
        If it cannot be read, keeps no order, or one of other files.
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
        record = parse(Path(path).read_bytes().removeprefix(codecs.BOM_UTF8))
    except OSError as error:
        raise DataError(
            f"{called('id', path)} cannot be read: {(error.strerror or str(error)).lower()}",
            option="id",
        ) from None
    except (ValueError, RecursionError, AmbiguousError):
        return {}
    return record if isinstance(record, dict) else {}
