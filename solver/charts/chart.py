"""A chart, whoever draws it: its definition, how to read it, the same in words, and the table behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linkrisk.solver.charts.saving import page, picture_file, shown, write
from linkrisk.solver.charts.table import Table


@dataclass(frozen=True)
class Chart:
    """A chart of Vega-Lite with all that a reader needs who cannot see it.

    Attributes
    ----------
    name : str
        Which chart of the gallery it is, such as ``bound``; of its page, the first part of its id.
    title : str
        What it shows, in a few words.
    reading : str
        How to read it, in one line.
    description : str
        What it shows, with its main numbers: the text alternative.
    spec : mapping
        The Vega-Lite definition with its data inside; no address of any other place.
    table : Table
        The numbers behind it.
    """

    name: str
    title: str
    reading: str
    description: str
    spec: Mapping[str, Any]
    table: Table

    def to_dict(self) -> dict[str, Any]:
        """The chart as JSON."""
        return {**vars(self), "spec": dict(self.spec), "table": self.table.to_dict()}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Chart:
        """The chart of a JSON; KeyError, TypeError or ValueError when it is none."""
        table = Table.from_dict(given["table"])
        return cls(**{**{name: given[name] for name in cls.__dataclass_fields__}, "table": table})

    def save(self, path: str | Path) -> None:
        """Write the chart as a page that needs no network (``.html``), or as a picture (``.svg``, ``.png``).

        Raises
        ------
        UsageError
            If the name of the file ends otherwise, or it cannot be written.
        """
        suffix = Path(path).suffix.lower()
        if suffix == ".html":
            write(path, page(self.title, self.reading, self.spec, self.table).encode())
        else:
            write(path, picture_file(suffix, self.title, self.spec))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """What a notebook shows: the picture, which needs no scripts, and how to read it."""
        del include, exclude
        return {
            "text/html": shown(self.title, self.reading, self.description, self.spec),
            "text/plain": f"{self.title}. {self.description}",
        }
