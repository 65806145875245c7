"""Two tables read and aligned, without attributes."""

from __future__ import annotations

from typing import Any

from linkrisk.datasets.pairs.alignment import TablePair, align, check_alignment, load_tables


def make_table_pair(
    original: Any,
    masked: Any,
    *,
    id: str | None = None,  # noqa: A002
    row_by_row: bool = False,
) -> TablePair:
    """Read two tables and align their records."""
    check_alignment(id, row_by_row)
    tables = load_tables(original, masked, id, (), ("original", "masked"))
    return align(*tables, id_column=id, row_by_row=row_by_row)
