"""Tables as files: what may be published, and what is for the house, in the format that the suffix says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.base import StoredFile
from linkrisk.datasets.microdata.formats.encodings import UTF8, encode
from linkrisk.datasets.microdata.formats.registry import writable_format
from linkrisk.datasets.microdata.writing import contents
from linkrisk.datasets.tables import crosstabs
from linkrisk.datasets.tables.argus import internal, jj_files, ready_tables, safe_files
from linkrisk.datasets.tables.argus.internal import shown_as_empty
from linkrisk.datasets.tables.cells_and_relations import SECONDARY, SENSITIVE, StoredTable, published
from linkrisk.datasets.tables.own_columns import BESIDE, STATUS

EXCEL, SBS = ".xlsx", ".sbs"
INTERNAL = (jj_files.SUFFIX, SBS)
"""Formats that hold the values of suppressed cells."""


def check_published(path: str | Path) -> None:
    """Refuse a format that cannot hold what is published, or has none of its own.

    Raises
    ------
    DataError
    """
    suffix = Path(path).suffix.lower()
    if suffix in INTERNAL:
        raise DataError(
            f"cannot write {path}: {suffix} files hold the values of suppressed cells; write it as the "
            "internal file"
        )
    if suffix != ready_tables.SUFFIX:
        writable_format(path)


def check_internal(path: str | Path) -> None:
    """Refuse a format that is none.

    Raises
    ------
    DataError
    """
    if Path(path).suffix.lower() not in (*INTERNAL, ready_tables.SUFFIX):
        writable_format(path)


def check_holds(table: StoredTable, output: str | Path | None, internal: Sequence[str | Path]) -> None:
    """Refuse formats of ARGUS that cannot hold a table, before anything is searched: they are tried.

    Raises
    ------
    DataError
    """
    nothing = np.zeros(len(table), dtype=np.bool_)
    if output is not None and Path(output).suffix.lower() == ready_tables.SUFFIX:
        published_files(table, nothing, output)
    for path in internal:
        if Path(path).suffix.lower() in (ready_tables.SUFFIX, SBS) or BESIDE in table.cells:
            internal_files(table, path)


def _refuse_beside(table: StoredTable, path: str | Path) -> None:
    """Refuse a format that has one value for each cell, where numbers of respondents are published, too."""
    suffix = Path(path).suffix.lower()
    if BESIDE in table.cells and suffix in (*INTERNAL, ready_tables.SUFFIX):
        raise DataError(
            f"cannot write {path}: {suffix} files hold no numbers of respondents that are published beside "
            "the values; write .csv or another format with a line for each cell"
        )


def published_files(
    table: StoredTable, suppressed: npt.NDArray[np.bool_], path: str | Path, *, status: bool = True
) -> dict[Path, bytes]:
    """What may be published: codes, values of cells that are not suppressed, and which are.

    A workbook (``.xlsx``) has the table across and down with a legend, where cells have codes; ``.tab`` is a
    list of codes and values of ARGUS; any other format has a line for each cell.

    Parameters
    ----------
    table : StoredTable
    suppressed : ndarray of bool, shape (n,)
    path : path
    status : bool
        Whether a column says which cells are suppressed, where there is a line for each.

    Raises
    ------
    DataError
        If it cannot be written in this format.
    """
    target, suffix = Path(path), Path(path).suffix.lower()
    check_published(path)
    _refuse_beside(table, path)
    if suffix == EXCEL and table.by:
        return {target: crosstabs.workbook(table, suppressed, shown_as_empty(table, suppressed))}
    if suffix == ready_tables.SUFFIX:
        text = safe_files.records(table, suppressed, shown_as_empty(table, suppressed), heading="value")
        return {target: encode(text, UTF8)}
    frame = published(table.cells, suppressed.tolist(), table.by)
    return contents(StoredFile(frame if status else frame.drop(columns=STATUS)), path)


def internal_files(table: StoredTable, path: str | Path) -> dict[Path, bytes]:
    """All that is known of the cells: for the house.

    ``.jj`` and ``.tab`` (with ``.rda`` and ``.hrc`` beside it) are read again with `opened`; ``.sbs`` is for
    Eurostat; any other format has a line for each cell.

    Raises
    ------
    DataError
        If it cannot be written in this format.
    """
    target, suffix = Path(path), Path(path).suffix.lower()
    _refuse_beside(table, path)
    if suffix == jj_files.SUFFIX:
        return {target: encode(jj_files.jj_text(table), UTF8)}
    if suffix == ready_tables.SUFFIX:
        files = internal.tab_files(table, path)
        return {file: encode(text, UTF8) for file, text in files.items()}
    if suffix == SBS:
        suppressed = np.isin(table.status, (SENSITIVE, SECONDARY))
        return {target: encode(internal.sbs_text(table, suppressed), UTF8)}
    return contents(StoredFile(table.cells), path)
