"""Relations between cells: those that follow from codes, totals computed again, trivial levels left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from linkrisk.arrays import LongArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.microdata.values import spelled
from linkrisk.datasets.tables.code_trees import TOTAL, TOTALS, Codes, CodeTree, Hierarchies, codes_of
from linkrisk.datasets.tables.linking import STRONGEST
from linkrisk.datasets.tables.stored_table import (
    NUMBERS,
    STATUS,
    StoredTable,
    as_written,
    distinct_relations,
    stored_table,
)
from linkrisk.errors import called

ABSENT = -1
"""The number of a cell that a table does not have."""


def product_terms(number: LongArray, trees: Sequence[Codes]) -> pd.DataFrame:
    """List the terms of the relations of a table with a cell for each combination of codes.

    `number` has one axis for each tree. An `ABSENT` cell counts as 0, and without its sum or without any of
    its parts there is no relation.
    """
    parts, count = [], 0
    for axis, tree in enumerate(trees):
        for line in tree.inner:
            cells = np.moveaxis(np.take(number, line, axis=axis), axis, -1).reshape(-1, line.size)
            cells = cells[(cells[:, 0] != ABSENT) & (cells[:, 1:] != ABSENT).any(axis=1)]
            relation = np.repeat(np.arange(count, count + len(cells)), line.size)
            sign = np.tile([-1, *[1] * (line.size - 1)], len(cells))
            terms = np.column_stack([relation, cells.ravel(), sign])
            parts.append(terms[terms[:, 1] != ABSENT])
            count += len(cells)
    whole = np.concatenate(parts) if parts else np.empty((0, 3), dtype=np.int64)
    return pd.DataFrame(whole, columns=["relation", "cell", "coefficient"])


def trees_of_cells(
    frame: pd.DataFrame,
    by: Sequence[str],
    hierarchies: Mapping[str, Hierarchies],
    totals: Mapping[str, str],
    source: str,
    *,
    apart: Sequence[str] = (),
) -> list[Codes]:
    """Return the codes of each variable of a ready table: of its hierarchy, or all below its total.

    Columns `apart`, such as points in time, need no total: without one their codes are not summed.
    """
    for name in (*hierarchies, *totals):
        if name not in by:
            raise DataError(f"{source}: {name!r} is no column of codes; these are {', '.join(by)}")
    trees: list[Codes] = []
    for name in by:
        codes = frame[name].map(spelled, na_action="ignore").dropna().unique()
        total = totals.get(name) or next((one for one in TOTALS if one in codes), TOTAL)
        if len(codes) == 1 and name not in {*hierarchies, *totals}:
            total = str(codes[0])  # nothing is summed
        if total not in codes and name not in apart:
            near = [one for one in codes if one.strip().casefold() == total.strip().casefold()]
            raise DataError(
                f"{source}, column {name!r}: no cell has the code {total!r} of the total; say which code is "
                f"the total of {name!r} ({called('totals', {name: near[0] if near else 'CODE'})})",
                option="totals",
            )
        if name in hierarchies:
            trees.append(codes_of(name, hierarchies[name], total))
        else:
            trees.append(CodeTree.flat(name, codes, total))
    return trees


def relations_of_cells(frame: pd.DataFrame, trees: Sequence[Codes], source: str) -> pd.DataFrame:
    """List the terms of the relations between the cells of a ready table (see `product_terms`)."""
    sizes = [len(tree.codes) for tree in trees]
    flat = np.zeros(len(frame), dtype=np.int64)
    for tree, size in zip(trees, sizes, strict=True):
        at = {code: position for position, code in enumerate(tree.codes)}
        why = partial(_unknown, variable=tree.variable)
        flat = flat * size + positions(frame[tree.variable].reset_index(drop=True), at, source, why)
    twins = pd.Series(flat).duplicated().to_numpy()
    if twins.any():
        row = int(np.argmax(twins))
        first = int(np.argmax(flat == flat[row]))
        shown = ", ".join(f"{tree.variable}={spelled(frame[tree.variable].iloc[row])}" for tree in trees)
        raise DataError(f"{source}, row {row + 1}: the cell {shown} stands in row {first + 1} already")
    number = np.full(int(np.prod(sizes)), ABSENT, dtype=np.int64)
    number[flat] = np.arange(len(frame))
    return product_terms(number.reshape(sizes), trees)


def positions(
    column: pd.Series, at: Mapping[str, int], where: str, why: Callable[[str | None], str]
) -> LongArray:
    """Look up the position of each code of a column; `why` says what is wrong with one that has none."""
    texts = column.map(spelled, na_action="ignore")
    found = texts.map(at)
    wrong = found.isna().to_numpy(dtype=bool)
    if wrong.any():
        row = int(np.argmax(wrong))
        code = None if texts.isna().iloc[row] else texts.iloc[row]
        raise DataError(f"{where}, column {column.name!r}, row {column.index[row] + 1}: {why(code)}")
    return np.asarray(found.to_numpy(), dtype=np.int64)


def _unknown(code: str | None, variable: str) -> str:
    if code is None:
        return "the code is missing; fill it in"
    return f"{code!r} is in no hierarchy of {variable!r}; correct it, or the hierarchy"


def with_sums(table: StoredTable) -> StoredTable:
    """Compute every total again as the sum of its parts, for tables that were rounded cell by cell.

    A total is the only cell of a relation with the coefficient -1; where it is one of several relations (a
    margin of rows and of columns), the first one counts, and the others hold where no cell is missing.
    """
    parts: dict[int, LongArray] = {}
    for terms in table.terms_by_relation():
        factor, places = table.coefficient[terms], table.cell[terms]
        if (factor == -1).sum() != 1 or not np.isin(factor, (-1, 1)).all():
            raise DataError(
                f"{table.name}: {table.describe(int(table.relation[terms[0]]))} has no single total; its "
                "totals cannot be computed"
            )
        parts.setdefault(int(places[factor == -1][0]), places[factor == 1])
    value = table.numbers["value"].copy()
    for cell in _bottom_up(parts, table):
        value[cell] = value[parts[cell]].sum()
    cells = table.cells.assign(value=as_written(value))
    return replace(table, cells=cells, numbers={**table.numbers, "value": value})


def _bottom_up(parts: dict[int, LongArray], table: StoredTable) -> list[int]:
    """Order the totals, each behind those that it is a sum of."""
    ordered: list[int] = []
    state: dict[int, bool] = {}  # False while its parts are looked at, True when it is done
    for root in parts:
        pending = [root]
        while pending:
            cell = pending[-1]
            below = [int(one) for one in parts[cell] if int(one) in parts]
            waiting = [one for one in below if not state.get(one, False)]
            if state.get(cell) is False and any(one in state for one in waiting):
                raise DataError(f"{table.name}: {table.title(cell)} is a part of itself")
            if state.get(cell) or not waiting:
                pending.pop()
                if not state.get(cell):
                    state[cell] = True
                    ordered.append(cell)
            else:
                state[cell] = False
                pending += waiting
    return ordered


def without_trivial_levels(table: StoredTable) -> StoredTable:
    """Merge cells that a relation of two terms says are equal, and drop those relations.

    The first of equal cells stays, with the strongest of their statuses and the largest of their levels.
    """
    same = equal_cells(table)
    kept, place = np.unique(same, return_index=True)[1], np.unique(same, return_inverse=True)[1]
    rank = np.full(kept.size, len(STRONGEST) - 1)
    np.minimum.at(rank, place, [STRONGEST.index(one) for one in table.status])
    frame = table.cells.iloc[kept].reset_index(drop=True).drop(columns="cell", errors="ignore")
    frame = with_columns(frame, {STATUS: np.array(STRONGEST)[rank]})
    for name in (one for one in NUMBERS if one.endswith("_protection") and one in table.numbers):
        level = np.zeros(kept.size)
        np.maximum.at(level, place, np.nan_to_num(table.numbers[name]))
        frame[name] = level
    return stored_table(frame, _terms(table, place), table.name, by=table.by)


def equal_cells(table: StoredTable) -> LongArray:
    """For each cell the number of the first that relations of two terms say is equal to it."""
    pairs = np.array([at for at in table.terms_by_relation() if at.size == 2], dtype=np.int64).reshape(-1, 2)
    equal = table.coefficient[pairs[:, 0]] == -table.coefficient[pairs[:, 1]]
    one, other = table.cell[pairs[equal]].T
    graph = sparse.coo_array((np.ones(one.size), (one, other)), shape=(len(table), len(table)))
    group = connected_components(graph, directed=False)[1]
    first = np.unique(group, return_index=True)[1]
    return np.asarray(first[group], dtype=np.int64)


def _terms(table: StoredTable, place: LongArray) -> pd.DataFrame:
    """The relations between the cells that stay, each once."""
    terms = table.relations.assign(cell=place[table.cell])
    sums = terms.groupby(["relation", "cell"])["coefficient"].sum().reset_index()
    return distinct_relations(
        tuple(zip(part["cell"].tolist(), part["coefficient"].tolist(), strict=True))
        for _, part in sums[sums["coefficient"] != 0].groupby("relation")
    )
