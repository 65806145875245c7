"""Which columns of two tables are compared: those that are asked for, else by their roles."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.dates import looks_dated
from linkrisk.datasets.microdata.guessing import guesses
from linkrisk.datasets.microdata.names import shown_name, shown_names
from linkrisk.datasets.microdata.numeric import check_known, check_no_duplicates
from linkrisk.datasets.microdata.roles import (
    BY_NAME,
    NEVER_COMPARED,
    ROLE_WORDS,
    Recognition,
    Role,
    recognised,
)
from linkrisk.datasets.microdata.scales import Scale
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.tables import Table
from linkrisk.errors import called


def chosen_attributes(
    first: Table,
    second: Table,
    attributes: Sequence[str] | None,
    id_column: str | None,
    schema: Schema | None,
    special: Collection[str] = (),
) -> tuple[str, ...]:
    """The columns of two tables that are compared.

    Parameters
    ----------
    first, second : Table
    attributes : sequence of str, optional
        Those that are asked for; by default the key variables of the schema, else all columns without another
        role.
    id_column : str, optional
        The column that identifies the records.
    schema : Schema, optional
    special : collection of str
        Columns that are compared only where they are asked for (`special_columns`).

    Raises
    ------
    DataError
        If there is none, a table does not have one, one is given twice or must not be compared.
    """
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

    Parameters
    ----------
    tables : pair of Table
    schema : Schema, optional
        Columns whose role or scale it declares are not looked at, and none where it has key variables.
    named : collection of str
        Other columns that are not looked at, as somebody has named them.
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
