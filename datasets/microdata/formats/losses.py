"""What a format cannot hold of a table, in sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Flag, auto

import pandas as pd

from linkrisk.datasets.microdata.formats.base import ColumnNotes, StoredFile
from linkrisk.datasets.microdata.formats.kinds import Kind, has_zone, is_wide, kind_of
from linkrisk.datasets.microdata.names import shown_name

_SHOWN = 3


class Holds(Flag):
    """What a format can hold besides numbers and text."""

    NOTHING = 0
    LABELS = auto()
    VALUE_LABELS = auto()
    MISSING_CODES = auto()
    MEASURE = auto()
    SETTINGS = auto()
    LOGICAL = auto()
    DATES = auto()
    MOMENTS = auto()
    ZONES = auto()
    WIDE = auto()
    EMPTY_TEXT = auto()
    CATEGORIES = auto()
    MIXED = auto()


_NOTES: tuple[tuple[Holds, Callable[[ColumnNotes], object], str], ...] = (
    (Holds.LABELS, lambda notes: notes.label, "variable labels"),
    (Holds.VALUE_LABELS, lambda notes: notes.value_labels, "value labels"),
    (Holds.MISSING_CODES, lambda notes: notes.missing, "declared missing codes"),
    (Holds.MEASURE, lambda notes: notes.measure, "levels of measurement"),
)

_VALUES: tuple[tuple[Holds, Callable[[pd.Series], bool], str], ...] = (
    (Holds.LOGICAL, lambda column: kind_of(column) is Kind.LOGICAL, "True and False become 1 and 0"),
    (Holds.DATES, lambda column: kind_of(column) in (Kind.DATE, Kind.TIME), "dates and times become text"),
    (Holds.MOMENTS, lambda column: kind_of(column) is Kind.MOMENT, "dates and times become text"),
    (Holds.ZONES, has_zone, "dates and times of a time zone become text"),
    (Holds.WIDE, is_wide, "whole numbers beyond 2^53 become text"),
    (Holds.MIXED, lambda column: kind_of(column) is Kind.MIXED, "values of several types become text"),
    (Holds.EMPTY_TEXT, lambda column: has_empty_text(column), "empty text becomes a missing value"),
    (
        Holds.CATEGORIES,
        lambda column: isinstance(column.dtype, pd.CategoricalDtype),
        "the list of categories and its order are lost",
    ),
)


def losses(stored: StoredFile, holds: Holds, *, own: str = "") -> list[str]:
    """What would be lost of a table in a format that holds `holds`.

    Parameters
    ----------
    stored : StoredFile
        The table.
    holds : Holds
        What the format can hold.
    own : str
        What the format's own settings of columns begin with.
    """
    said = []
    for need, found, words in _NOTES:
        names = [name for name in stored.frame.columns if found(stored.notes(name))]
        if names and need not in holds:
            said.append(f"{words} are lost ({columns(names)})")
    if Holds.SETTINGS not in holds:
        said += _lost_settings(stored, own)
    for need, changed, words in _VALUES:
        if need not in holds:
            names = [name for name in stored.frame.columns if changed(stored.frame[name])]
            said += sentence(names, words)
    return list(dict.fromkeys(said))


def _lost_settings(stored: StoredFile, own: str) -> list[str]:
    others: dict[str, list[str]] = {}
    for name in stored.frame.columns:
        for key in stored.notes(name).settings:
            origin = key.partition(".")[0]
            if origin != own and name not in others.setdefault(origin, []):
                others[origin].append(name)
    names = {"spss": "SPSS", "stata": "Stata", "sas": "SAS", "argus": "ARGUS"}
    return [
        f"settings that only {names.get(origin, origin)} knows are lost ({columns(lost)})"
        for origin, lost in others.items()
        if lost
    ]


def sentence(names: Sequence[str], words: str) -> list[str]:
    """A list of one sentence on these columns; none where there are no columns."""
    return [f"{words} ({columns(names)})"] if names else []


def columns(names: Sequence[str]) -> str:
    """Some columns by name."""
    shown = ", ".join(shown_name(name) for name in names[:_SHOWN])
    more = len(names) - _SHOWN
    what = "column" if len(names) == 1 else "columns"
    return f"{what} {shown}" + (f" and {more} more" if more > 0 else "")


def has_empty_text(column: pd.Series) -> bool:
    """Whether a column has text without letters."""
    return kind_of(column) in (Kind.TEXT, Kind.MIXED) and bool(column.isin([""]).any())


def ends_blank(column: pd.Series) -> bool:
    """Whether a column has text with blanks at its end."""
    if kind_of(column) not in (Kind.TEXT, Kind.MIXED):
        return False
    return any(isinstance(text, str) and text != text.rstrip(" ") for text in column.dropna().unique())
