"""Totals computed again from what is below them, for tables that were rounded cell by cell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linkrisk.arrays import LongArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.tables.cells_and_relations import StoredTable


def with_sums(table: StoredTable) -> StoredTable:
    """The table with every total as the sum of its parts.

    A total is the only cell of a relation with the coefficient -1; where it is one of several relations (a
    margin of rows and of columns), the first one counts, and the others hold where the table is whole.

    Raises
    ------
    DataError
        If a relation has no single total, or a cell is a part of itself.
    """
    order = np.argsort(table.relation, kind="stable")
    starts = np.flatnonzero(np.diff(table.relation[order], prepend=-1))
    parts: dict[int, LongArray] = {}
    for begin, end in zip(starts, [*starts[1:], order.size], strict=True):
        terms = order[begin:end]
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
    whole = np.rint(value)
    kept = whole.astype(np.int64) if (value == whole).all() else value
    cells = table.cells.assign(value=kept)
    return replace(table, cells=cells, numbers={**table.numbers, "value": value})


def _bottom_up(parts: dict[int, LongArray], table: StoredTable) -> list[int]:
    """The totals, each behind those that it is a sum of."""
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
