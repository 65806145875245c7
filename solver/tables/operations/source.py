"""Reads tables from paths, frames and options, and builds the mathematical table from the stored one."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import fields
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.tables.argus import ready_tables
from linkrisk.datasets.tables.linking import link
from linkrisk.datasets.tables.public_bounds import count_numbers
from linkrisk.datasets.tables.reading import Reading, cells_of, has_own_relations, opened, with_record
from linkrisk.datasets.tables.stored_table import (
    FIXED,
    SENSITIVE,
    STATUS,
    StoredTable,
    code_columns,
    read_cells,
    refuse_rows,
)
from linkrisk.errors import called
from linkrisk.formulations.tables.cell_table import CellTable, unbalanced
from linkrisk.solver.options.tables import LinkTablesOptions, TableOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.options.types import Frame, Stored, TableSource
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.operations.counts import with_counts


def table_from(cells: TableSource, relations: Frame | None = None) -> StoredTable:
    """Return the table given to a function; it must add up.

    `relations` are not needed for tables and for files that contain them, such as JJ files; otherwise they
    follow from the codes of the cells (see `open_table`).
    """
    if isinstance(cells, StoredTable | Stored):
        if relations is not None:
            raise UsageError("the table has its relations; leave the others out")
        stored = cells if isinstance(cells, StoredTable) else cells.stored()
    else:
        stored = opened(cells, relations)
    check_adds_up(stored)
    return stored


@taking(TableOptions)
def open_table(asked: TableOptions) -> StoredTable:
    """Read a table of any form, for `suppress_table` and the other functions.

    Parameters
    ----------
    {options}

    Returns
    -------
    StoredTable

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError
        If there is none, it cannot be read, does not add up, or the record is of another table.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> firms = pd.DataFrame(
    ...     {"region": list("NNNNSSSS"), "size": list("aabbaabb"), "sales": [90, 5, 20, 30, 40, 50, 60, 70]}
    ... )
    >>> table = linkrisk.make_table(firms, ["region", "size"], response="sales", rules=["p=10"])
    >>> linkrisk.open_table(table).cells.shape
    (9, 7)
    """
    return read_asked_table(asked)


def read_asked_table(asked: TableOptions) -> StoredTable:
    """Read the table named by the options; all functions call it (see `open_table`)."""
    cells, relations, whole = (_listed(one) for one in (asked.cells, asked.relations, asked.tables))
    cells = [cells_of(one) for one in cells]
    if bool(whole) == bool(cells):
        raise UsageError(
            f"give a table: {called('tables', 'FILE')}, or {called('cells', 'FILE')} "
            f"(and {called('relations', 'FILE')})"
        )
    if asked.apriori is not None and len(whole or cells) > 1:
        one = f"{called('apriori')} is of one table"
        raise UsageError(f"{one}; give each table its own before they are linked", option="apriori")
    if whole:
        table = _whole(asked, whole)
    elif any(isinstance(one, StoredTable | Stored) for one in cells):
        table = _read_already(asked, cells)
    else:
        table = _of_cells(asked, cells, relations)
    return table if asked.made is None else with_record(table, asked.made)


def _listed(given: Any) -> list[Any]:
    return list(given) if isinstance(given, list | tuple) else [] if given is None else [given]


def _whole(asked: TableOptions, files: list[Any]) -> StoredTable:
    """Read tables whose files contain their relations."""
    _refuse(asked, "relations", "hierarchies", "totals", why="{tables} says itself which relations there are")
    if len(files) > 1:
        _refuse_of_one(asked, "by", "metadata")
    return _joined([_one(asked, file) for file in files])


def _read_already(asked: TableOptions, tables: list[Any]) -> StoredTable:
    if asked.relations is not None:
        raise UsageError("the table has its relations; leave the others out")
    _refuse(asked, *_HOW, why="the table is read already")
    return with_counts(_joined([table_from(table) for table in tables]), asked.counts)


def _joined(tables: list[StoredTable]) -> StoredTable:
    return tables[0] if len(tables) == 1 else link(tables)


def _of_cells(asked: TableOptions, cells: list[Any], relations: list[Any]) -> StoredTable:
    if asked.metadata is not None and not (len(cells) == 1 and _of_argus(cells[0])):
        described, by = called("metadata"), called("tables")
        raise UsageError(f"{described} describes the cells of {by}; give that", option="metadata")
    if len(relations) > len(cells):
        more, than = called("relations"), called("cells")
        raise UsageError(f"{more} is given more often than {than}; each table has one of both")
    if len(cells) == 1:
        return _one(asked, cells[0], relations[0] if relations else None)
    return _linked(asked, list(zip_longest(cells, relations)))


def _of_argus(cells: Any) -> bool:
    return isinstance(cells, str | Path) and Path(cells).suffix.lower() == ready_tables.SUFFIX


_HOW = tuple(one.name for one in fields(Reading))
"""Options of reading a table."""


def _one(asked: TableOptions, cells: Any, relations: Any = None, **changes: Any) -> StoredTable:
    """Read one table with the options and some changes."""
    how = Reading(**{**{name: getattr(asked, name) for name in _HOW}, **changes})
    stored = with_counts(opened(cells, relations, how), asked.counts)
    check_adds_up(stored)
    return stored


def _refuse(asked: TableOptions, *names: str, why: str) -> None:
    """Refuse options that another one makes superfluous."""
    name = next((name for name in names if getattr(asked, name)), None)
    if name is not None:
        reason = why.format(tables=called("tables"))
        raise UsageError(f"{reason}; leave {called(name)} out", option=name)


def _refuse_of_one(asked: TableOptions, *names: str) -> None:
    for name in names:
        if getattr(asked, name) is not None:
            raise UsageError(
                f"{called(name)} is of one table; leave it out where several are linked", option=name
            )


def _linked(asked: TableOptions, files: Sequence[tuple[Any, Any]]) -> StoredTable:
    """Read several tables, each with the options for its own columns and hierarchies."""
    trees, totals = asked.hierarchies or {}, asked.totals or {}
    columns = []
    for cells, _ in files:
        frame = read_cells(cells, value=asked.value)[0]
        columns.append([name for name in asked.by or code_columns(frame) if name in frame.columns])
    seen = sorted({name for mine in columns for name in mine})
    unknown = next((name for name in (*(asked.by or ()), *trees, *totals) if name not in seen), None)
    if unknown is not None:
        raise UsageError(f"no table has a column {unknown!r} of codes; there are: {', '.join(seen)}")
    tables = []
    for (cells, relations), mine in zip(files, columns, strict=True):
        follow = mine if relations is None else []
        own = {"hierarchies": _only(trees, follow), "totals": _only(totals, follow)}
        tables.append(_one(asked, cells, relations, by=mine, **own))
    return link(tables, totals)


def _only(mapping: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    return {name: one for name, one in mapping.items() if name in names}


def other_table(asked: TableOptions, given: Any) -> StoredTable:
    """Read another table of the same cells, with the same options for the same columns."""
    cells, relations = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
    if isinstance(cells, tuple):
        (cells,) = cells
    cells = cells_of(cells)
    if isinstance(cells, StoredTable | Stored):
        return table_from(cells, relations)
    how: dict[str, Any] = {"metadata": None, "apriori": None, "recompute": False}
    if relations is None and isinstance(cells, str | Path) and has_own_relations(cells):
        return _one(asked, cells, by=None, hierarchies=None, totals=None, **how)
    columns = set(read_cells(cells, value=asked.value)[0].columns)
    how["by"] = [name for name in asked.by or () if name in columns] or None
    if relations is not None:
        return _one(asked, cells, relations, value=None, hierarchies=None, totals=None, **how)
    own = {name: _only(getattr(asked, name) or {}, columns) for name in ("hierarchies", "totals")}
    return _one(asked, cells, value=None, **own, **how)


@taking(LinkTablesOptions)
def link_tables(asked: LinkTablesOptions) -> StoredTable:
    """Join several tables in their common cells, to be protected together.

    Parameters
    ----------
    {options}

    Returns
    -------
    StoredTable
        Of a common cell the stricter holds: sensitive before safe, the larger level, the narrower bounds.

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError
        If a table cannot be used, or a common cell has different values: which one, and by how much.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> firms = pd.DataFrame(
    ...     {"region": list("NNNNSSSS"), "size": list("aabbaabb"), "sales": [90, 5, 20, 30, 40, 50, 60, 70]}
    ... )
    >>> tables = [linkrisk.make_table(firms, [by], response="sales") for by in ("region", "size")]
    >>> len(linkrisk.link_tables(tables).cells)
    5
    """
    return link([table_from(table) for table in asked.tables], asked.totals)


def relations_of(stored: StoredTable) -> sparse.csr_array:
    """Return the coefficients M of its relations, shape (m, n): ``M value = 0``."""
    shape = (int(stored.relation.max(initial=-1)) + 1, len(stored))
    return sparse.csr_array((stored.coefficient, (stored.relation, stored.cell)), shape=shape)


def check_adds_up(stored: StoredTable) -> None:
    """Refuse a table whose relations do not sum to 0, naming the first one and how many more."""
    relations, value = relations_of(stored), stored.numbers["value"]
    wrong = np.flatnonzero(unbalanced(relations, value))
    if wrong.size:
        at = int(wrong[0])
        more = f" ({wrong.size - 1} more do not either)" if wrong.size > 1 else ""
        # Relations from codes are complete; but a hierarchy may be missing.
        hierarchies = "give all hierarchies, or recompute totals if these are wrong"
        fix = hierarchies if stored.trees else "correct its cells, or leave it out"
        if stored.trees and len(stored) < math.prod(len(tree.codes) for tree in stored.trees):
            fix = f"cells that are not in it count as 0: add them; or {fix}"
        raise DataError(
            f"{stored.name}: {stored.describe(at)} does not add up: its terms sum to "
            f"{(relations @ value)[at]:g}{more}; {fix}"
        )


def cell_table(stored: StoredTable, cost: str) -> CellTable:
    """Build the mathematical table of a stored one, with costs by value, unit, logarithm, or as given."""
    value, numbers, name = stored.numbers["value"], stored.numbers, stored.name
    primary = stored.status == SENSITIVE
    levels = [
        np.where(primary, np.nan_to_num(numbers.get(f"{kind}_protection", np.zeros(value.size))), 0.0)
        for kind in ("lower", "upper", "sliding")
    ]
    bare = primary & ~np.any([level != 0 for level in levels], axis=0)
    refuse_rows(bare, name, "a sensitive cell has no protection level; give it one above 0")
    _refuse_levels_alone(stored)
    fixed = stored.status == FIXED
    shared: dict[str, Any] = {
        "value": value,
        "relations": relations_of(stored),
        "primary": primary,
        "cost": _costs(stored, cost),
        "title": stored.named,
    }
    if stored.counting:  # bounds and levels are integral, and empty cells are published
        found = count_numbers(numbers, stored.status)
        return CellTable(
            **shared,
            lower=found.lower,
            upper=found.upper,
            fixed=fixed | found.empty,
            lower_level=found.lower_level,
            upper_level=found.upper_level,
            sliding_level=found.sliding_level,
            counts=True,
            rule_level=found.rule_level,
        )
    least, most = stored.usual_bounds()
    return CellTable(
        **shared,
        lower=_or(numbers.get("lower_bound"), np.full(value.size, least)),
        upper=_or(numbers.get("upper_bound"), np.full(value.size, most)),
        fixed=fixed,
        lower_level=levels[0],
        upper_level=levels[1],
        sliding_level=levels[2],
    )


def _refuse_levels_alone(stored: StoredTable) -> None:
    """Refuse levels without statuses: if that column has another name, all cells would be published."""
    if STATUS in stored.cells.columns or (stored.status == SENSITIVE).any():
        return
    for kind in ("lower", "upper", "sliding"):
        column = f"{kind}_protection"
        if np.nan_to_num(stored.numbers.get(column, np.zeros(1))).any():
            raise DataError(
                f"{stored.name} has the column {column!r}, but none {STATUS!r} that says which cells are "
                "sensitive; give it, or leave the levels out"
            )


def _or(given: FloatArray | None, usual: FloatArray) -> FloatArray:
    return usual if given is None else np.where(np.isnan(given), usual, given)


def _costs(stored: StoredTable, cost: str) -> FloatArray:
    value = np.abs(stored.numbers["value"])
    if cost == "given":
        if "cost" not in stored.numbers:
            raise UsageError(f"the cost 'given' needs a column 'cost' in {stored.name}")
        return _or(stored.numbers["cost"], np.ones(value.size))
    ones = np.ones(value.size)
    return {"value": np.maximum(value, 1.0), "unit": ones, "log": np.log1p(np.maximum(value, 1.0))}[cost]
