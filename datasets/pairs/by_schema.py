"""What a schema says about two tables: the column of record ids, and missing codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from linkrisk.datasets.microdata.missing import without_codes
from linkrisk.datasets.microdata.names import shown_name
from linkrisk.datasets.microdata.roles import Role
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.tables import Table

BY_SCHEMA = (
    "records were aligned by column {}, the record id of the schema; --row-by-row takes the rows as they are"
)
WITHOUT_ID = "column {}, the record id of the schema, is not in {}: row i of one file is row i of the other"


def with_missing(table: Table, schema: Schema | None) -> Table:
    """The table with missing values in the place of the missing codes that a schema declares."""
    declared = [] if schema is None else [each for each in schema.attributes if each.missing]
    columns = {
        each.name: without_codes(table.frame[each.name], each.missing)
        for each in declared
        if each.name in table.columns
    }
    changed = {name: column for name, column in columns.items() if column is not table.frame[name]}
    return replace(table, frame=table.frame.assign(**changed)) if changed else table


def text_columns(schema: Schema | None) -> tuple[str, ...]:
    """Columns of CSV files that are kept as they are written because a schema says that they are ids."""
    return () if schema is None else schema.select(role=Role.RECORD_ID)


def record_id(
    schema: Schema | None, tables: Sequence[Table], id_column: str | None, row_by_row: bool
) -> tuple[str | None, tuple[str, ...]]:
    """The column that identifies the records, and a note where the schema names it and not the user.

    Raises
    ------
    DataError
        If the schema has two record ids, and nothing else identifies the records.
    """
    if schema is None or id_column is not None or row_by_row:
        return id_column, ()
    found = schema.only(Role.RECORD_ID)
    if found is None:
        return None, ()
    lacking = [table.source for table in tables if found not in table.columns]
    if lacking:
        return None, (WITHOUT_ID.format(shown_name(found), " and ".join(dict.fromkeys(lacking))),)
    return found, (BY_SCHEMA.format(shown_name(found)),)
