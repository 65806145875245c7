"""Which columns of tables are dates, and tables with days in the place of dates."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from linkrisk.datasets.microdata.category_names import spelled
from linkrisk.datasets.microdata.dates import (
    LEVELS,
    NATIVE,
    at_level,
    forms_of,
    goes_with_dates,
    looks_dated,
    read_dates,
)
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.microdata.scales import Scale
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.tables import Table


def guessed_dates(column: pd.Series) -> tuple[Scale, str] | None:
    """Guess the scale of a column that seems to hold dates, and why; None where it does not."""
    forms = forms_of(column)
    if forms:
        if len(forms) > 1:
            return Scale.TEXT, f"holds dates, but {' or '.join(forms)}: to compare them, say scale and form"
        return Scale.DATE, "holds dates" if forms[0] == NATIVE else f"holds dates written as {forms[0]}"
    if looks_dated(column):
        return Scale.TEXT, "holds dates of several forms, or mistakes among them"
    return None


def date_columns(
    names: Iterable[str], tables: Sequence[Table], schema: Schema | None, others: Iterable[str] = ()
) -> dict[str, str | None]:
    """Name the columns of tables that are dates: as the schema says, or else as all of them show.

    The first of the tables must look so, and the others go with it.

    Parameters
    ----------
    names : iterable of str
        Columns to choose from.
    tables : sequence of Table
    schema : Schema, optional
    others : iterable of str
        Columns that are declared to be something else.

    Returns
    -------
    dict of str to (str or None)
        The form that is declared of each, if one is.
    """
    found: dict[str, str | None] = {}
    known = set(others)
    for name in names:
        declared = None if schema is None else schema.get(name)
        if name in known or (declared is not None and declared.scale not in (None, Scale.DATE)):
            continue
        if declared is not None and declared.scale is Scale.DATE:
            found[name] = declared.form
        elif looks_dated(tables[0].frame[name]) and all(
            goes_with_dates(table.frame[name]) for table in tables[1:]
        ):
            found[name] = None
    return found


def of_days(schema: Schema | None, names: Collection[str]) -> Schema | None:
    """The schema for tables that have days in the place of some dates: these are numbers."""
    if schema is None or not names:
        return schema
    return Schema(
        tuple(
            replace(each, scale=Scale.NUMERIC, form=None) if each.name in names else each
            for each in schema.attributes
        )
    )


def in_days(tables: Sequence[Table], dates: Mapping[str, str | None]) -> tuple[Table, ...]:
    """Tables with days since 1970 in the place of dates (`dates.Dates`).

    Raises
    ------
    DataError
        If a cell is no date, or the form of a column is not clear.
    """
    made = list(tables)
    for name, form in dates.items():
        holders = [at for at, table in enumerate(made) if name in table.columns]
        read = read_dates([(made[at].frame[name], made[at].source) for at in holders], form)
        for at, column in zip(holders, read, strict=True):
            days = pd.Series(column.days, made[at].frame.index, name=name)
            made[at] = replace(made[at], frame=with_columns(made[at].frame, {name: days}))
    return tuple(made)


def date_hierarchy(column: pd.Series, level: str, form: str | None, source: str) -> Hierarchy:
    """Make the hierarchy of a column of dates: as they are, then a level of `LEVELS` and all coarser ones.

    Raises
    ------
    DataError
        If a cell is no date, or their form is not clear.
    """
    known = column.dropna()
    days = read_dates([(known, source)], form)[0].days.tolist()
    levels = LEVELS[: LEVELS.index(level) + 1][::-1]
    rows = {
        spelled(value): tuple(at_level(day, one) for one in levels)
        for value, day in zip(known.tolist(), days, strict=True)
    }
    return replace(Hierarchy.from_rows(str(column.name), rows), names=tuple(levels))
