"""A subtable as a table by itself."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from linkrisk.formulations.tables.cell_table import BoolArray, CellTable, FloatArray
from linkrisk.formulations.tables.subtables import Subtable


def within(table: CellTable, part: Subtable, hidden: BoolArray, moves: FloatArray) -> CellTable:
    """A subtable by itself; cells that are suppressed must move as they do elsewhere.

    Parameters
    ----------
    table : CellTable
    part : Subtable
    hidden : ndarray of bool, shape (k,)
        Its suppressed cells, which are sensitive here.
    moves : ndarray of float64, shape (n,)
        How far each cell of the table moves elsewhere.
    """
    cells = part.cells
    below, above = table.below[cells], table.above[cells]
    wanted = np.where(hidden, moves[cells], 0.0)
    rows = sparse.csr_array(sparse.csc_array(sparse.csr_array(table.relations)[part.relations])[:, cells])
    return CellTable(
        value=table.value[cells],
        relations=rows,
        lower=table.lower[cells],
        upper=table.upper[cells],
        primary=hidden,
        fixed=table.fixed[cells],
        cost=table.cost[cells],
        lower_level=np.maximum(table.lower_level[cells], np.minimum(wanted, below)),
        upper_level=np.maximum(table.upper_level[cells], np.minimum(wanted, above)),
        sliding_level=table.sliding_level[cells],
    )
