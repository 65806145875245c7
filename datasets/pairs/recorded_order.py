"""The record of a masking that shuffled the records says who is who, where no column does."""

from __future__ import annotations

import codecs
from pathlib import Path

import numpy as np
import numpy.typing as npt

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.strict_json import AmbiguousError, parse
from linkrisk.datasets.microdata.tables import Table


def names_record(id_column: str | None) -> bool:
    """Whether what identifies the records is a record of `mask`, and no column."""
    return id_column is not None and id_column.lower().endswith(".json") and Path(id_column).is_file()


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
    try:
        record = parse(Path(path).read_bytes().removeprefix(codecs.BOM_UTF8))
    except OSError as error:
        raise DataError(f"--id {path} cannot be read: {(error.strerror or str(error)).lower()}") from None
    except (ValueError, RecursionError, AmbiguousError):
        record = None
    rows = record.get("order") if isinstance(record, dict) else None
    if not isinstance(rows, list) or not all(type(row) is int for row in rows):
        raise DataError(
            f"--id {path} keeps no order of records, as `mask --shuffle --record` does: name a column, or "
            "give such a record"
        )
    order = np.array(rows, dtype=np.intp)
    if not np.array_equal(np.sort(order), np.arange(1, len(order) + 1)):
        raise DataError(f"--id {path}: its order does not have every record once; it is damaged")
    for table in (original, masked):
        if len(table.frame) != len(order):
            raise DataError(
                f"--id {path} is about {len(order)} records and {table.source} has {len(table.frame)}: give "
                "the two files of that masking"
            )
    return np.argsort(order).astype(np.intp)
