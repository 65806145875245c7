"""The attacker: who knows all published cells, the relations, and bounds of the others.

Written in deviations d from the true values: ``M d = 0`` and ``-below_i x_i <= d_i <= above_i x_i``, where
x_i says whether cell i is suppressed (Fischetti and Salazar 2000). The largest d_p is how far up the attacker
must think that cell p could be.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from linkrisk.formulations.programs.linear import LinearModel
from linkrisk.formulations.tables.cell_table import CellTable, FloatArray


def attacker_model(table: CellTable, suppressed: FloatArray) -> LinearModel:
    """The attacker's program with nothing to find out yet.

    Parameters
    ----------
    table : CellTable
    suppressed : ndarray of float64, shape (n,)
        1 for suppressed cells, 0 for published ones; between, the bounds are so much narrower.
    """
    rows = table.relations.shape[0]
    return LinearModel(
        objective=np.zeros(len(table)),
        matrix=table.relations,
        row_lower=np.zeros(rows),
        row_upper=np.zeros(rows),
        column_lower=-table.below * suppressed,
        column_upper=table.above * suppressed,
    )


def reach(
    table: CellTable, goal: FloatArray, by_cell: sparse.csc_array, multipliers: FloatArray
) -> FloatArray:
    """What each suppressed cell adds at most to the attacker's goal, by any multipliers of the relations.

    For every u, ``max goal d = max (goal - u M) d <= sum_i x_i max (goal - u M)_i d_i`` over the bounds: with
    these coefficients the sum over the suppressed cells is never less than the goal, whatever u is, and equal
    to it where u is the dual optimum (capacity constraint, Fischetti and Salazar 2000, section 3).

    Parameters
    ----------
    table : CellTable
    goal : ndarray of float64, shape (n,)
        To be maximised.
    by_cell : scipy.sparse.csc_array, shape (m, n)
        The relations M, column by column.
    multipliers : ndarray of float64, shape (m,)

    Returns
    -------
    ndarray of float64, shape (n,)
        Not negative.
    """
    reduced = goal - by_cell.T @ multipliers
    return np.asarray(np.maximum(reduced * table.above, -reduced * table.below), dtype=np.float64)
