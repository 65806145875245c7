"""Infers scales of columns without a declared one: dates, numbers, categories."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum, auto

import numpy as np
import pandas as pd

from linkrisk.datasets.errors import NotANumberError
from linkrisk.datasets.microdata.dates import (
    LEVELS,
    NATIVE,
    at_level,
    forms_of,
    goes_with_dates,
    looks_dated,
    read_dates,
)
from linkrisk.datasets.microdata.formats.base import ColumnNotes
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.datasets.microdata.names import shown_name, with_columns
from linkrisk.datasets.microdata.numeric import reading_cure
from linkrisk.datasets.microdata.roles import Scale
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.tables import Table
from linkrisk.datasets.microdata.values import are_numbers, spelled
from linkrisk.errors import called

MOST_CATEGORIES = 2000
"""Distance tables of more categories would take too much memory."""

SMALLEST_CATEGORY = 2
"""Text is categories where there are at least so many records of each on average."""

_MOST = 0.5
"""A column with more than this share of cells that are not numbers holds text."""

_ZEROS = re.compile(r"[+-]?0\d+")
"""A code with leading zeros."""

_LONGEST = 40


class Kind(Enum):
    """What the cells of a column are."""

    NUMBERS = auto()
    CODES = auto()  # numbers with leading zeros
    WORDS = auto()


def undeclared_scale(name: str, tables: Sequence[Table], *, recoded: bool = False) -> Scale:
    """The scale of a column of which nothing is declared: what a file says, or else what the values tell."""
    stated = _stated(name, tables)
    if stated is not None:
        return stated
    kinds = [kind_of(table.frame[name]) for table in tables]
    if recoded and _may_be_recoded([table.frame[name] for table in tables], kinds):
        return Scale.NOMINAL
    if Kind.NUMBERS not in kinds:
        for table in tables:
            _check_few(name, table)
        return Scale.NOMINAL
    for table, kind in zip(tables, kinds, strict=True):
        if kind is Kind.WORDS:
            numbers = next(other for other, its in zip(tables, kinds, strict=True) if its is Kind.NUMBERS)
            raise NotANumberError(
                f"{_first_text(table, name)} is not a number, and {numbers.source} has numbers there; fix "
                f"it, choose other {called('attributes')}, or compare categories with {called('nominal')}",
                option="nominal",
            )
    return Scale.NUMERIC


def _may_be_recoded(columns: Sequence[pd.Series], kinds: Sequence[Kind]) -> bool:
    """Whether the last table has few texts and no other table has too many values."""
    texts = columns[-1].dropna().unique()
    last = kinds[-1] is Kind.WORDS and has_few_values(columns[-1])
    last = last and len(texts) > 1 and all(isinstance(text, str) for text in texts)
    return last and all(column.nunique() <= MOST_CATEGORIES for column in columns[:-1])


def stated_scale(column: pd.Series, notes: ColumnNotes) -> tuple[Scale, str] | None:
    """What a file says of the scale of a column, as far as its values allow it, and how it says so."""
    if notes.measure is None and not notes.value_labels:
        return None
    occurring = {spelled(value) for value in column.dropna().unique()}
    if notes.measure == "nominal":
        return Scale.NOMINAL, "is nominal in the file"
    if notes.measure == "ordinal" and occurring and are_numbers(occurring):
        return Scale.ORDINAL, "is ordinal in the file"
    if notes.measure == "numeric" and pd.api.types.is_numeric_dtype(column.dtype):
        return Scale.NUMERIC, "is numeric in the file"
    if occurring and occurring <= set(notes.value_labels):
        return Scale.NOMINAL, "has a label for every code"
    return None


def _stated(name: str, tables: Sequence[Table]) -> Scale | None:
    """What the first file that says anything says; None where another one has values that are no codes."""
    for table in tables:
        notes = table.notes.get(name)
        stated = None if notes is None else stated_scale(table.frame[name], notes)
        if notes is None or stated is None:
            continue
        if stated[0] is Scale.NUMERIC:
            return None  # text among numbers is looked for as everywhere
        known = {spelled(value) for value in table.frame[name].dropna().unique()} | set(notes.value_labels)
        found = {spelled(value) for each in tables for value in each.frame[name].dropna().unique()}
        return stated[0] if found <= known else None
    return None


def category_notes(columns: Mapping[str, tuple[Scale, Sequence[Table]]]) -> tuple[str, ...]:
    """Say which undeclared columns, of text or of codes with labels, are compared as categories."""
    said = {name: _compared_as(name, *found) for name, found in columns.items()}
    if len(said) == 1:
        (name, (what, scale, many)), it = next(iter(said.items())), "it"
        listed = f"column {shown_name(name)} holds {what} and is compared as {scale} ({many})"
    else:
        them = (f"{shown_name(name)} ({what}, {scale}, {many})" for name, (what, scale, many) in said.items())
        listed, it = f"columns that are compared as categories: {', '.join(them)}", "them"
    if not said:
        return ()
    return (f"{listed}; declare {it} with {called('nominal')}, {called('ordinal')} or {called('schema')}",)


def _compared_as(name: str, scale: Scale, tables: Sequence[Table]) -> tuple[str, Scale, str]:
    """What a column holds, its scale, and how many categories."""
    values = pd.concat([table.frame[name].astype("object") for table in tables]).nunique()
    holds = "codes" if _stated(name, tables) is not None else "text"
    return holds, scale, f"{values} categories"


def kind_of(column: pd.Series) -> Kind:
    """What most of the cells of a column are."""
    if pd.api.types.is_numeric_dtype(column.dtype):  # logical values too
        return Kind.NUMBERS
    known = column.dropna().astype("object")
    if known.empty:
        return Kind.NUMBERS
    cell_value, values = pd.factorize(known)  # each value once: cells that are words take long to be refused
    unreadable = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce").isna().to_numpy()
    unread = float(unreadable[cell_value].mean())
    if unread > _MOST:
        return Kind.WORDS
    codes = unread == 0.0 and any(isinstance(cell, str) and _ZEROS.fullmatch(cell) for cell in values)
    return Kind.CODES if codes else Kind.NUMBERS


def has_few_values(column: pd.Series) -> bool:
    """Whether text has so few different values that they are taken for categories."""
    known, values = int(column.notna().sum()), int(column.nunique())
    return values <= MOST_CATEGORIES and known >= SMALLEST_CATEGORY * values


def _check_few(name: str, table: Table) -> None:
    column = table.frame[name]
    if has_few_values(column):
        return
    known, values = int(column.notna().sum()), int(column.nunique())
    why = (
        f"more than {MOST_CATEGORIES} different values"
        if values > MOST_CATEGORIES
        else f"{values} different values in {known} records"
    )
    raise NotANumberError(
        f"{_first_text(table, name)} is not a number, and with {why} the column is not treated as "
        f"categorical; declare it with {called('nominal')} or {called('schema')}, or choose other "
        f"{called('attributes')}{reading_cure(column)}",
        option="nominal",
    )


def _first_text(table: Table, name: str) -> str:
    """The place of the first cell that is not a number (or is a code), and its content."""
    column = table.frame[name].astype("object")
    unread = (pd.to_numeric(column, errors="coerce").isna() & column.notna()).to_numpy(dtype=bool)
    row = int(np.argmax(unread if unread.any() else column.notna().to_numpy(dtype=bool)))
    cell = str(column.iloc[row])
    shown = cell if len(cell) <= _LONGEST else cell[: _LONGEST - 3] + "..."
    return f"{table.source}, column {name!r}, row {row + 1}: {shown!r}"


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
    """Tables with days since 1970 in the place of dates (`dates.Dates`)."""
    made = list(tables)
    for name, form in dates.items():
        holders = [at for at, table in enumerate(made) if name in table.columns]
        read = read_dates([(made[at].frame[name], made[at].source) for at in holders], form)
        for at, column in zip(holders, read, strict=True):
            days = pd.Series(column.days, made[at].frame.index, name=name)
            made[at] = replace(made[at], frame=with_columns(made[at].frame, {name: days}))
    return tuple(made)


def date_hierarchy(column: pd.Series, level: str, form: str | None, source: str) -> Hierarchy:
    """Make the hierarchy of a column of dates: as they are, then a level of `LEVELS` and all coarser ones."""
    known = column.dropna()
    days = read_dates([(known, source)], form)[0].days.tolist()
    levels = LEVELS[: LEVELS.index(level) + 1][::-1]
    rows = {
        spelled(value): tuple(at_level(day, one) for one in levels)
        for value, day in zip(known.tolist(), days, strict=True)
    }
    return replace(Hierarchy.from_rows(str(column.name), rows), names=tuple(levels))
