"""Linear programs of a few rows, without the milliseconds that `scipy.optimize.linprog` adds to each."""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np

from linkrisk.arrays import FloatArray

_Status = highspy.HighsModelStatus


@dataclass(frozen=True)
class Least:
    """A smallest point and its cost."""

    x: FloatArray
    fun: float


def least(
    cost: FloatArray,
    upper: tuple[FloatArray, FloatArray],
    equal: tuple[FloatArray, FloatArray],
    bounds: tuple[FloatArray, FloatArray],
) -> Least:
    """Minimise ``cost @ x`` where ``A x <= b``, ``C x == d`` and ``low <= x <= high``.

    Parameters
    ----------
    cost : ndarray of float64, shape (n,)
    upper, equal : tuple of ndarray
        A and b, C and d.
    bounds : tuple of ndarray
        Infinite where there are none.
    """
    matrix = np.vstack([upper[0], equal[0]])
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = len(cost), len(matrix)
    program.col_cost_, (program.col_lower_, program.col_upper_) = cost, bounds
    program.row_lower_ = np.concatenate([np.full(len(upper[1]), -np.inf), equal[1]])
    program.row_upper_ = np.concatenate([upper[1], equal[1]])
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.arange(len(matrix) + 1, dtype=np.int32) * len(cost)
    program.a_matrix_.index_ = np.tile(np.arange(len(cost), dtype=np.int32), len(matrix))
    program.a_matrix_.value_ = matrix.ravel()
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.passModel(program)
    solver.run()
    assert solver.getModelStatus() == _Status.kOptimal, solver.getModelStatus()
    return Least(np.array(solver.getSolution().col_value), solver.getInfo().objective_function_value)
