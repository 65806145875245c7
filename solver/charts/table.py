"""A table for people: columns that know what their numbers are, rows that are plain JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar


class Of(StrEnum):
    """What the cells of a column are, and so how they are written and sorted."""

    TEXT = "text"
    COUNT = "count"
    NUMBER = "number"
    SHARE = "share"
    POINTS = "points"
    SECONDS = "seconds"
    FLAG = "flag"

    def columns(self, **titles: str) -> tuple[Column, ...]:
        """Columns of this kind: titles by name."""
        return tuple(Column(name, title, self) for name, title in titles.items())


@dataclass(frozen=True)
class Column:
    """One column."""

    name: str  # its key in exported files
    title: str  # what people read above it
    # shares are between 0 and 1, and points are differences of shares; flags are true, false or null
    of: Of = Of.TEXT
    long: bool = False  # whether its texts may be cut where they are shown and there is no room for them


@dataclass(frozen=True)
class Table:
    """Columns and rows; a cell that is None is one that has no value."""

    kind: ClassVar[str] = "table"
    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Any]]
    caption: str = ""  # what the table shows; empty where it stands behind a chart

    @classmethod
    def of(cls, columns: Sequence[Column], rows: Iterable[Mapping[str, Any]]) -> Table:
        """The table of rows whose cells have names, of which others than these columns are left out."""
        return cls(tuple(columns), [[row.get(column.name) for column in columns] for row in rows])

    def to_dict(self) -> dict[str, Any]:
        """The table as JSON."""
        columns = [{"name": one.name, "title": one.title, "of": one.of.value} for one in self.columns]
        return {"caption": self.caption, "columns": columns, "rows": [list(row) for row in self.rows]}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Table:
        """The table of a JSON; KeyError, TypeError or ValueError when it is none."""
        columns = tuple(Column(one["name"], one["title"], Of(one["of"])) for one in given["columns"])
        return cls(columns, [list(row) for row in given["rows"]], given["caption"])
