"""Cell suppression as a covering program in whole numbers, whose rows are found when they are violated.

    minimise    sum of cost_i x_i over free cells
    subject to  sum_i min(reach_i, level) x_i >= level     for every demand and every dual solution
                x_i <= sum of the other x_j of a relation  no relation has exactly one suppressed cell
                x_p = 1 for primary cells, 0 for fixed ones

Fischetti and Salazar (2000) Models and algorithms for optimizing cell suppression in tabular data with linear
constraints, JASA 95, 916-928. Coefficients above the level are cut to it: one such cell is enough.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from linkrisk.formulations.programs.mixed_integer import MilpModel
from linkrisk.formulations.programs.separation import Cuts, Separator
from linkrisk.formulations.tables.cell_table import CellTable, FloatArray


def suppression_model(table: CellTable, separator: Separator | None) -> MilpModel:
    """The program; its columns are the cells.

    Parameters
    ----------
    table : CellTable
    separator : Separator or None
        Knows the capacity constraints.
    """
    alone = alone_rows(table)
    return MilpModel(
        objective=np.where(table.free, table.cost, 0.0),
        matrix=alone.matrix,
        row_lower=alone.lower,
        row_upper=alone.upper,
        column_lower=table.primary.astype(np.float64),
        column_upper=(~table.fixed).astype(np.float64),
        integer=np.ones(len(table), dtype=np.bool_),
        separator=separator,
    )


def alone_rows(table: CellTable) -> Cuts:
    """Of every relation with one primary cell: another cell is suppressed, as else it is known exactly."""
    relations = sparse.csr_array(table.relations)
    kept = [
        others
        for inside in np.split(relations.indices, relations.indptr[1:-1])
        if table.primary[inside].sum() == 1 and (others := inside[table.free[inside]]).size
    ]
    rows = np.repeat(np.arange(len(kept)), np.array([one.size for one in kept], dtype=np.int64))
    inside = np.concatenate([np.zeros(0, dtype=np.int64), *kept])
    matrix = sparse.csr_array((np.ones(rows.size), (rows, inside)), shape=(len(kept), len(table)))
    return Cuts(matrix, np.ones(len(kept)), np.full(len(kept), np.inf))


def bridge_rows(table: CellTable, x: FloatArray, least: float) -> Cuts:
    """Free cells that are suppressed by more than all others of a relation together.

    A cell that is suppressed alone in a relation is known exactly, so that publishing it changes nothing: no
    cheapest pattern has one, if all costs are above 0. In each relation only the largest cell can be so.

    Parameters
    ----------
    table : CellTable
    x : ndarray of float64, shape (n,)
    least : float
        How much more it has to be.
    """
    relations = sparse.csr_array(table.relations)
    starts, inside = relations.indptr[:-1], relations.indices
    rows = np.repeat(np.arange(starts.size), np.diff(relations.indptr))
    sums = np.bincount(rows, x[inside], starts.size)
    entry = np.flatnonzero((2.0 * x[inside] - sums[rows] > least) & (table.free & (table.cost > 0))[inside])
    wanted = rows[entry]
    matrix = relations[wanted]
    matrix.data = np.ones(matrix.nnz)
    alone = sparse.csr_array(
        (np.full(entry.size, 2.0), (np.arange(entry.size), inside[entry])), shape=matrix.shape
    )
    return Cuts(sparse.csr_array(matrix - alone), np.zeros(entry.size), np.full(entry.size, np.inf))


def capacity_row(reach: FloatArray, level: float) -> FloatArray:
    """The coefficients of one constraint with the right-hand side 1, shape (n,)."""
    return np.asarray(np.minimum(reach, level) / level, dtype=np.float64)
