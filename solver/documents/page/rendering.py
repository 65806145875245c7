"""From a document to a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.table import Table
from linkrisk.solver.documents.cell_grid import LETTERS, STATES
from linkrisk.solver.documents.document import Block, Choice, Document, Records
from linkrisk.solver.documents.formats import cell_text, count, is_numeric
from linkrisk.solver.documents.page import scripts
from linkrisk.solver.documents.page.data import PageData
from linkrisk.solver.documents.page.wording import RISK, WORDS

# Rows of a table that are in the page without scripts; with scripts, how many are shown at a time.
ROWS = 15
# A longer table is as wide as the page.
_FEW_ROWS = 12

_SHARE = re.compile(r"(?<=\d) %")
_COMMAND = re.compile("`([a-z][a-z -]*)`")
_MINUS = re.compile(r"(?<![\w.)-])-(?=\d)")
# Words that would be broken at their hyphens: options, and the one of which this project is full.
_WHOLE = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|re-identif[a-z]*)", re.IGNORECASE | re.ASCII)


def render_page(document: Document) -> str:
    """Make the page of a report.

    Parameters
    ----------
    document : Document

    Returns
    -------
    str
        A whole HTML file that loads nothing, with its scripts and a policy that lets only these run.
    """
    own = scripts.own()
    bundled = scripts.bundled() if any(_charts(document)) else ""
    allowed = tuple(script for script in (bundled, own) if script)
    page = _environment().get_template("page.html.jinja")
    html = page.render(
        document=document,
        words=WORDS.get(document.about, RISK),
        data=PageData(),
        policy=scripts.policy(*allowed),
        scripts=[Markup(script) for script in allowed],
    )
    # A lone surrogate, as a broken file name may have, could not be written as UTF-8.
    return html.encode("utf-8", "backslashreplace").decode("utf-8")


def _charts(document: Document) -> Iterator[Chart]:
    """Every chart of a document, wherever it is."""
    pending: list[Block] = [block for section in document.sections for block in section.blocks]
    while pending:
        block = pending.pop()
        if isinstance(block, Chart):
            yield block
        elif isinstance(block, Records) and block.waterfall is not None:
            yield block.waterfall
        elif isinstance(block, Choice):
            pending.extend(inner for _, blocks in block.options for inner in blocks)


def _kind(block: Block) -> str:
    """Which macro writes a block."""
    match block:
        case Chart():
            return "chart"
        case Table():
            return "table"
        case _:
            return block.kind


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(
        kind=_kind,
        cell_text=cell_text,
        is_numeric=is_numeric,
        letters=LETTERS,
        words_of=STATES,
        few_rows=_FEW_ROWS,
        most_rows=ROWS,
        count=count,
    )
    environment.filters.update(day=day_text, prose=prose, whole=whole)
    return environment


def prose(text: str) -> Markup:
    """Write sentences: numbers stay on a line with their per cent, `commands` in backquotes are set apart."""
    spaced = _MINUS.sub("\N{MINUS SIGN}", _SHARE.sub("\N{NO-BREAK SPACE}%", text))
    return Markup(_kept_whole(_COMMAND.sub(r"<code>\1</code>", str(escape(spaced)))))


def whole(text: str) -> Markup:
    """Write a text in which no line ends inside of options and of "re-identified"; copied, it is the same."""
    return Markup(_kept_whole(str(escape(text))))


def _kept_whole(escaped: str) -> str:
    return _WHOLE.sub(r'<span class="whole">\1</span>', escaped)


def day_text(moment: str) -> str:
    """Write a moment given as ISO 8601: ``23 November 2026, 22:05 UTC``; as it is when it is none."""
    try:
        read = datetime.fromisoformat(moment)
    except ValueError:
        return moment
    return f"{read.day} {read:%B %Y, %H:%M} {read.tzname() or ''}".rstrip()
