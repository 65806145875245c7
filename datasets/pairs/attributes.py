"""Attributes to compare, record ids and missing codes, as options, schema and roles determine them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.column_descriptions import guesses
from linkrisk.datasets.microdata.dates import looks_dated
from linkrisk.datasets.microdata.missing import Missing, without_codes
from linkrisk.datasets.microdata.names import shown_name, shown_names, with_columns
from linkrisk.datasets.microdata.numeric import check_known, check_no_duplicates
from linkrisk.datasets.microdata.role_recognition import BY_NAME, Recognition, recognised
from linkrisk.datasets.microdata.roles import NEVER_COMPARED, ROLE_WORDS, Role, Scale
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
    """The column that identifies the records, and a note where the schema names it and not the user."""
    if schema is None or id_column is not None or row_by_row:
        return id_column, ()
    found = schema.only(Role.RECORD_ID)
    if found is None:
        return None, ()
    lacking = [table.source for table in tables if found not in table.columns]
    if lacking:
        return None, (WITHOUT_ID.format(shown_name(found), " and ".join(dict.fromkeys(lacking))),)
    return found, (by_schema(found),)


def chosen_attributes(
    first: Table,
    second: Table,
    attributes: Sequence[str] | None,
    id_column: str | None,
    schema: Schema | None,
    special: Collection[str] = (),
) -> tuple[str, ...]:
    """The columns of two tables that are compared."""
    if attributes is None:
        chosen = [
            column for column in _default_columns(first, second, schema, special) if column != id_column
        ]
        check_compared(chosen, schema)
    else:
        if isinstance(attributes, str):  # a sequence of letters, which are seldom meant
            raise DataError(f"the attributes are the text {attributes!r}; give a list of column names")
        chosen = [str(name) for name in attributes]
        check_no_duplicates(chosen)
        check_attributes(chosen, (first, second), schema)
    if id_column in chosen:
        raise DataError(
            f"{id_column!r} is both the id column and an attribute; take it out of {called('attributes')}",
            option="attributes",
        )
    if not chosen:
        raise DataError(
            f"no attribute is left to compare; name at least one with {called('attributes')}",
            option="attributes",
        )
    return tuple(chosen)


def special_columns(
    tables: tuple[Table, Table], schema: Schema | None = None, named: Collection[str] = ()
) -> dict[str, Recognition]:
    """Find columns that are not compared by default: ids, weights, strata, and what tells nothing.

    They are recognised as `describe` does. Nothing is told by what is the same for all records of the first
    table, nor by text that neither table has few values of. Dates whose form is not clear are no such text:
    somebody has to say it.
    """
    declared = Schema(()) if schema is None else schema
    if declared.select(role=Role.KEY):
        return {}
    said = {one.name for one in declared.attributes if one.role is not None or one.scale is not None}
    found = {name: one for name, one in _recognised(tables).items() if name not in (*said, *named)}
    looked_at = {*tables[0].columns}.intersection(tables[1].columns) - {*said, *named, *found}
    first, second = (
        {one.attribute.name: one for one in guesses(table.frame, table.notes, sorted(looked_at)) if one.idle}
        for table in tables
    )
    for name in tables[0].columns:
        if name not in first:
            continue
        unclear = first[name].attribute.scale is Scale.TEXT and looks_dated(tables[0].frame[name])
        if first[name].attribute.scale is not Scale.TEXT or (name in second and not unclear):
            found[name] = Recognition(Role.IGNORED, first[name].why_role)
    return found


def _recognised(tables: Sequence[Table]) -> dict[str, Recognition]:
    """Ids, weights and strata by name and values; what the first table tells comes first."""
    found: dict[str, Recognition] = {}
    for table in tables:
        for name in table.columns:
            label = table.notes[name].label if name in table.notes else ""
            if name not in found and (one := recognised(name, table.frame[name], table.columns, label)):
                found[name] = one
    return found


def special_notes(names: Sequence[str], special: Mapping[str, Recognition]) -> tuple[str, ...]:
    """Say which columns are left out, what they are taken for and why."""
    if not names:
        return ()
    listed = ", ".join(f"{shown_name(name)} ({_taken_for(special[name])})" for name in names)
    return (f"not compared: {listed}; {called('attributes')} or {called('schema')} compares them",)


def _taken_for(found: Recognition) -> str:
    why = " by its name" if found.why.startswith(BY_NAME) else f", as it {found.why}"
    return f"{ROLE_WORDS[found.role]}{why}"


def _default_columns(
    first: Table, second: Table, schema: Schema | None, special: Collection[str]
) -> list[str]:
    """The columns that both tables must have where no attribute is named."""
    if schema is not None:
        check_keys(schema, (first, second))
    own, others = (
        [
            name
            for name in (table.columns if schema is None else open_columns(table.columns, schema))
            if name not in special
        ]
        for table in (first, second)
    )
    for here, there, these, those in ((first, second, own, others), (second, first, others, own)):
        lacking = [column for column in those if column not in these]
        if lacking:
            raise DataError(
                f"{here.source} does not have columns that {there.source} has: {shown_names(lacking)}; "
                f"choose common columns with {called('attributes')}",
                option="attributes",
            )
    return own


def open_columns(columns: Sequence[str], schema: Schema) -> list[str]:
    """Those of the columns that are compared where no attribute is named.

    They are the key variables of the schema; where it has none, all columns without a role that are not free
    text.
    """
    keys = schema.select(role=Role.KEY)
    if keys:
        return [name for name in columns if name in keys]
    return [
        name for name in columns if schema.get(name).role is None and schema.get(name).scale is not Scale.TEXT
    ]


def check_keys(schema: Schema, tables: Sequence[Table]) -> None:
    """Raise a DataError for a key variable that a table does not have."""
    for table in tables:
        lacking = [name for name in schema.select(role=Role.KEY) if name not in table.columns]
        if lacking:
            raise DataError(
                f"{table.source} does not have these key variables of the schema: {shown_names(lacking)}; "
                f"choose common columns with {called('attributes')}",
                option="attributes",
            )


def check_compared(names: Sequence[str], schema: Schema | None) -> None:
    """Raise a DataError for an attribute that a schema says is never compared."""
    if schema is None:
        return
    for name in names:
        declared = schema.get(name)
        if declared.role in NEVER_COMPARED:
            raise DataError(
                f"{name!r} is {ROLE_WORDS[declared.role]} in the schema, and never compared; "
                f"take it out of {called('attributes')}, or give it another role",
                option="attributes",
            )
        if declared.scale is Scale.TEXT:
            raise DataError(
                f"{name!r} is free text in the schema, which cannot be compared; take it out of "
                f"{called('attributes')}, or call it nominal in the schema",
                option="attributes",
            )


def check_attributes(names: Sequence[str], tables: Sequence[Table], schema: Schema | None) -> None:
    """Raise a DataError for an attribute that a table does not have or a schema says is never compared."""
    for table in tables:
        check_known(names, table.columns, table.source)
    check_compared(names, schema)
