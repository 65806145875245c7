"""HTML for notebooks: a small card of a sentence, a bar and tables. All text is escaped here."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from linkrisk.solver.charts.table import Of, Table
from linkrisk.solver.run.counts import count
from linkrisk.solver.run.percent import percent
from linkrisk.solver.run.worst_sentence import percents

FOUND, OPEN = "#D55E00", "#E69F00"
"""Colours of what is linked, and of what lies between attack and bound; they stay apart for everybody."""

ROWS = 12
"""Of longer tables a card shows so many rows, and says how many more there are."""

_CARD = "font-family:system-ui,sans-serif;font-size:14px;line-height:1.45;max-width:46em;margin:.3em 0"
_CELL = "padding:.15em .8em .15em 0;border-bottom:1px solid rgba(128,128,128,.3);vertical-align:top"
_QUIET = "opacity:.75;font-size:12px"
_DECIMALS = 4
_SHORT = 14
"""Texts of so many characters are not broken."""


def card(sentence: str, *parts: str, quiet: str = "") -> str:
    """A headline and what stands below it.

    Parameters
    ----------
    sentence, quiet : str
        Texts: the headline, and what has to be known besides.
    *parts : str
        HTML: bars and tables.
    """
    small = f'<div style="{_QUIET}">{text(quiet)}</div>' if quiet else ""
    head = f'<div style="font-weight:600">{text(sentence)}</div>'
    return f'<div style="{_CARD}">{head}{"".join(parts)}{small}</div>'


def text(value: object) -> str:
    """Any text, as text."""
    return escape(str(value), quote=True)


def paragraph(value: str) -> str:
    """A few sentences."""
    return f'<div style="margin:.3em 0">{text(value)}</div>'


def bar(low: float, high: float) -> str:
    """An interval of shares from 0 to 100 %: what is linked is full, what lies between the ends is pale."""
    ends = [min(max(100.0 * end, 0.0), 100.0) for end in (low, high)]
    width = max(ends[1] - ends[0], 0.0)
    return (
        f'<svg role="img" aria-label="{text(percents(low, high))}" width="100%" height="14" '
        'viewBox="0 0 100 14" preserveAspectRatio="none" style="max-width:32em;display:block;margin:.35em 0">'
        '<rect width="100" height="14" fill="currentColor" fill-opacity=".13"/>'
        f'<rect x="{ends[0]:.3f}" width="{width:.3f}" height="14" fill="{OPEN}" fill-opacity=".75"/>'
        f'<rect width="{ends[0]:.3f}" height="14" fill="{FOUND}"/></svg>'
    )


def table(shown: Table) -> str:
    """The first rows of a table, and how many more there are."""
    if not shown.rows:
        return ""
    kinds = [column.of for column in shown.columns]
    head = "".join(_cell("th", column.title, column.of) for column in shown.columns)
    rows = "".join(_row(row, kinds) for row in shown.rows[:ROWS])
    more = len(shown.rows) - ROWS
    rest = f'<div style="{_QUIET}">{more:,} more</div>' if more > 0 else ""
    title = f'<caption style="text-align:left">{text(shown.caption)}</caption>' if shown.caption else ""
    return (
        f'<div style="overflow-x:auto"><table style="border-collapse:collapse;margin:.4em 0">{title}'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{rest}"
    )


def _row(row: Sequence[Any], kinds: Sequence[Of]) -> str:
    cells = (_cell("td", written(value, of), of) for value, of in zip(row, kinds, strict=True))
    return f"<tr>{''.join(cells)}</tr>"


def _cell(tag: str, value: str, of: Of) -> str:
    side = "left" if of in (Of.TEXT, Of.FLAG) else "right"
    style = ";font-weight:600" if tag == "th" else ""
    if len(value) <= _SHORT:
        style += ";white-space:nowrap"
    return f'<{tag} style="{_CELL};text-align:{side}{style}">{text(value)}</{tag}>'


def written(value: Any, of: Of) -> str:
    """A cell as people read it."""
    if value is None:
        return "\N{EN DASH}"
    if of is Of.FLAG:
        return "yes" if value else "no"
    if of in (Of.SHARE, Of.POINTS):
        return percent(value) if of is Of.SHARE else f"{percent(value).removesuffix(' %')} points"
    if of is Of.COUNT:
        return count(value)
    if of is Of.SECONDS:
        return f"{value:.1f} s"
    return f"{value:.{_DECIMALS}g}" if of is Of.NUMBER else str(value)
