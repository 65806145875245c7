"""From what is given, whatever it is, to the table whose cells are protected."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import pandas as pd
from scipy import sparse

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.tables.cells_and_relations import (
    FIXED,
    SENSITIVE,
    StoredTable,
)
from linkrisk.datasets.tables.code_trees import Hierarchies
from linkrisk.datasets.tables.counting import count_numbers
from linkrisk.datasets.tables.linking import link
from linkrisk.datasets.tables.opening import Reading, opened
from linkrisk.datasets.tables.own_columns import STATUS
from linkrisk.formulations.tables.cell_table import CellTable, FloatArray, unbalanced
from linkrisk.solver.api.keywords import checked_keywords
from linkrisk.solver.api.tables.counts import with_counts
from linkrisk.solver.options.types import ToPandas
from linkrisk.solver.run.errors import UsageError

COSTS = ("value", "unit", "log", "given")


@runtime_checkable
class Stored(Protocol):
    """What can be used as a table, such as one made of microdata."""

    def stored(self) -> StoredTable:
        """It as cells and relations."""
        ...


Frame: TypeAlias = str | Path | pd.DataFrame | ToPandas
"""A file of any format, or a frame of any library."""

TableSource: TypeAlias = Frame | StoredTable | Stored
"""A table: its cells, or all of it."""


def table_from(cells: TableSource, relations: Frame | None = None) -> StoredTable:
    """The table that a function is given; the one way in for all of them.

    Parameters
    ----------
    cells : path, frame, StoredTable or MadeTable
        Files that say themselves which relations there are, such as JJ files, and whole tables need no
        `relations`; without these, relations follow from the codes of the cells (see `open_table`).
    relations : path or frame, optional

    Raises
    ------
    UsageError, DataError
        If it cannot be read, is none, or does not add up: which relation, and by how much.
    """
    if isinstance(cells, StoredTable | Stored):
        if relations is not None:
            raise UsageError("the table has its relations; leave the others out")
        stored = cells if isinstance(cells, StoredTable) else cells.stored()
    else:
        stored = opened(cells, relations)
    check_adds_up(stored)
    return stored


@checked_keywords
def open_table(
    cells: Frame,
    relations: Frame | None = None,
    *,
    by: Sequence[str] | None = None,
    hierarchies: Mapping[str, Hierarchies] | None = None,
    totals: Mapping[str, str] | None = None,
    value: str | None = None,
    metadata: str | Path | None = None,
    apriori: str | Path | None = None,
    recompute: bool = False,
    counts: bool | None = None,
) -> StoredTable:
    """Read a table in whatever form it is, for `suppress_table` and the others.

    Parameters
    ----------
    cells : path or frame
        A JJ file (``.jj``) or cells of ARGUS (``.tab`` with ``.rda``), which say themselves which relations
        there are; or a line for each cell.
    relations : path or frame, optional
        A line for each term: `relation`, `cell`, `coefficient`. Without it the relations follow from the
        codes of the cells: a code is the sum of those right below it, for all codes of the other columns.
    by : sequence of str, optional
        Columns of codes; by default those before `value`.
    hierarchies : mapping of str to path, frame or several, optional
        Of columns of codes: a file or frame with `code` and `parent`, or with a column for each level, or a
        tree of ARGUS (``.hrc``); several of them where codes are grouped in several ways. The codes of a
        column without one are all right below its total.
    totals : mapping of str to str, optional
        The code of the total of a column, where it is not ``Total``.
    value : str, optional
        The column of values, where it is not called `value`.
    metadata : path, optional
        What the columns of cells of ARGUS are; by default the ``.rda`` file of the same name.
    apriori : path, optional
        What is known of some cells: an a-priori file of ARGUS (``.hst``).
    recompute : bool
        Whether totals are computed again from what is below them, where they do not add up.
    counts : bool, optional
        Whether the values are counts, which attackers know to be whole numbers, and at least 1 where empty
        cells are shown. By default it is guessed: where they equal the column `respondents`, or exactly the
        smallest of whole numbers are sensitive.

    Returns
    -------
    StoredTable

    Raises
    ------
    TypeError
        If there is no such keyword.
    DataError
        If it cannot be read, is none, or does not add up.

    Examples
    --------
    >>> from linkrisk import open_table, suppress_table
    >>> table = open_table("cells.csv", hierarchies={"region": "region.hrc"})  # doctest: +SKIP
    >>> suppress_table(table).write("safe.csv")  # doctest: +SKIP
    """
    how = Reading(
        by=by,
        hierarchies=hierarchies,
        totals=totals,
        value=value,
        metadata=metadata,
        apriori=apriori,
        recompute=recompute,
    )
    stored = with_counts(opened(cells, relations, how), counts)
    check_adds_up(stored)
    return stored


@checked_keywords
def link_tables(tables: Sequence[TableSource], *, totals: Mapping[str, str] | None = None) -> StoredTable:
    """Join several tables in their common cells: what is suppressed is then protected in all at once.

    Parameters
    ----------
    tables : sequence of StoredTable, MadeTable, path or frame
        Tables with columns of codes. Cells with the same codes are the same cell; a column that a table does
        not have stands at its total there.
    totals : mapping of str to str, optional
        The code of the total of a column, where it is not ``Total``.

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
    >>> from linkrisk import link_tables, open_table, suppress_table
    >>> tables = [open_table("by_county.csv"), open_table("by_size.csv")]  # doctest: +SKIP
    >>> suppress_table(link_tables(tables)).write("safe.csv")  # doctest: +SKIP
    """
    return link([table_from(table) for table in tables], totals)


def relations_of(stored: StoredTable) -> sparse.csr_array:
    """The coefficients M of its relations, shape (m, n): ``M value = 0``."""
    shape = (int(stored.relation.max(initial=-1)) + 1, len(stored))
    return sparse.csr_array((stored.coefficient, (stored.relation, stored.cell)), shape=shape)


def check_adds_up(stored: StoredTable) -> None:
    """Refuse a table whose relations do not sum to 0.

    Raises
    ------
    DataError
        It names the first one in codes, by how much, and how many more there are.
    """
    relations, value = relations_of(stored), stored.numbers["value"]
    wrong = np.flatnonzero(unbalanced(relations, value))
    if wrong.size:
        at = int(wrong[0])
        more = f" ({wrong.size - 1} more do not either)" if wrong.size > 1 else ""
        # Of what follows from codes no relation can be left out; but a hierarchy may be missing.
        hierarchies = "give all hierarchies, or recompute totals if these are wrong"
        fix = hierarchies if stored.trees else "correct its cells, or leave it out"
        if stored.trees and len(stored) < math.prod(len(tree.codes) for tree in stored.trees):
            fix = f"cells that are not in it count as 0: add them; or {fix}"
        raise DataError(
            f"{stored.name}: {stored.describe(at)} does not add up: its terms sum to "
            f"{(relations @ value)[at]:g}{more}; {fix}"
        )


def cell_table(stored: StoredTable, cost: str) -> CellTable:
    """The table of two files.

    Raises
    ------
    UsageError, DataError, FormulationError
        If it is none.
    """
    value, numbers, name = stored.numbers["value"], stored.numbers, stored.name
    primary = stored.status == SENSITIVE
    levels = [
        np.where(primary, np.nan_to_num(numbers.get(f"{kind}_protection", np.zeros(value.size))), 0.0)
        for kind in ("lower", "upper", "sliding")
    ]
    bare = primary & ~np.any([level != 0 for level in levels], axis=0)
    if bare.any():
        row = int(np.argmax(bare))
        raise DataError(
            f"{name}, row {row + 1}: a sensitive cell has no protection level; give it one above 0"
        )
    _refuse_levels_alone(stored)
    if stored.counting:
        return _of_counts(stored, cost)
    least, most = stored.usual_bounds()
    return CellTable(
        value=value,
        relations=relations_of(stored),
        lower=_or(numbers.get("lower_bound"), np.full(value.size, least)),
        upper=_or(numbers.get("upper_bound"), np.full(value.size, most)),
        primary=primary,
        fixed=stored.status == FIXED,
        cost=_costs(stored, cost),
        lower_level=levels[0],
        upper_level=levels[1],
        sliding_level=levels[2],
        title=stored.named,
    )


def _of_counts(stored: StoredTable, cost: str) -> CellTable:
    """The table of counts: bounds and levels in whole numbers, and empty cells are published."""
    found, primary = count_numbers(stored.numbers, stored.status), stored.status == SENSITIVE
    return CellTable(
        value=stored.numbers["value"],
        relations=relations_of(stored),
        lower=found.lower,
        upper=found.upper,
        primary=primary,
        fixed=(stored.status == FIXED) | found.empty,
        cost=_costs(stored, cost),
        lower_level=found.lower_level,
        upper_level=found.upper_level,
        sliding_level=found.sliding_level,
        counts=True,
        rule_level=found.rule_level,
        title=stored.named,
    )


def _refuse_levels_alone(stored: StoredTable) -> None:
    """Refuse levels without any status: where that column has another name, all would be published."""
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
    if cost not in COSTS:
        raise UsageError(f"unknown cost {cost!r}: choose {', '.join(COSTS)}")
    if cost == "given":
        if "cost" not in stored.numbers:
            raise UsageError(f"the cost 'given' needs a column 'cost' in {stored.name}")
        return _or(stored.numbers["cost"], np.ones(value.size))
    ones = np.ones(value.size)
    return {"value": np.maximum(value, 1.0), "unit": ones, "log": np.log1p(np.maximum(value, 1.0))}[cost]
