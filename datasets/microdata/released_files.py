"""Released files: notes on columns that still hold, order of records, new ids."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.base import ColumnNotes, StoredFile
from linkrisk.datasets.microdata.missing import MissingRange, overlapping
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.microdata.values import Kind, cells_of, kind_of, spelled

_NUMBERS = {Kind.LOGICAL, Kind.WHOLE, Kind.NUMBER}


_NOTHING: Mapping[str, Mapping[str, str]] = MappingProxyType({})


def carried(
    stored: StoredFile,
    frame: pd.DataFrame,
    masked: Collection[str],
    labels: Mapping[str, Mapping[str, str]] = _NOTHING,
) -> StoredFile:
    """Give the masked table the notes of the original one, as far as they still hold.

    Masked columns keep their label, and value labels of codes that occur: a label without a record tells whom
    masking has taken out. Where masked values are other numbers, declared missing codes stay with their
    labels; where text replaced numbers, nothing else. Title and documents of the file are left out.
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
    for name, meanings in labels.items():
        kept = {code: notes[name].value_labels[code] for code in _missing_labels(notes[name])}
        occurring = _codes(frame[name])
        new = {code: text for code, text in meanings.items() if code in occurring}
        notes[name] = replace(notes[name], value_labels={**new, **kept})
    return replace(stored, frame=frame, columns=notes, dialect=stored.dialect.without_documents())


def occurring_only(frame: pd.DataFrame, masked: Collection[str]) -> pd.DataFrame:
    """Drop categories without a record from masked columns, and the attributes of the original frame."""
    found = frame.copy()
    for name in masked:
        if isinstance(frame[name].dtype, pd.CategoricalDtype):
            found[name] = frame[name].cat.remove_unused_categories()
    found.attrs = {}
    return found


def _notes(notes: ColumnNotes, before: pd.Series, after: pd.Series) -> ColumnNotes:
    labels = notes.value_labels
    kept = {code: labels[code] for code in _missing_labels(notes)}
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


def _missing_labels(notes: ColumnNotes) -> list[str]:
    """The codes with a label that are declared missing."""
    return overlapping(notes.value_labels, notes.missing)


def labels_of_recoded(
    becomes: Mapping[str, str], labels: Mapping[str, str], said: Mapping[str, str]
) -> dict[str, str]:
    """What new codes mean: what is said of them, or else the labels of the codes that have become one."""
    found: dict[str, str] = {}
    for new in dict.fromkeys(becomes.values()):
        joined = [labels[old] for old, other in becomes.items() if other == new and old in labels]
        if new in said or joined:
            found[new] = said.get(new) or ", ".join(dict.fromkeys(joined))
    return found


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


NOTHING: Mapping[str, int] = MappingProxyType({})


def shuffled(
    frame: pd.DataFrame, generator: np.random.Generator, household: str | None = None
) -> pd.DataFrame:
    """The records in random order; those of a household stay together."""
    if household is None:
        return frame.iloc[generator.permutation(len(frame))]
    groups = pd.factorize(frame[household])[0]
    alone = groups < 0
    groups[alone] = groups.max(initial=-1) + 1 + np.arange(int(alone.sum()))
    place = generator.permutation(int(groups.max(initial=-1)) + 1)
    return frame.iloc[np.lexsort((generator.permutation(len(frame)), place[groups]))]


def renumbered(
    frame: pd.DataFrame, columns: Sequence[str], after: Mapping[str, int] = NOTHING
) -> pd.DataFrame:
    """The values of columns as 1, 2, 3, ... in the order in which they come; equal ones stay equal."""
    found = frame.copy()
    for name in columns:
        if name not in frame.columns:
            raise DataError(
                f"renumber: there is no column {name!r}; there are {', '.join(map(str, frame.columns))}"
            )
        numbers = pd.factorize(frame[name])[0]
        if (numbers < 0).any():
            row = int(np.argmax(numbers < 0)) + 1
            raise DataError(
                f"renumber: column {name!r} has no value in row {row}: number it, or leave it out"
            )
        found[name] = numbers + 1 + after.get(name, 0)
    return found
