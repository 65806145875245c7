"""What a schema says about two tables: the column of record ids, and missing codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from linkrisk.datasets.microdata.missing import Missing, without_codes
from linkrisk.datasets.microdata.names import shown_name, shown_names, with_columns
from linkrisk.datasets.microdata.roles import Role
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.tables import Table
from linkrisk.errors import called

WITHOUT_ID = "column {}, the record id of the schema, is not in {}: row i of one file is row i of the other"

OWN_CODES = "values with a code that the file itself declares missing count as missing: {}"


def by_schema(column: str) -> str:
    """Say that records were aligned by the record id of the schema, and how else they could be."""
    return (
        f"records were aligned by column {shown_name(column)}, the record id of the schema; "
        f"{called('row_by_row', True)} takes the rows as they are"
    )


def with_missing(tables: Sequence[Table], schema: Schema | None) -> tuple[Table, ...]:
    """Tables with missing values in the place of missing codes.

    Codes are those that the schema declares, and those that a file itself declares (SPSS, Stata, ARGUS): in
    all tables, as masking keeps codes and need not keep what a file says of them. A remark says which codes
    of the second kind were found.
    """
    stated = {each.name: each.missing for each in schema.attributes} if schema is not None else {}
    own: dict[str, Missing] = {}
    for table in tables:
        for name, notes in table.notes.items():
            own[name] = tuple(dict.fromkeys((*own.get(name, ()), *notes.missing)))
    return tuple(_without(table, stated, own) for table in tables)


def _without(table: Table, stated: Mapping[str, Missing], own: Mapping[str, Missing]) -> Table:
    columns: dict[str, pd.Series] = {}
    found: list[str] = []
    for name in table.columns:
        before = table.frame[name]
        known = without_codes(before, stated.get(name, ()))
        after = without_codes(known, own.get(name, ()))
        if after is not known:
            found.append(name)
        if after is not before:
            columns[name] = after
    if not columns:
        return table
    said = (OWN_CODES.format(shown_names(found)),) if found else ()
    coded = {**table.coded, **{name: table.frame[name] for name in columns if name not in table.coded}}
    return replace(
        table, frame=with_columns(table.frame, columns), remarks=(*table.remarks, *said), coded=coded
    )


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
    return found, (by_schema(found),)
