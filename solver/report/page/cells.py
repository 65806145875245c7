"""Cells of tables as people read them; `scripts/format.js` writes the same in the browser."""

from __future__ import annotations

import math
import re
from datetime import datetime
from typing import Any

from markupsafe import Markup, escape

from linkrisk.solver.charts.table import Of
from linkrisk.solver.report.formats import NOTHING, cell, count, duration, significant
from linkrisk.solver.run.percent import percent

_SHARE = re.compile(r"(?<=\d) %")
_COMMAND = re.compile("`([a-z][a-z -]*)`")
_MINUS = re.compile(r"(?<![\w.)-])-(?=\d)")
# Words that would be broken at their hyphens: options, and the one of which this project is full.
_WHOLE = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|re-identif[a-z]*)", re.IGNORECASE | re.ASCII)
_SMALLEST, _LARGEST = 1e-4, 1e15


def number_text(value: float) -> str:
    """Write a measurement with four significant digits: ``0.1235``, ``12,346``, ``1.2e−06``."""
    plain = _SMALLEST <= abs(value) < _LARGEST
    return count(round(value)) if plain and abs(value) >= 1000 else significant(value)


def points_text(difference: float) -> str:
    """Write a difference of shares in percentage points: ``33.0 points``."""
    return f"{percent(difference).removesuffix(' %')} points"


WRITERS = {
    Of.COUNT: count,
    Of.NUMBER: number_text,
    Of.SHARE: percent,
    Of.POINTS: points_text,
    Of.SECONDS: duration,
}


def cell_text(value: Any, of: Of) -> str:
    """Write a cell: ``12,345``, ``0.1235``, ``81.0 %``, ``3.0 points``, ``12.3 s``, ``yes``; else a dash.

    A value of another kind than its column, such as a word among numbers, is written as it is.
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return NOTHING
    if isinstance(value, bool) or not isinstance(value, int | float) or of not in WRITERS:
        return cell(value) if isinstance(value, bool) else str(value)
    return WRITERS[of](value)


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


def is_numeric(of: Of) -> bool:
    """Whether a column stands to the right."""
    return of in WRITERS
