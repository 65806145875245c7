"""Rendering of a document as an HTML page."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from linkrisk.solver.charts.chart import Chart, Table
from linkrisk.solver.documents.document import Block, Choice, Document, Records
from linkrisk.solver.documents.page import scripts
from linkrisk.solver.documents.wording import cell_text, count, is_numeric
from linkrisk.solver.schemas.intervals import percents


@dataclass(frozen=True)
class PageWords:
    """Words of a page that are none of its document."""

    about: str  # before its title in the window
    eyebrow: str  # the line above its title
    internal: str  # what readers inside and outside are told of it at once
    external: str
    answers: Mapping[str, str]  # what the shape beside the verdict says
    no_scripts: str = (
        "Scripts are off: of long tables the first rows are shown. Open this file in a browser for all rows."
    )
    footer: str = "from results alone, without looking at the table again"


RISK = PageWords(
    about="Disclosure risk",
    eyebrow="Disclosure risk of a masked file",
    internal="Names records and the distance that re-identifies them: do not publish.",
    external="without parameters, records, or anything that would help an intruder.",
    answers={
        "above": "More than is tolerated",
        "below": "Not more than is tolerated",
        "open": "Not decided yet",
        "unknown": "Nothing was said to be tolerated",
        "compared": "A comparison of maskings",
    },
    no_scripts="Scripts are off: charts are not drawn, and in place of each stands the table of its numbers. "
    "Open this file in a browser for the charts, for all rows, and for the distances of a record.",
    footer="from results alone, without looking at the data again",
)
_LEAST = {"below": "Least change, proven", "open": "Not proven to be the least"}
_BEFORE = "without values before that, changes, or anything that would help an intruder."

WORDS = {
    "risk": RISK,
    "suppression": PageWords(
        about="Local suppression",
        eyebrow="Local suppression, and what it changed",
        internal="Has rare combinations of the input and what was taken from them: do not publish.",
        external="without combinations, small counts, or anything that would help an intruder.",
        answers={
            "below": "Least cost, proven",
            "open": "Not proven least",
            "above": "Names the records",
        },
        footer="from what was counted before and after",
    ),
    "table": PageWords(
        about="Protected table",
        eyebrow="Cells of a table suppressed, and what attackers find of them",
        internal="Has values of suppressed cells and says which are sensitive: do not publish.",
        external="without suppressed values, intervals, or anything that would help an intruder.",
        answers={
            "below": "Protected",
            "open": "Protected; not proven to be the least",
            "above": "Not protected",
            "unknown": "Nothing is sensitive",
        },
        no_scripts="Scripts are off: the chart is not drawn, and in its place stands the table of its "
        "numbers. Open this file in a browser for the chart, and for all rows.",
    ),
    "rounding": PageWords(
        about="Rounded table",
        eyebrow="Cells of a table rounded, and what that changes",
        internal="Has the values before rounding: do not publish.",
        external=_BEFORE,
        answers={**_LEAST, "unknown": "Rounded"},
    ),
    "adjustment": PageWords(
        about="Adjusted table",
        eyebrow="Values of a table adjusted, and what that changes",
        internal="Has the values before they were adjusted: do not publish.",
        external=_BEFORE,
        answers={**_LEAST, "unknown": "Adjusted"},
    ),
    "noise": PageWords(
        about="Table with noise",
        eyebrow="Noise by cell keys, and what it changes",
        internal="Has values before the noise, and how it was made: do not publish.",
        external="without values before the noise, keys, or anything that would help an intruder.",
        answers={"unknown": "Noise by cell keys"},
    ),
    "recoding": PageWords(
        about="Table of coarser codes",
        eyebrow="Codes of a table merged, and what that changes",
        internal="Has values of sensitive cells and says which they are: do not publish.",
        external="without values, rules, or anything that would help an intruder.",
        answers={"unknown": "Coarser codes"},
    ),
}
"""By what a document is about."""

# Rows of a table that are in the page without scripts; with scripts, how many are shown at a time.
ROWS = 15
# A longer table is as wide as the page.
_FEW_ROWS = 12

# Of contributions, as charts show them: two attributes that differ by less look the same.
_DIGITS = 4

_SHARE = re.compile(r"(?<=\d) %")
_COMMAND = re.compile("`([a-z][a-z -]*)`")
_MINUS = re.compile(r"(?<![\w.)-])-(?=\d)")
# Words that would be broken at their hyphens: options, and the one of which this project is full.
_WHOLE = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|re-identif[a-z]*)", re.IGNORECASE | re.ASCII)


def render_page(document: Document) -> str:
    """Make the page of a report: an HTML file that loads nothing, and lets only its own scripts run."""
    own = scripts.own()
    drawn = any(_drawn(block) for section in document.sections for block in section.blocks)
    allowed = (scripts.bundled(), own) if drawn else (own,)
    page = environment().get_template("page.html.jinja")
    html = page.render(
        document=document,
        words=WORDS.get(document.about, RISK),
        data=PageData(),
        policy=scripts.policy(*allowed),
        scripts=[Markup(script) for script in allowed],
    )
    # A lone surrogate, as a broken file name may have, could not be written as UTF-8.
    return html.encode("utf-8", "backslashreplace").decode("utf-8")


def _drawn(block: Block) -> bool:
    """Whether there is a chart in it."""
    match block:
        case Records():
            return block.waterfall is not None
        case Choice():
            return any(_drawn(inner) for _, blocks in block.options for inner in blocks)
    return isinstance(block, Chart)


@cache
def environment() -> Environment:
    """Templates of pages and of cards, and what they call."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(
        cell_text=cell_text,
        count=count,
        is_numeric=is_numeric,
        percents=percents,
        few_rows=_FEW_ROWS,
        most_rows=ROWS,
    )
    environment.filters.update(day=day_text, prose=prose, whole=whole)
    return environment


class PageData:
    """Collects, while a page is written, what its scripts need, and names the places where it goes."""

    def __init__(self) -> None:
        self._taken: dict[str, dict[str, Any]] = {"charts": {}, "tables": {}, "records": {}}

    def _take(self, kind: str, name: str, what: Any) -> str:
        place = f"{name}-{len(self._taken[kind]) + 1}"
        self._taken[kind][place] = what
        return place

    def chart(self, chart: Chart) -> str:
        """Take a chart; its place in the page, such as ``bound-3``."""
        return self._take("charts", chart.name, dict(chart.spec))

    def table(self, table: Table) -> str:
        """Take a table; its place in the page."""
        given = table.to_dict()
        return self._take("tables", "table", {name: given[name] for name in ("columns", "rows")})

    def records(self, records: Records) -> str:
        """Take the contributions of records, rounded; their place in the page."""
        parts = {"partner": _rounded(records.partner), "rival": _rounded(records.rival)}
        return self._take("records", "records", {"attributes": list(records.attributes), **parts})

    def to_script(self) -> Markup:
        """All of it, as the text of a script of type ``application/json``."""
        text = json.dumps(self._taken, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return Markup(text.replace("<", "\\u003c"))


def _rounded(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    return [[float(f"{value:.{_DIGITS}g}") for value in row] for row in rows]


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
