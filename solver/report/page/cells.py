"""Cells of tables as people read them; `scripts/format.js` writes the same in the browser."""

from __future__ import annotations

import math
from typing import Any

from linkrisk.solver.charts.table import Of
from linkrisk.solver.report.formats import NOTHING, cell, count, duration, significant
from linkrisk.solver.run.percent import percent

WRITERS = {Of.COUNT: count, Of.NUMBER: significant, Of.SHARE: percent, Of.SECONDS: duration}


def cell_text(value: Any, of: Of) -> str:
    """Write a cell: ``12,345``, ``0.1235``, ``81.0 %``, ``12.3 s``, ``yes``; a dash for no value.

    A value of another kind than its column, such as a word among numbers, is written as it is.
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return NOTHING
    if isinstance(value, bool) or not isinstance(value, int | float) or of not in WRITERS:
        return cell(value) if isinstance(value, bool) else str(value)
    return WRITERS[of](value)


def is_numeric(of: Of) -> bool:
    """Whether a column stands to the right."""
    return of in WRITERS
