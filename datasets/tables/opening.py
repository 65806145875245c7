"""A table of whatever says what it is: cells and relations, cells and codes, formats of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.tables import jj_files
from linkrisk.datasets.tables.cells_and_relations import (
    StoredTable,
    code_columns,
    read_cells,
    read_cells_and_relations,
    stored_table,
)
from linkrisk.datasets.tables.relations_of_codes import (
    HierarchyFiles,
    relations_of_cells,
    trees_of_cells,
)


def opened(
    cells: Any,
    relations: Any = None,
    *,
    by: Sequence[str] | None = None,
    hierarchies: Mapping[str, HierarchyFiles] | None = None,
    totals: Mapping[str, str] | None = None,
) -> StoredTable:
    """Read a table.

    Parameters
    ----------
    cells : path or frame
        A JJ file, or a line for each cell (`read_cells_and_relations`).
    relations : path or frame, optional
        Without it they follow from the codes of the cells.
    by : sequence of str, optional
        Columns of codes; by default those before `value`.
    hierarchies : mapping of str to path or paths, optional
        Of columns of codes (`parents_in`); the codes of a column without one are all below its total.
    totals : mapping of str to str, optional
        The code of the total of a column, where it is not ``Total``.

    Raises
    ------
    DataError
        If it cannot be read, or is none.
    """
    if isinstance(cells, str | Path) and Path(cells).suffix.lower() == jj_files.SUFFIX:
        if relations is not None or by or hierarchies or totals:
            raise DataError(f"{cells} says itself which relations there are; leave the others out")
        return jj_files.read_jj(cells)
    if relations is not None:
        if hierarchies or totals:
            raise DataError("relations are given, or follow from hierarchies; leave one of them out")
        return read_cells_and_relations(cells, relations, by)
    return _of_codes(cells, by, hierarchies or {}, totals or {})


def _of_codes(
    cells: Any,
    by: Sequence[str] | None,
    hierarchies: Mapping[str, HierarchyFiles],
    totals: Mapping[str, str],
) -> StoredTable:
    frame, name = read_cells(cells, [*(by or ()), *hierarchies])
    columns = code_columns(frame, by)
    missing = next((column for column in columns if column not in frame.columns), None)
    if missing is not None:
        raise DataError(f"{name} has no column {missing!r}; there are: {', '.join(frame.columns)}")
    if not columns:
        raise DataError(
            f"{name}: give its relations, or columns of codes before 'value', from which they follow"
        )
    trees = trees_of_cells(frame, columns, hierarchies, totals, name)
    return stored_table(frame, relations_of_cells(frame, trees, name), name, by=columns)
