"""A table of whatever says what it is: cells and relations, cells and codes, formats of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.argus_files import METADATA, find_file
from linkrisk.datasets.tables.argus import jj_files, ready_tables
from linkrisk.datasets.tables.argus.apriori import with_apriori
from linkrisk.datasets.tables.cells_and_relations import (
    StoredTable,
    code_columns,
    read_cells,
    read_cells_and_relations,
    stored_table,
)
from linkrisk.datasets.tables.code_trees import Hierarchies
from linkrisk.datasets.tables.relations_of_codes import relations_of_cells, trees_of_cells
from linkrisk.datasets.tables.totals import with_sums
from linkrisk.errors import called

WHOLE = (jj_files.SUFFIX, ready_tables.SUFFIX)
"""Suffixes of files that say themselves which relations there are."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a table is read, where its file does not say it (see `opened`)."""

    by: Sequence[str] | None = None
    hierarchies: Mapping[str, Hierarchies] | None = None
    totals: Mapping[str, str] | None = None
    value: str | None = None
    metadata: str | Path | None = None
    apriori: str | Path | None = None
    recompute: bool = False


def opened(cells: Any, relations: Any = None, how: Reading | None = None) -> StoredTable:
    """Read a table.

    Parameters
    ----------
    cells : path or frame
        A JJ file, cells of ARGUS, or a line for each cell (`read_cells_and_relations`).
    relations : path or frame, optional
        Without it they follow from the codes of the cells.
    how : Reading, optional
        `by`: columns of codes; by default those before the values. `hierarchies` of them (`parents_in`); the
        codes of a column without one are all below its total. `totals`: their codes, where not ``Total``.
        `value`: the column of values. `metadata`: what the columns of cells of ARGUS are. `apriori`: what is
        known of some cells. `recompute`: whether totals are computed again.

    Raises
    ------
    DataError
        If it cannot be read, or is none.
    """
    how = how or Reading()
    suffix = Path(cells).suffix.lower() if isinstance(cells, str | Path) else ""
    if suffix == jj_files.SUFFIX:
        _refuse_others(cells, relations, how, ("by", "hierarchies", "totals", "value", "metadata"))
        stored = jj_files.read_jj(cells)
    elif _is_argus(cells, relations, how, suffix):
        _refuse_others(cells, relations, how, ("hierarchies", "totals"))
        stored = ready_tables.read_argus_table(cells, how.metadata, by=how.by, response=how.value)
    elif relations is not None:
        if how.hierarchies or how.totals:
            raise DataError("relations are given, or follow from hierarchies; leave one of them out")
        stored = read_cells_and_relations(cells, relations, how.by, how.value)
    else:
        stored = _of_codes(cells, how)
    if how.recompute:
        stored = with_sums(stored)
    return stored if how.apriori is None else with_apriori(stored, how.apriori)


def is_whole(path: str | Path) -> bool:
    """Whether a file says itself which relations there are: a JJ file, or cells of ARGUS with theirs."""
    file = Path(path)
    if file.suffix.lower() != ready_tables.SUFFIX:
        return file.suffix.lower() == jj_files.SUFFIX
    return file.is_file() and find_file(file.parent, f"{file.stem}{METADATA}") is not None


def _is_argus(cells: Any, relations: Any, how: Reading, suffix: str) -> bool:
    """Whether these are cells of ARGUS; others have files of the same suffix, with a heading."""
    if how.metadata is not None:
        return True
    return suffix == ready_tables.SUFFIX and (relations is None or is_whole(cells))


def _refuse_others(cells: Any, relations: Any, how: Reading, names: Sequence[str]) -> None:
    if relations is not None or any(getattr(how, name) for name in names):
        raise DataError(f"{cells} says itself which relations there are; leave the others out")


def _of_codes(cells: Any, how: Reading) -> StoredTable:
    hierarchies = how.hierarchies or {}
    frame, name, names = read_cells(cells, how.by, how.value, hierarchies)
    columns = code_columns(frame) if how.by is None else [names[one] for one in how.by]
    if not columns:
        raise DataError(
            f"{name}: give its relations, or columns of codes before 'value', or say which these are "
            f"({called('by', ['A', 'B'])}), from which they follow",
            option="by",
        )
    totals = {names.get(one, one): code for one, code in (how.totals or {}).items()}
    known = {names.get(one, one): files for one, files in hierarchies.items()}
    trees = trees_of_cells(frame, columns, known, totals, name)
    return stored_table(frame, relations_of_cells(frame, trees, name), name, by=columns, trees=trees)
