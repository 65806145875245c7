"""Trivial levels: a code with a single code below it, whose cells are twice the same."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.tables.cells_and_relations import StoredTable, stored_table
from linkrisk.datasets.tables.linking import STRONGEST
from linkrisk.datasets.tables.own_columns import NUMBERS, STATUS


def without_trivial_levels(table: StoredTable) -> StoredTable:
    """The table with cells that a relation says are equal as one, and without the relations that say so.

    The first of equal cells stays, with the strongest of their statuses and the largest of their levels.
    """
    same = _same(table)
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


def _same(table: StoredTable) -> npt.NDArray[np.int64]:
    """For each cell the number of the first that is equal to it."""
    order = np.argsort(table.relation, kind="stable")
    starts = np.flatnonzero(np.diff(table.relation[order], prepend=-1))
    sizes = np.diff([*starts, order.size])
    pairs = starts[sizes == 2]
    one, other = order[pairs], order[pairs + 1]
    equal = table.coefficient[one] == -table.coefficient[other]
    one, other = table.cell[one[equal]], table.cell[other[equal]]
    graph = sparse.coo_array((np.ones(one.size), (one, other)), shape=(len(table), len(table)))
    group = connected_components(graph, directed=False)[1]
    first = np.unique(group, return_index=True)[1]
    return np.asarray(first[group], dtype=np.int64)


def _terms(table: StoredTable, place: npt.NDArray[np.int64]) -> pd.DataFrame:
    """The relations between the cells that stay, each once."""
    terms = table.relations.assign(cell=place[table.cell])
    sums = terms.groupby(["relation", "cell"])["coefficient"].sum().reset_index()
    found: dict[tuple[tuple[int, float], ...], None] = {}
    for _, part in sums[sums["coefficient"] != 0].groupby("relation"):
        found[tuple(zip(part["cell"].tolist(), part["coefficient"].tolist(), strict=True))] = None
    lines = [(number, *term) for number, each in enumerate(found) for term in each]
    return pd.DataFrame(lines, columns=["relation", "cell", "coefficient"])
