"""A chart as Vega-Lite with the table of what it draws."""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar

from linkrisk.datasets.microdata.writing import write_whole
from linkrisk.errors import needs_extra
from linkrisk.solver.run.errors import UsageError


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


INK = "currentColor"
"""Colour of text in all charts: that of the page around, by day and by night."""

_WIDTH = 640
"""Of a picture, which has no page around."""

_VEGA_LITE = "6.4"
_SCRIPT = "window.vegaEmbed = vegaEmbed;"
_STYLE = (
    ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;"
    "padding:0 1rem}#chart{width:100%}td,th{text-align:left;padding:.2rem .8rem .2rem 0}"
)


@dataclass(frozen=True)
class Chart:
    """A chart of Vega-Lite with all that a reader needs who cannot see it."""

    kind: ClassVar[str] = "chart"
    name: str  # which chart of the gallery it is, such as ``bound``; of its page, the first part of its id
    title: str  # what it shows, in a few words
    reading: str  # how to read it, in one line
    description: str  # what it shows, with its main numbers: the text alternative
    spec: Mapping[str, Any]  # the Vega-Lite definition with its data inside; no address of any other place
    table: Table  # the numbers behind it

    def to_dict(self) -> dict[str, Any]:
        """The chart as JSON."""
        return {**vars(self), "spec": dict(self.spec), "table": self.table.to_dict()}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Chart:
        """The chart of a JSON; KeyError, TypeError or ValueError when it is none."""
        return cls(**{**given, "table": Table.from_dict(given["table"])})

    def save(self, path: str | Path) -> None:
        """Write the chart as a page that needs no network (``.html``), or as a picture (``.svg``, ``.png``).

        Raises UsageError if the name of the file ends otherwise. Raises DataError if it cannot be written.
        """
        needs_extra("drawing charts", "vl_convert")
        suffix = Path(path).suffix.lower()
        made = _page(self) if suffix == ".html" else _picture_file(suffix, self.title, self.spec)
        write_whole(path, made)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """What a notebook shows: the picture, which needs no scripts, and how to read it."""
        del include, exclude
        label = html.escape(self.description, quote=True)
        shown = (
            f'<figure role="img" aria-label="{label}" style="margin:0;max-width:{_WIDTH + 40}px">'
            f"<strong>{html.escape(self.title)}</strong><div>{svg(self.spec)}</div>"
            f"<figcaption>{html.escape(self.reading)}</figcaption></figure>"
        )
        return {"text/html": shown, "text/plain": f"{self.title}. {self.description}"}


def painted(spec: Any, ink: str) -> Any:
    """The same definition with text in a colour of its own, where there is no page around that has one."""
    if isinstance(spec, Mapping):
        return {key: painted(value, ink) for key, value in spec.items()}
    if isinstance(spec, list):
        return [painted(value, ink) for value in spec]
    return ink if spec == INK else spec


def svg(spec: Mapping[str, Any], width: int = _WIDTH, title: str = "") -> str:
    """Draw a definition; its text has the colour of what is around."""
    needs_extra("drawing charts", "vl_convert")
    import vl_convert

    text: str = vl_convert.vegalite_to_svg(_sized(spec, width, title), vl_version=_VEGA_LITE)
    # Several pictures of one page must not cut each other by parts of the same name.
    own = hashlib.sha256(text.encode()).hexdigest()[:8]
    return re.sub(r'((?:id="|url\(#)(?:clip|gradient_))(\d+)', rf"\g<1>_{own}_\g<2>", text)


def _sized(spec: Mapping[str, Any], width: int, title: str) -> dict[str, Any]:
    return {**spec, "width": width, **({"title": title} if title else {})}


def _picture_file(suffix: str, title: str, spec: Mapping[str, Any]) -> bytes:
    """The picture as a file; that of dots is on white."""
    import vl_convert

    if suffix == ".svg":
        style = "<style>svg{color:#222}@media(prefers-color-scheme:dark){svg{color:#ddd}}</style>"
        return svg(spec, title=title).replace(">", ">" + style, 1).encode()
    if suffix == ".png":
        plain = {**painted(_sized(spec, _WIDTH, title), "#222"), "background": "white"}
        return bytes(vl_convert.vegalite_to_png(plain, vl_version=_VEGA_LITE, scale=2))
    raise UsageError(
        f"a chart cannot be written as {suffix or 'a file without a suffix'}: use .html, .svg or .png"
    )


def _page(chart: Chart) -> str:
    """A page with the chart, its scripts, and the table behind it."""
    import vl_convert

    definition = json.dumps(chart.spec, allow_nan=False).replace("<", "\\u003c")
    title, reading = html.escape(chart.title), html.escape(chart.reading)
    head = "".join(f"<th>{html.escape(column.title)}</th>" for column in chart.table.columns)
    cells = ("".join(f"<td>{_cell(cell)}</td>" for cell in row) for row in chart.table.rows)
    rows = "".join(f"<tr>{row}</tr>" for row in cells)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style>'
        f'<h1>{title}</h1><p>{reading}</p><div id="chart"></div>'
        f"<details><summary>Table</summary><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        f"</details><script>{vl_convert.javascript_bundle(_SCRIPT)}</script>"
        f'<script>vegaEmbed("#chart", {definition})</script></html>\n'
    )


def _cell(value: Any) -> str:
    return "" if value is None else html.escape(f"{value:.6g}" if isinstance(value, float) else str(value))
