"""A document as a card of HTML for a notebook: a sentence, a bar, values and tables. All text is escaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.table import Column, Of, Table
from linkrisk.solver.documents.cell_grid import CellGrid
from linkrisk.solver.documents.document import (
    Block,
    Choice,
    Code,
    Document,
    Items,
    Numbers,
    Paragraph,
    Records,
)
from linkrisk.solver.documents.formats import cell_text, is_numeric
from linkrisk.solver.run.worst_sentence import percents

FOUND, OPEN = "#D55E00", "#E69F00"
"""Colours of what is linked, and of what lies between attack and bound; they stay apart for everybody."""

ROWS = 12
"""Of longer tables a card shows so many rows, and says how many more there are."""

_CARD = "font-family:system-ui,sans-serif;font-size:14px;line-height:1.45;max-width:46em;margin:.3em 0"
_CELL = "padding:.15em .8em .15em 0;border-bottom:1px solid rgba(128,128,128,.3);vertical-align:top"
_QUIET = "opacity:.75;font-size:12px"
_SHORT = 14
"""Texts of so many characters are not broken."""


def notebook(document: Document) -> str:
    """Draw a document as a card: its sentence, the bar, what was found, and the rest in small letters."""
    first, *others = document.headline.sentences or document.asked or (document.title,)
    drawn = [paragraph(one) for one in others]
    if document.headline.bar is not None:
        drawn.append(bar(*document.headline.bar))
    drawn += [paragraph(one) for one in document.headline.reasons]
    for section in document.sections:
        shown = "".join(html for block in section.shown for html in _block(block))
        drawn.append(_named(section.title, shown) if section.title and shown else shown)
    quiet = [*(one for one in document.asked if one != first), document.how, *document.notes]
    return card(first, *drawn, quiet="; ".join(one for one in quiet if one))


def card(sentence: str, *parts: str, quiet: str = "") -> str:
    """A headline and what stands below it.

    Parameters
    ----------
    sentence, quiet : str
        Texts: the headline, and what has to be known besides.
    *parts : str
        HTML: bars and tables.
    """
    small = f'<div style="{_QUIET}">{_text(quiet)}</div>' if quiet else ""
    head = f'<div style="font-weight:600">{_text(sentence)}</div>'
    return f'<div style="{_CARD}">{head}{"".join(parts)}{small}</div>'


def paragraph(value: str) -> str:
    """A few sentences."""
    return f'<div style="margin:.3em 0">{_text(value)}</div>'


def bar(low: float, high: float) -> str:
    """An interval of shares from 0 to 100 %: what is linked is full, what lies between the ends is pale."""
    ends = [min(max(100.0 * end, 0.0), 100.0) for end in (low, high)]
    width = max(ends[1] - ends[0], 0.0)
    return (
        f'<svg role="img" aria-label="{_text(percents(low, high))}" width="100%" height="14" '
        'viewBox="0 0 100 14" preserveAspectRatio="none" style="max-width:32em;display:block;margin:.35em 0">'
        '<rect width="100" height="14" fill="currentColor" fill-opacity=".13"/>'
        f'<rect x="{ends[0]:.3f}" width="{width:.3f}" height="14" fill="{OPEN}" fill-opacity=".75"/>'
        f'<rect width="{ends[0]:.3f}" height="14" fill="{FOUND}"/></svg>'
    )


def _block(block: Block) -> Iterator[str]:
    """A block as HTML; charts, grids and tables of records are for pages."""
    match block:
        case Paragraph():
            yield paragraph(block.text)
        case Numbers():
            columns = (Column("words", ""), Column("value", ""), Column("interval", ""))
            used = columns if any(one.interval for one in block.numbers) else columns[:2]
            rows = [[one.words, one.value, one.interval][: len(used)] for one in block.numbers]
            yield _table(Table(used, rows, block.title), len(rows))
        case Items():
            lines = "".join(f"<li>{_text(one)}</li>" for one in block.items)
            yield _named(block.title, f'<ul style="margin:.2em 0">{lines}</ul>')
        case Code():
            yield _named(block.title, f'<pre style="margin:.2em 0">{_text(block.text)}</pre>')
        case Table():
            yield _table(block)
        case Choice():
            for name, blocks in block.options:
                inner = "".join(html for one in blocks for html in _block(one))
                yield _named(f"{block.label}: {name}", inner)
        case Records() | CellGrid() | Chart():
            return


def _named(title: str, html: str) -> str:
    return f'<div style="margin:.3em 0">{_text(title)}</div>{html}' if title else html


def _table(shown: Table, most: int = ROWS) -> str:
    """The first rows of a table, and how many more there are."""
    if not shown.rows:
        return ""
    kinds = [column.of for column in shown.columns]
    titles = "".join(_cell("th", column.title, column.of) for column in shown.columns)
    head = f"<thead><tr>{titles}</tr></thead>" if any(column.title for column in shown.columns) else ""
    rows = "".join(_row(row, kinds) for row in shown.rows[:most])
    more = len(shown.rows) - most
    rest = f'<div style="{_QUIET}">{more:,} more</div>' if more > 0 else ""
    title = f'<caption style="text-align:left">{_text(shown.caption)}</caption>' if shown.caption else ""
    return (
        f'<div style="overflow-x:auto"><table style="border-collapse:collapse;margin:.4em 0">{title}'
        f"{head}<tbody>{rows}</tbody></table></div>{rest}"
    )


def _row(row: Sequence[Any], kinds: Sequence[Of]) -> str:
    cells = (_cell("td", cell_text(value, of), of) for value, of in zip(row, kinds, strict=True))
    return f"<tr>{''.join(cells)}</tr>"


def _cell(tag: str, value: str, of: Of) -> str:
    side = "right" if is_numeric(of) else "left"
    style = ";font-weight:600" if tag == "th" else ""
    if len(value) <= _SHORT:
        style += ";white-space:nowrap"
    return f'<{tag} style="{_CELL};text-align:{side}{style}">{_text(value)}</{tag}>'


def _text(value: object) -> str:
    """Any text, as text."""
    return escape(str(value), quote=True)
