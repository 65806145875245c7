"""A linear program over the parameters that grows row by row and keeps its basis."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.linkage.aggregators import Aggregator
from linkrisk.formulations.programs import LinearModel
from linkrisk.solver.backends.linear.base import (
    LinearOptions,
    LinearProgram,
    LinearSolution,
    LinearStatus,
    linear_program,
)
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.work import ITERATION, PROGRAM

_OPTIONS = LinearOptions(own={"dual_simplex_cost_perturbation_multiplier": 0.0})
"""Programs as small as these do not stall, and fixing what perturbed costs did to them takes time."""

_SETTLED = (LinearStatus.OPTIMAL, LinearStatus.TIME)


def new_program(
    matrix: sparse.csr_array,
    cost: FloatArray,
    column_lower: FloatArray,
    column_upper: FloatArray,
    row_lower: FloatArray,
    row_upper: FloatArray,
) -> LinearProgram:
    """Minimise ``cost @ x`` such that ``matrix @ x`` and x keep their bounds."""
    model = LinearModel(
        objective=cost,
        matrix=matrix,
        row_lower=row_lower,
        row_upper=row_upper,
        column_lower=column_lower,
        column_upper=column_upper,
    )
    return linear_program(model, _OPTIONS)


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

    `aggregator`: whose domain ``theta``, the first columns, lies in. `cost`, `lower`, `upper` (extra,): cost
    (minimised) and bounds of the extra columns. `theta_cost` (dimension,): cost of ``theta``; zero when
    absent.
    """

    def __init__(
        self,
        aggregator: Aggregator,
        cost: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        theta_cost: FloatArray | None = None,
    ) -> None:
        domain = aggregator.domain.rows
        self.dimension = aggregator.dimension
        self.domain_rows = self.rows = domain.matrix.shape[0]
        leading = np.zeros(self.dimension) if theta_cost is None else theta_cost
        self._program = new_program(
            sparse.csr_array(
                sparse.hstack([domain.matrix, sparse.csr_array((self.rows, cost.size))], format="csr")
            ),
            np.concatenate([leading, cost]),
            np.concatenate([domain.column_lower, lower]),
            np.concatenate([domain.column_upper, upper]),
            domain.row_lower,
            domain.row_upper,
        )
        self._solution: LinearSolution | None = None

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
            above = np.full(count, np.inf)
            self._program.add_row_entries(starts, columns, values, lower, above)
        self.rows += count
        return np.arange(self.rows - count, self.rows)

    def bound_below(self, positions: IndexArray, lower: FloatArray) -> None:
        """Change the lower bounds of rows; -inf switches one off."""
        self._program.change_row_bounds(positions, lower, np.full(positions.size, np.inf))

    def duals(self) -> FloatArray:
        """Dual value of every row at the last solution, shape (rows,)."""
        assert self._solution is not None
        return self._solution.duals

    def price(self, cost: FloatArray) -> None:
        """Change the cost of the extra columns."""
        self._program.change_objective(np.arange(self.dimension, self.dimension + cost.size), cost)

    def solve(self, clock: Clock) -> FloatArray | None:
        """Solve from the last basis in the time that is left; the point, or None unless it is optimal."""
        self._solution = self._solved(clock)
        if self._solution.status not in _SETTLED:
            self._program.forget_basis()  # it may have led nowhere
            self._solution = self._solved(clock)
        return self._solution.point if self._solution.optimal else None

    def _solved(self, clock: Clock) -> LinearSolution:
        solution = self._program.solve(seconds=clock.seconds_left)
        clock.spend(PROGRAM + ITERATION * solution.iterations * (self._program.rows + self._program.columns))
        return solution
