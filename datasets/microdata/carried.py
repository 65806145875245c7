"""What a file says of its columns, carried over to the masked file as far as it still holds."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import pandas as pd

from linkrisk.datasets.microdata.category_names import spelled
from linkrisk.datasets.microdata.formats.base import ColumnNotes, StoredFile
from linkrisk.datasets.microdata.formats.kinds import Kind, cells_of, kind_of
from linkrisk.datasets.microdata.missing import MissingRange, overlapping
from linkrisk.datasets.microdata.names import with_columns

_NUMBERS = {Kind.LOGICAL, Kind.WHOLE, Kind.NUMBER}


def carried(stored: StoredFile, frame: pd.DataFrame, masked: Collection[str]) -> StoredFile:
    """The masked table with the notes of the original one.

    Parameters
    ----------
    stored : StoredFile
        The original file.
    frame : DataFrame
        The masked table, with its columns.
    masked : collection of str
        Those that a method has changed.

    Returns
    -------
    StoredFile
        With all notes on columns that are as they were. Of a masked column the label stays, and of value
        labels those of codes that occur: a label without a record tells whom masking has taken out. Where
        the masked values are other numbers, the declared missing codes stay with their labels; where text
        took the place of numbers, nothing else. Title and documents of the file stay behind.
    """
    regained = {
        name: _with_numbers(stored.frame[name], frame[name])
        for name in masked
        if name in stored.frame.columns and kind_of(stored.frame[name]) is Kind.MIXED
    }
    frame = with_columns(frame, regained)
    notes = {
        name: _notes(stored.notes(name), stored.frame[name], frame[name])
        if name in masked
        else stored.notes(name)
        for name in frame.columns
        if name in stored.frame.columns
    }
    return replace(stored, frame=frame, columns=notes, dialect=stored.dialect.without_documents())


def occurring_only(frame: pd.DataFrame, masked: Collection[str]) -> pd.DataFrame:
    """A masked table whose categories all occur, and without attributes that were attached to the original.

    Parameters
    ----------
    frame : DataFrame
        The masked table.
    masked : collection of str
        Columns from whose lists of categories go those that no record has any more.
    """
    found = frame.copy()
    for name in masked:
        if isinstance(frame[name].dtype, pd.CategoricalDtype):
            found[name] = frame[name].cat.remove_unused_categories()
    found.attrs = {}
    return found


def _notes(notes: ColumnNotes, before: pd.Series, after: pd.Series) -> ColumnNotes:
    labels = notes.value_labels
    kept = {code: labels[code] for code in overlapping(labels, notes.missing)}
    if (codes := _codes(after)) <= _codes(before) | set(labels):
        occurring = {code: text for code, text in labels.items() if code in codes or code in kept}
        return replace(notes, value_labels=occurring)
    if kind_of(before) in _NUMBERS and kind_of(after) in _NUMBERS:
        return replace(notes, value_labels=kept)
    if kind_of(before) is kind_of(after):
        return replace(notes, value_labels=_occurring(notes, after))
    missing = tuple(
        item for item in notes.missing if not isinstance(item, MissingRange) and item in _codes(after)
    )
    return ColumnNotes(notes.label, _occurring(notes, after), missing, "nominal" if notes.measure else None)


def _with_numbers(before: pd.Series, after: pd.Series) -> pd.Series:
    """A masked column whose codes are numbers again where those of the original were: 2 beside ``.a``."""
    values = {spelled(value): value for value in before.dropna().unique()}
    if not _codes(after) <= set(values):
        return after
    cells = [None if value is None else values[spelled(value)] for value in cells_of(after)]
    return pd.Series(cells, after.index, dtype=object, name=after.name)


def _occurring(notes: ColumnNotes, after: pd.Series) -> dict[str, str]:
    codes = _codes(after)
    return {code: label for code, label in notes.value_labels.items() if code in codes}


def _codes(column: pd.Series) -> set[str]:
    return {spelled(value) for value in column.dropna().unique()}
