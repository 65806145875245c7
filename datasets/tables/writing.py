"""Tables written: what may be published, as list or workbook, and the internal file."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkrisk.arrays import BoolArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.base import StoredFile
from linkrisk.datasets.microdata.formats.excel import without_moment
from linkrisk.datasets.microdata.formats.file_content import UTF8, encode
from linkrisk.datasets.microdata.formats.registry import writable_format
from linkrisk.datasets.microdata.numeric import decimals_of
from linkrisk.datasets.microdata.writing import contents
from linkrisk.datasets.tables import pc_axis, sdmx_csv
from linkrisk.datasets.tables.argus import jj_files, ready_tables
from linkrisk.datasets.tables.argus.written_tables import (
    NOBODY,
    SUPPRESSED,
    of_missing,
    published_as_empty,
    records,
    sbs_text,
    tab_files,
)
from linkrisk.datasets.tables.code_trees import CodeTree
from linkrisk.datasets.tables.linking import split_beside
from linkrisk.datasets.tables.stored_table import BESIDE, SECONDARY, SENSITIVE, STATUS, StoredTable, published

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
    """Write a workbook: the last variable across, the others down; totals bold, codes indented by depth."""
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
    return without_moment(target.getvalue())


def _table(
    book: Workbook, table: StoredTable, suppressed: BoolArray, nobody: BoolArray, title: str = "Table"
) -> None:
    """Fill the sheet of a table with published cells only."""
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
    """A sheet, and the formats of its cells."""

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
        return self._cell(text, bold=True)

    def label(self, name: str, code: str) -> Any:
        """The code of a row."""
        depth = self._depth.get((name, code), 0)
        return self._cell(code, bold=depth == 0, alignment=self._indent[min(depth, len(self._indent) - 1)])

    def is_total(self, name: str, code: str) -> bool:
        """Whether a code is the total of its variable."""
        return self._depth.get((name, code)) == 0

    def cell(self, value: Any, bold: bool) -> Any:
        """A value, or a sign in its place."""
        return self._cell(value, bold=bold, alignment=self._right if isinstance(value, str) else None)

    def _cell(self, value: Any, *, bold: bool, alignment: Any = None) -> Any:
        from openpyxl.cell import WriteOnlyCell

        made = WriteOnlyCell(self.sheet, value=value)
        if isinstance(value, str):
            made.data_type = "s"  # a code such as =1 is no formula
        else:
            made.number_format = self._format
        if alignment is not None:
            made.alignment = alignment
        if bold:
            made.font = self._bold
        return made


EXCEL, SBS = ".xlsx", ".sbs"


@dataclass(frozen=True)
class _Format:
    """A format of tables: how it is encoded for the public, and for the house; None where it cannot be.

    Any other format that files have (`writable_format`) has a line for each cell.
    """

    public: Callable[[StoredTable, BoolArray, Path], dict[Path, bytes]] | None
    house: Callable[[StoredTable, Path], dict[Path, bytes]] | None
    named: bool = True  # by its codes alone, without numbers of respondents beside the values


def _workbook_file(table: StoredTable, suppressed: BoolArray, path: Path) -> dict[Path, bytes]:
    return {path: workbook(table, suppressed, published_as_empty(table, suppressed))}


def _safe_tab(table: StoredTable, suppressed: BoolArray, path: Path) -> dict[Path, bytes]:
    text = records(table, suppressed, published_as_empty(table, suppressed), heading="value")
    return {path: encode(text, UTF8)}


def _tab(table: StoredTable, path: Path) -> dict[Path, bytes]:
    return {file: encode(text, UTF8) for file, text in tab_files(table, path).items()}


def _jj(table: StoredTable, path: Path) -> dict[Path, bytes]:
    return {path: encode(jj_files.jj_text(table), UTF8)}


def _sbs(table: StoredTable, path: Path) -> dict[Path, bytes]:
    return {path: encode(sbs_text(table, np.isin(table.status, (SENSITIVE, SECONDARY))), UTF8)}


def _lines(
    table: StoredTable, suppressed: BoolArray, path: Path, *, status: bool = True
) -> dict[Path, bytes]:
    frame = published(table.cells, suppressed.tolist(), table.by)
    return contents(StoredFile(frame if status else frame.drop(columns=STATUS)), path)


def _all_lines(table: StoredTable, path: Path) -> dict[Path, bytes]:
    return contents(StoredFile(table.cells), path)


_FORMATS = {
    EXCEL: _Format(_workbook_file, _all_lines, named=False),
    ready_tables.SUFFIX: _Format(_safe_tab, _tab),
    jj_files.SUFFIX: _Format(None, _jj),
    SBS: _Format(None, _sbs),
    sdmx_csv.SUFFIX: _Format(sdmx_csv.published_sdmx, sdmx_csv.internal_sdmx),
    sdmx_csv.SUFFIX_1: _Format(sdmx_csv.published_sdmx, sdmx_csv.internal_sdmx),
    pc_axis.SUFFIX: _Format(pc_axis.published_px, None),
}
"""Formats of tables by the ends of their names."""


def _format_of(path: str | Path) -> tuple[str, _Format | None]:
    """How the name of a file ends, and the format of tables that it says."""
    name = Path(path).name.lower()
    end = next((end for end in _FORMATS if name.endswith(end)), Path(path).suffix.lower())
    return end, _FORMATS.get(end)


def check_published(path: str | Path) -> None:
    """Refuse a format that cannot hold what is published, or is unknown."""
    suffix, made = _format_of(path)
    if made is None:
        writable_format(path)
    elif made.public is None:
        raise DataError(
            f"cannot write {path}: {suffix} files hold the values of suppressed cells; write it as the "
            "internal file"
        )


def check_internal(path: str | Path) -> None:
    """Refuse an unknown format, or one that holds no statuses."""
    suffix, made = _format_of(path)
    if made is None:
        writable_format(path)
    elif made.house is None:
        raise DataError(
            f"cannot write {path}: {suffix} files hold no statuses of cells; write the internal file as .csv"
        )


def check_lines(path: str | Path) -> None:
    """Refuse a format that is unknown, or has no line for each cell with all of its columns."""
    suffix, made = _format_of(path)
    if made is not None and made.public in (sdmx_csv.published_sdmx, pc_axis.published_px):
        raise DataError(f"cannot write {path}: {suffix} files have no columns of our own; write .csv")
    writable_format(path)


def check_holds(table: StoredTable, output: str | Path | None, internal: Sequence[str | Path]) -> None:
    """Refuse formats of tables that cannot hold one, before anything is searched, by trying them."""
    nothing = np.zeros(len(table), dtype=np.bool_)
    if output is not None and (made := _format_of(output)[1]) is not None and made.named:
        published_files(table, nothing, output)
    for path in internal:
        made = _format_of(path)[1]
        if made is not None and made.named and (made.house is not _jj or BESIDE in table.cells):
            internal_files(table, path)


def _refuse_beside(table: StoredTable, path: str | Path) -> None:
    """Refuse formats with one value for each cell, where numbers of respondents are published, too."""
    suffix, made = _format_of(path)
    if BESIDE in table.cells and made is not None and made.named:
        raise DataError(
            f"cannot write {path}: {suffix} files hold no numbers of respondents that are published beside "
            "the values; write .csv or another format with a line for each cell"
        )


def published_files(
    table: StoredTable, suppressed: npt.NDArray[np.bool_], path: str | Path, *, status: bool = True
) -> dict[Path, bytes]:
    """Encode what may be published: codes, values of cells that are not suppressed, and which are.

    A workbook (``.xlsx``) and PC-Axis (``.px``) have the table across and down, where cells have codes;
    ``.tab`` is a list of codes and values of ARGUS, ``.sdmx.csv`` one of SDMX; any other format has a line
    for each cell, with or without a `status`.
    """
    check_published(path)
    _refuse_beside(table, path)
    made = _format_of(path)[1]
    if made is None or made.public is None or (made.public is _workbook_file and not table.by):
        return _lines(table, suppressed, Path(path), status=status)
    return made.public(table, suppressed, Path(path))


def internal_files(table: StoredTable, path: str | Path) -> dict[Path, bytes]:
    """Encode everything that is known of the cells: not to be published.

    ``.jj`` and ``.tab`` (with ``.rda`` and ``.hrc`` beside it) are read again with `opened`; ``.sbs`` is for
    Eurostat, ``.sdmx.csv`` for whoever is sent values with their confidentiality; any other format has a line
    for each cell.
    """
    check_internal(path)
    _refuse_beside(table, path)
    made = _format_of(path)[1]
    return (
        _all_lines(table, Path(path)) if made is None or made.house is None else made.house(table, Path(path))
    )
