"""Numbers as a reader wants them: counts with separators, honest percentages, four significant digits.

`page/scripts/format.js` writes cells of tables the same way in the browser.
"""

from __future__ import annotations

import math
from typing import Any

from linkrisk.solver.charts.table import Of
from linkrisk.solver.run.number_format import MINUS
from linkrisk.solver.run.number_format import count as whole_count
from linkrisk.solver.run.number_format import percent as share_percent

NOTHING = "\N{EN DASH}"
NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"
_SMALLEST, _LARGEST = 1e-4, 1e15


def count(value: float | None) -> str:
    """Write a count: ``12,345``; with one or two decimals when it is not whole, as expected links may be."""
    return NOTHING if value is None else whole_count(value)


def percent(part: float | None, whole: float) -> str:
    """Write a share of `whole`: ``93.0 %``; never 0 or 100 per cent for what is not exactly that."""
    if part is None or whole <= 0:
        return NOTHING
    return share_percent(part / whole).replace(" ", NARROW_SPACE)


def significant(value: float, digits: int = 4) -> str:
    """Write a measurement with `digits` significant digits."""
    return _minus(f"{value:.{digits}g}")


def weight(value: float, breaks_ties: bool = False) -> str:
    """Write a share with four decimals; 0 for one that prints as zero and that nothing hangs on."""
    text = f"{value:.4f}"
    if float(text):
        return _minus(text)
    return "0.0000" if breaks_ties else "0"


def duration(seconds: float | None) -> str:
    """Write a time: ``0.42 s``, ``12.3 s``, ``120 s``, ``10 min 20 s``, ``2 h 05 min``."""
    if seconds is None:
        return NOTHING
    if seconds < 600:
        text = f"{seconds:.2f}" if seconds < 10 else f"{seconds:.1f}"
        return f"{text.rstrip('0').rstrip('.')} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 120:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def number_text(value: float) -> str:
    """Write a measurement with four significant digits: ``0.1235``, ``12,346``, ``1.2e−06``."""
    plain = _SMALLEST <= abs(value) < _LARGEST
    return count(round(value)) if plain and abs(value) >= 1000 else significant(value)


def points_text(difference: float) -> str:
    """Write a difference of shares in percentage points: ``33.0 points``."""
    return f"{share_percent(difference).removesuffix(' %')} points"


WRITERS = {
    Of.COUNT: count,
    Of.NUMBER: number_text,
    Of.SHARE: share_percent,
    Of.POINTS: points_text,
    Of.SECONDS: duration,
}


def cell_text(value: Any, of: Of) -> str:
    """Write a cell: ``12,345``, ``0.1235``, ``81.0 %``, ``3.0 points``, ``12.3 s``, ``yes``; else a dash.

    A value of another kind than its column, such as a word among numbers, is written as it is.
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int | float) or of not in WRITERS:
        return str(value)
    return WRITERS[of](value)


def is_numeric(of: Of) -> bool:
    """Whether a column stands to the right."""
    return of in WRITERS


def _minus(text: str) -> str:
    return text.replace("-", MINUS)
