"""A table to be published as a workbook: codes down and across, and a sheet that says what the signs mean."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from linkrisk.arrays import BoolArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats import timeless
from linkrisk.datasets.tables.argus.safe_files import NOBODY, SUPPRESSED, decimals_of, of_missing
from linkrisk.datasets.tables.beside import split_beside
from linkrisk.datasets.tables.cells_and_relations import StoredTable
from linkrisk.datasets.tables.code_trees import CodeTree

if TYPE_CHECKING:
    from openpyxl import Workbook


_MOST_COLUMNS, _MOST_ROWS = 16_384, 1_048_576
_HEADING = 2
"""Rows of the heading, which stay where they are when one scrolls."""

_LEGEND = (
    (SUPPRESSED, "not published, so that nobody finds out what single ones have contributed"),
    (NOBODY, "nobody is in the cell"),
)


def workbook(table: StoredTable, suppressed: BoolArray, nobody: BoolArray) -> bytes:
    """The last variable across, the others down; totals bold, codes indented below those they belong to.

    Parameters
    ----------
    table : StoredTable
        With columns of codes.
    suppressed, nobody : ndarray of bool, shape (n,)
        Cells that are not published, and cells in which nobody is.

    Raises
    ------
    DataError
        If it has more rows or columns than a sheet.
    """
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    _table(book, table, suppressed, nobody)
    beside = split_beside(table)[1]
    if beside is not None:
        _table(book, beside, suppressed, nobody, "Respondents")
    legend = book.create_sheet("Legend")
    legend.column_dimensions["B"].width = 80
    for sign, meaning in _LEGEND:
        legend.append([sign, meaning])
    legend.append([])
    legend.append(["cells", len(table)])
    legend.append([f"cells with {SUPPRESSED}", int(suppressed.sum())])
    target = io.BytesIO()
    book.save(target)
    return timeless.excel(target.getvalue())


def _table(
    book: Workbook, table: StoredTable, suppressed: BoolArray, nobody: BoolArray, title: str = "Table"
) -> None:
    """The sheet of the table: only what is published reaches it."""
    lines = [
        codes if len(codes) > 1 else ("", *codes) for codes in table.codes.itertuples(index=False, name=None)
    ]
    names = table.by if len(table.by) > 1 else ("", *table.by)
    down = list(dict.fromkeys(codes[:-1] for codes in lines))
    across = list(dict.fromkeys(codes[-1] for codes in lines))
    if len(across) + len(names) > _MOST_COLUMNS or len(down) + _HEADING > _MOST_ROWS:
        raise DataError(
            f"{table.name}: a sheet holds no {len(down)} rows and {len(across)} columns; write .csv"
        )
    values = table.cells["value"].tolist()
    shown: dict[tuple[str, ...], Any] = {
        codes: SUPPRESSED if suppressed[at] else NOBODY if nobody[at] else values[at]
        for at, codes in enumerate(lines)
    }
    missing: Any = NOBODY if of_missing(table, suppressed, nobody) == NOBODY else 0
    digits = decimals_of(table.numbers["value"][~suppressed])
    style = _Style(
        book.create_sheet(title), table, len(names) - 1, "#,##0" + ("." + "0" * digits if digits else "")
    )
    style.sheet.append([style.head(name) for name in names])
    style.sheet.append([style.head(code) for code in (*[""] * (len(names) - 1), *across)])
    for codes in down:
        labels = [style.label(name, code) for name, code in zip(names, codes, strict=False)]
        whole = all(style.is_total(name, code) for name, code in zip(names, codes, strict=False))
        cells = [
            style.cell(shown.get((*codes, code), missing), whole or style.is_total(names[-1], code))
            for code in across
        ]
        style.sheet.append([*labels, *cells])


class _Style:
    """The sheet, and its cells as they look."""

    def __init__(self, sheet: Any, table: StoredTable, labels: int, number_format: str) -> None:
        from openpyxl.styles import Alignment, Font
        from openpyxl.utils import get_column_letter

        self.sheet = sheet
        self.sheet.freeze_panes = f"{get_column_letter(labels + 1)}{_HEADING + 1}"
        for at in range(labels):
            self.sheet.column_dimensions[get_column_letter(at + 1)].width = 18
        self._format, self._bold, self._right = number_format, Font(bold=True), Alignment(horizontal="right")
        self._indent = [Alignment(indent=depth) for depth in range(16)]
        self._depth = {
            (tree.variable, code): depth
            for tree in table.trees
            if isinstance(tree, CodeTree)
            for code, depth in tree.depths().items()
        }

    def head(self, text: str) -> Any:
        """A cell of the heading."""
        made = self._made(text)
        made.font = self._bold
        return made

    def label(self, name: str, code: str) -> Any:
        """The code of a row."""
        made = self._made(code)
        depth = self._depth.get((name, code), 0)
        made.alignment = self._indent[min(depth, len(self._indent) - 1)]
        if depth == 0:
            made.font = self._bold
        return made

    def is_total(self, name: str, code: str) -> bool:
        """Whether a code is the total of its variable."""
        return self._depth.get((name, code)) == 0

    def cell(self, value: Any, bold: bool) -> Any:
        """A value, or a sign in its place."""
        made = self._made(value)
        if isinstance(value, str):
            made.alignment = self._right
        else:
            made.number_format = self._format
        if bold:
            made.font = self._bold
        return made

    def _made(self, value: Any) -> Any:
        from openpyxl.cell import WriteOnlyCell

        made = WriteOnlyCell(self.sheet, value=value)
        if isinstance(value, str):
            made.data_type = "s"  # a code such as =1 is no formula
        return made
