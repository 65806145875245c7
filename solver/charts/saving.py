"""Charts outside of a report: as a page of their own, as a picture, in a notebook."""

from __future__ import annotations

import hashlib
import html
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from linkrisk.solver.charts.table import Table
from linkrisk.solver.run.errors import UsageError

INK = "currentColor"
"""Colour of text in all charts: that of the page around, by day and by night."""

WIDTH = 640
"""Of a picture, which has no page around."""

_VEGA_LITE = "6.4"
_SCRIPT = "window.vegaEmbed = vegaEmbed;"
_STYLE = (
    ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;"
    "padding:0 1rem}#chart{width:100%}td,th{text-align:left;padding:.2rem .8rem .2rem 0}"
)


def painted(spec: Any, ink: str) -> Any:
    """The same definition with text in a colour of its own, where there is no page around that has one."""
    if isinstance(spec, Mapping):
        return {key: painted(value, ink) for key, value in spec.items()}
    if isinstance(spec, list):
        return [painted(value, ink) for value in spec]
    return ink if spec == INK else spec


def svg(spec: Mapping[str, Any], width: int = WIDTH, title: str = "") -> str:
    """Draw a definition; its text has the colour of what is around."""
    import vl_convert

    text: str = vl_convert.vegalite_to_svg(_sized(spec, width, title), vl_version=_VEGA_LITE)
    # Several pictures of one page must not cut each other by parts of the same name.
    own = hashlib.sha256(text.encode()).hexdigest()[:8]
    return re.sub(r'((?:id="|url\(#)(?:clip|gradient_))(\d+)', rf"\g<1>_{own}_\g<2>", text)


def _sized(spec: Mapping[str, Any], width: int, title: str) -> dict[str, Any]:
    return {**spec, "width": width, **({"title": title} if title else {})}


def picture_file(suffix: str, title: str, spec: Mapping[str, Any]) -> bytes:
    """The picture as a file; that of dots is on white."""
    import vl_convert

    if suffix == ".svg":
        style = "<style>svg{color:#222}@media(prefers-color-scheme:dark){svg{color:#ddd}}</style>"
        return svg(spec, title=title).replace(">", ">" + style, 1).encode()
    if suffix == ".png":
        plain = {**painted(_sized(spec, WIDTH, title), "#222"), "background": "white"}
        return bytes(vl_convert.vegalite_to_png(plain, vl_version=_VEGA_LITE, scale=2))
    raise UsageError(
        f"a chart cannot be written as {suffix or 'a file without a suffix'}: use .html, .svg or .png"
    )


def page(title: str, reading: str, spec: Mapping[str, Any], table: Table) -> str:
    """A page with the chart, its scripts, and the table behind it."""
    import vl_convert

    definition = json.dumps(spec, allow_nan=False).replace("<", "\\u003c")
    head = "".join(f"<th>{html.escape(column.title)}</th>" for column in table.columns)
    rows = "".join(f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>" for row in table.rows)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style>'
        f'<h1>{html.escape(title)}</h1><p>{html.escape(reading)}</p><div id="chart"></div>'
        f"<details><summary>Table</summary><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        f"</details><script>{vl_convert.javascript_bundle(_SCRIPT)}</script>"
        f'<script>vegaEmbed("#chart", {definition})</script></html>\n'
    )


def _cell(value: Any) -> str:
    return "" if value is None else html.escape(f"{value:.6g}" if isinstance(value, float) else str(value))


def shown(title: str, reading: str, description: str, spec: Mapping[str, Any]) -> str:
    """What a notebook shows of a chart."""
    label = html.escape(description, quote=True)
    return (
        f'<figure role="img" aria-label="{label}" style="margin:0;max-width:{WIDTH + 40}px">'
        f"<strong>{html.escape(title)}</strong><div>{svg(spec)}</div>"
        f"<figcaption>{html.escape(reading)}</figcaption></figure>"
    )


def write(path: str | Path, content: bytes) -> None:
    """Write a file whole or not at all.

    Raises
    ------
    UsageError
        If it cannot be written.
    """
    target = Path(path)
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        beside.replace(target)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise UsageError(f"{target} cannot be written: {error.strerror}") from error
