"""Base class of file formats, the stored table with its notes, and what a format cannot hold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Flag, auto
from pathlib import Path
from typing import ClassVar, Literal

import pandas as pd

from linkrisk.datasets.microdata.missing import Missing
from linkrisk.datasets.microdata.names import shown_name
from linkrisk.datasets.microdata.values import Kind, has_zone, is_wide, kind_of

Measure = Literal["numeric", "ordinal", "nominal"]
"""How a file says that a column is to be read."""


@dataclass(frozen=True)
class ColumnNotes:
    """What a file says of a column besides its values."""

    label: str = ""  # what the column is called in words; empty where the file does not say
    # what the codes mean. Codes are spelled as in the file; whole numbers have no decimal point
    value_labels: Mapping[str, str] = field(default_factory=dict)
    # codes, spelled likewise, and ranges of numbers that stand for a missing value. Such codes stay in the
    # table
    missing: Missing = ()
    measure: Measure | None = None  # ``numeric``, ``ordinal`` or ``nominal``, where the file says so
    # what one format alone knows, by ``format.word``: ``spss.format`` (``F8.2``), ``spss.width``,
    # ``stata.format``, ``sas.format``, ``argus.length``, ``argus.decimals``, ``argus.weight``,
    # ``argus.household_id``, ``argus.household``, ``argus.idlevel``, ``argus.suppressweight``, ... A word
    # that says only that something is so has an empty value
    settings: Mapping[str, str] = field(default_factory=dict)

    def of_format(self, name: str) -> dict[str, str]:
        """The settings of one format, such as ``spss``, by their words alone."""
        return {
            key.partition(".")[2]: text for key, text in self.settings.items() if key.startswith(f"{name}.")
        }


@dataclass(frozen=True)
class Dialect:
    """How a file was written, so that it can be written back alike; formats with choices have their own."""

    def without_documents(self) -> Dialect:
        """Leave out the title of the file and all free text in it: they speak of the original."""
        return self


@dataclass(frozen=True, eq=False)
class StoredFile:
    """A table with all that its file says of it."""

    frame: pd.DataFrame  # columns named by text, in the order of the file; rows numbered from 0
    labels: pd.Index | None = None  # what the rows were called, where that was not their number from 0
    # notes on columns; a column without any may be left out
    columns: Mapping[str, ColumnNotes] = field(default_factory=dict)
    dialect: Dialect = Dialect()  # how the file was written
    remarks: tuple[str, ...] = ()  # what was detected or could not be kept, a line each, for the user

    def notes(self, column: str) -> ColumnNotes:
        """The notes on a column; empty ones where there are none."""
        return self.columns.get(column, _NO_NOTES)


_NO_NOTES = ColumnNotes()


ROWS_AT_ONCE = 100_000
"""Rows of a long table that are written at a time."""


def parts(frame: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """The rows of a long table, `ROWS_AT_ONCE` at a time, without copies; at least one part."""
    for start in range(0, max(len(frame), 1), ROWS_AT_ONCE):
        yield frame.iloc[start : start + ROWS_AT_ONCE]


class Format(ABC):
    """A file format.

    Attributes
    ----------
    name : str
        What to call one such file after "a" or "an": ``an SPSS``.
    suffixes : tuple of str
        How names of such files end, in small letters; the first is the usual one.
    cannot_write : str, optional
        Why it cannot be written, and what to use instead; None where it can.
    requires : tuple of str
        Modules of an extra that it cannot be read or written without.
    """

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    cannot_write: ClassVar[str | None] = None
    requires: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def read(self, path: Path, *, text_columns: Sequence[str] = ()) -> StoredFile:
        """Read a file.

        Parameters
        ----------
        path : Path
            An existing file.
        text_columns : sequence of str
            Columns of files without types of their own that are kept as written; those that the file does
            not have are ignored.

        Raises
        ------
        DataError
            If it is damaged, cut off or of another format, in one line.
        """

    @abstractmethod
    def write(self, stored: StoredFile, path: Path) -> dict[Path, bytes]:
        """What to write: the content of the file at `path` first, then of those that belong beside it.

        Nothing is written yet. `stored.dialect` and `stored.columns` are followed as far as the format can.

        Raises
        ------
        DataError
            If the table does not fit into the format, in one line.
        """

    def pieces(self, stored: StoredFile, path: Path) -> Iterator[bytes] | None:  # noqa: ARG002
        """The table of the file at `path`, piece by piece, each made when it is asked for.

        None where the format makes it in one piece.
        """
        return None

    @abstractmethod
    def loses(self, stored: StoredFile) -> tuple[str, ...]:
        """What would not come back if this were written, a sentence each; empty where all would."""

    def files(self, path: Path, dialect: Dialect | None = None) -> tuple[Path, ...]:  # noqa: ARG002
        """All files that a table at `path` is made of, except for lists of codes."""
        return (path,)


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
    """What would be lost of a table in a format that holds `holds`."""
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
