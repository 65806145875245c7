"""A linear program over the parameters that grows row by row and keeps its basis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from formulations.aggregators import Aggregator

if TYPE_CHECKING:
    import highspy

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

_SMALLEST = 1e-12
"""HiGHS drops smaller coefficients, and can be told no less; ties are about 1e-11 on rows of unit length."""

_SETTLED = ("kOptimal", "kTimeLimit")


def new_program(
    matrix: sparse.csr_array,
    cost: FloatArray,
    column_lower: FloatArray,
    column_upper: FloatArray,
    row_lower: FloatArray,
    row_upper: FloatArray,
) -> highspy.Highs:
    """Minimise ``cost @ x`` such that ``matrix @ x`` and x keep their bounds: HiGHS, not yet run."""
    import highspy

    program = highspy.Highs()
    program.setOptionValue("output_flag", False)
    program.setOptionValue("small_matrix_value", _SMALLEST)
    # Programs as small as these do not stall, and mending what perturbed costs did to them takes time.
    program.setOptionValue("dual_simplex_cost_perturbation_multiplier", 0.0)
    rows, columns = matrix.shape
    program.passModel(
        columns,
        rows,
        matrix.nnz,
        int(highspy.MatrixFormat.kRowwise),
        int(highspy.ObjSense.kMinimize),
        0.0,
        cost,
        column_lower,
        column_upper,
        row_lower,
        row_upper,
        matrix.indptr.astype(np.int32),
        matrix.indices.astype(np.int32),
        matrix.data.astype(np.float64),
        np.zeros(columns, dtype=np.int32),
    )
    return program


def row_entries(
    values: FloatArray | sparse.csr_array, rows: IndexArray
) -> tuple[IndexArray, IndexArray, FloatArray]:
    """How many entries each of these rows has, their columns and their values, row after row.

    The same as indexing a sparse matrix, in a third of the time where the rows are few.
    """
    if isinstance(values, np.ndarray):
        columns = values.shape[1]
        return np.full(rows.size, columns), np.tile(np.arange(columns), rows.size), values[rows].ravel()
    begin = values.indptr[rows]
    counts = values.indptr[rows + 1] - begin
    ends = np.cumsum(counts)
    places = np.arange(counts.sum()) + np.repeat(begin - ends + counts, counts)
    return counts, values.indices[places], values.data[places]


class GrowingProgram:
    """Maximise or minimise over ``theta`` in its domain, extra columns and rows that are added as needed.

    Parameters
    ----------
    aggregator : Aggregator
        Whose domain ``theta``, the first columns, lies in.
    cost, lower, upper : ndarray of float64, shape (extra,)
        Cost (minimised) and bounds of the extra columns.
    theta_cost : ndarray of float64, optional, shape (dimension,)
        Cost of ``theta``; zero when absent.
    """

    def __init__(
        self,
        aggregator: Aggregator,
        cost: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        theta_cost: FloatArray | None = None,
    ) -> None:
        domain = aggregator.domain()
        self.dimension = aggregator.dimension
        self.domain_rows = self.rows = domain.matrix.shape[0]
        leading = np.zeros(self.dimension) if theta_cost is None else theta_cost
        self._highs = new_program(
            sparse.csr_array(
                sparse.hstack([domain.matrix, sparse.csr_array((self.rows, cost.size))], format="csr")
            ),
            np.concatenate([leading, cost]),
            np.concatenate([domain.column_lower, lower]),
            np.concatenate([domain.column_upper, upper]),
            domain.row_lower,
            domain.row_upper,
        )

    def add(self, rows: sparse.csr_array, lower: FloatArray) -> IndexArray:
        """Add ``rows @ x >= lower``; returns their positions in the program."""
        starts, columns = rows.indptr[:-1].astype(np.intp), rows.indices.astype(np.intp)
        return self.add_entries(starts, columns, rows.data, lower)

    def add_entries(
        self, starts: IndexArray, columns: IndexArray, values: FloatArray, lower: FloatArray
    ) -> IndexArray:
        """Add rows whose entries follow each other, each row's from its place in `starts`."""
        count = lower.size
        if count:
            self._highs.addRows(
                count,
                lower,
                np.full(count, np.inf),
                values.size,
                starts.astype(np.int32),
                columns.astype(np.int32),
                values.astype(np.float64),
            )
        self.rows += count
        return np.arange(self.rows - count, self.rows)

    def bound_below(self, positions: IndexArray, lower: FloatArray) -> None:
        """Change the lower bounds of rows; -inf switches one off."""
        self._highs.changeRowsBounds(
            positions.size, positions.astype(np.int32), lower, np.full(positions.size, np.inf)
        )

    def duals(self) -> FloatArray:
        """Dual value of every row at the last solution, shape (rows,)."""
        return np.asarray(self._highs.getSolution().row_dual)

    def price(self, cost: FloatArray) -> None:
        """Change the cost of the extra columns."""
        columns = np.arange(self.dimension, self.dimension + cost.size, dtype=np.int32)
        self._highs.changeColsCost(cost.size, columns, cost)

    def solve(self, seconds: float | None = None) -> FloatArray | None:
        """Solve from the last basis; the point, or None unless it is optimal."""
        self._highs.setOptionValue("time_limit", np.inf if seconds is None else self._spent() + seconds)
        self._highs.run()
        if self._highs.getModelStatus().name not in _SETTLED:
            self._highs.clearSolver()  # the last basis may have led nowhere
            self._highs.run()
        if self._highs.getModelStatus().name != "kOptimal":
            return None
        return np.asarray(self._highs.getSolution().col_value)

    def _spent(self) -> float:
        """HiGHS counts its time limit over all runs of an object."""
        return float(self._highs.getRunTime())
