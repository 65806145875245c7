"""Columns of text, for what is no document yet."""

from __future__ import annotations

from collections.abc import Sequence


def table(titles: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Columns as wide as they need to be, numbers to the right; a dash for what is missing."""
    kinds = [{type(row[at]) for row in rows if row[at] is not None} for at in range(len(titles))]
    cells = [list(titles), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(titles))]
    return [
        "  ".join(
            text.rjust(width) if kind and kind <= {int, float} else text.ljust(width)
            for text, width, kind in zip(line, widths, kinds, strict=True)
        ).rstrip()
        for line in cells
    ]


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:g}" if isinstance(value, float) else str(value)
