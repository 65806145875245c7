"""Keep linear programs in HiGHS between solves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.programs import LinearModel
from linkrisk.solver.backends.highs import load_highs
from linkrisk.solver.backends.linear.base import (
    LinearOptions,
    LinearProgram,
    LinearSolution,
    LinearStatus,
)

if TYPE_CHECKING:
    import highspy

STATUSES: Mapping[str, LinearStatus] = {
    "kOptimal": LinearStatus.OPTIMAL,
    "kModelEmpty": LinearStatus.OPTIMAL,
    "kInfeasible": LinearStatus.INFEASIBLE,
    "kUnbounded": LinearStatus.UNBOUNDED,
    "kIterationLimit": LinearStatus.ITERATIONS,
    "kTimeLimit": LinearStatus.TIME,
}
"""Names of `HighsModelStatus`; any other one is a failure."""

_UNDECIDED = "kUnboundedOrInfeasible"

_MOST_ITERATIONS = 2**31 - 1


class HighsProgram(LinearProgram):
    """HiGHS: the simplex method, one thread."""

    name: ClassVar[str] = "highs"
    requires: ClassVar[tuple[str, ...]] = ("highspy",)

    def change_objective(self, positions: NDArray[Any], objective: FloatArray) -> None:
        """Give columns other costs."""
        self._highs.changeColsCost(positions.size, positions.astype(np.int32), objective)

    def change_column_bounds(self, positions: NDArray[Any], lower: FloatArray, upper: FloatArray) -> None:
        """Give columns other bounds."""
        self._highs.changeColsBounds(positions.size, positions.astype(np.int32), lower, upper)

    def change_row_bounds(self, positions: NDArray[Any], lower: FloatArray, upper: FloatArray) -> None:
        """Give rows other bounds."""
        self._highs.changeRowsBounds(positions.size, positions.astype(np.int32), lower, upper)

    def solve(self, *, seconds: float | None = None, iterations: int | None = None) -> LinearSolution:
        """Solve from the last basis; if that fails, cold-start."""
        highs = self._highs
        # HiGHS counts its time limit over all runs of an object.
        highs.setOptionValue("time_limit", np.inf if seconds is None else highs.getRunTime() + seconds)
        highs.setOptionValue(
            "simplex_iteration_limit", _MOST_ITERATIONS if iterations is None else iterations
        )
        highs.run()
        status = self._status()
        if status is LinearStatus.FAILED:
            # The last basis may be unusable, or another library may have used HiGHS in this thread: its
            # scheduler refuses another number of threads than in its first run.
            highs.resetGlobalScheduler(True)
            self.forget_basis()
            highs.run()
            status = self._status()
        # The solution is a copy; its arrays are created when read.
        info, solution, rows, columns = highs.getInfo(), highs.getSolution(), self.rows, self.columns
        return LinearSolution(
            status,
            float(info.objective_function_value) if status is LinearStatus.OPTIMAL else None,
            lambda: _sized(solution.col_value, columns),
            lambda: _sized(solution.row_dual, rows),
            self._ray() if status is LinearStatus.INFEASIBLE else None,
            int(info.simplex_iteration_count),
        )

    def basic_columns(self) -> IndexArray:
        """The column that is basic at each place of the last basis; -1 where it is a slack."""
        _, basic = self._highs.getBasicVariables()
        return np.maximum(np.asarray(basic, dtype=np.intp), -1)

    def inverse_rows(self, places: NDArray[Any]) -> FloatArray:
        """Rows of the inverse of the last basis."""
        found = [self._highs.getBasisInverseRow(int(place))[1] for place in places]
        return np.asarray(found, dtype=np.float64).reshape(len(found), self.rows)

    def forget_basis(self) -> None:
        """Discard the basis."""
        self._highs.clearSolver()

    def _status(self) -> LinearStatus:
        """Translate the status; the simplex method decides presolve's "unbounded or infeasible"."""
        name = self._highs.getModelStatus().name
        if name == _UNDECIDED:
            self._highs.setOptionValue("presolve", "off")
            self._highs.run()
            self._highs.setOptionValue("presolve", "choose")
            name = self._highs.getModelStatus().name
        return STATUSES.get(name, LinearStatus.FAILED)

    def _ray(self) -> FloatArray | None:
        _, found, ray = self._highs.getDualRay()
        return np.array(ray) if found else None

    def _load(self, model: LinearModel, options: LinearOptions) -> None:
        self._highs = load_highs(model)
        settings = {
            "threads": 1,
            "solver": "simplex",
            "primal_feasibility_tolerance": options.feasibility,
            "dual_feasibility_tolerance": options.optimality,
            **options.own,
        }
        for option, value in settings.items():
            self._highs.setOptionValue(option, value)

    def _add_rows(
        self,
        starts: NDArray[Any],
        columns: NDArray[Any],
        values: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
    ) -> None:
        self._highs.addRows(
            lower.size,
            lower,
            upper,
            values.size,
            starts.astype(np.int32, copy=False),
            columns.astype(np.int32, copy=False),
            values.astype(np.float64, copy=False),
        )

    def _delete_rows(self, positions: IndexArray) -> None:
        self._highs.deleteRows(positions.size, positions.astype(np.int32))

    _highs: highspy.Highs


def _sized(values: Any, size: int) -> FloatArray:
    """Convert an array of HiGHS's solution; zeros where it has none."""
    found = np.asarray(values, dtype=np.float64)
    return found if found.size == size else np.zeros(size)
