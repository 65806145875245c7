"""Two tables of which nobody knows which record of one is which of the other."""

from __future__ import annotations

import numpy as np

from linkrisk.datasets.microdata.numeric import check_known
from linkrisk.datasets.microdata.roles import Role
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.tables import Table
from linkrisk.datasets.pairs.identifiers import record_ids
from linkrisk.datasets.pairs.table_pair import TablePair

UNKNOWN = "unknown"
"""How their records are aligned."""


def label_columns(
    tables: tuple[Table, Table], given: tuple[str | None, str | None], schema: Schema | None
) -> tuple[str | None, str | None]:
    """The column that names the records of each table: the given one, else the record id of the schema.

    Raises
    ------
    DataError
        If a given column does not exist, or the schema has two record ids.
    """
    listed = None if schema is None else schema.only(Role.RECORD_ID)
    found = []
    for table, name, option in zip(tables, given, ("original_id", "masked_id"), strict=True):
        if name is not None:
            check_known([name], table.columns, table.source, option=option)
        found.append(name or (listed if listed in table.columns else None))
    return found[0], found[1]


def unaligned(first: Table, second: Table, columns: tuple[str | None, str | None]) -> TablePair:
    """Both tables without partners.

    Parameters
    ----------
    first, second : Table
        n and m records.
    columns : pair of str or None
        The column that names the records of each; without one they are called by their row, from 1.

    Raises
    ------
    DataError
        If a name is missing or given twice.
    """
    names = [
        tuple(str(row) for row in range(1, len(table.frame) + 1))
        if column is None
        else record_ids(table.frame, column, table.source)
        for table, column in zip((first, second), columns, strict=True)
    ]
    said = (f"{table.source}: {remark}" for table in (first, second) for remark in table.remarks)
    nobody = np.full(len(first.frame), -1, dtype=np.intp)
    return TablePair(first, second, nobody, names[0], names[1], UNKNOWN, tuple(dict.fromkeys(said)))
