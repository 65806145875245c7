"""The programs of attackers who reason in whole numbers: a living linear program, and a mixed-integer one.

Every cell goes up or down, each way a column with a cost of its own. The linear program goes on from its last
basis; where its vertex is whole, as it always is in tables of two variables, that is the answer. Only where
it is not, the same program is solved in whole numbers.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.formulations.programs import LinearModel, MilpModel
from linkrisk.solver.backends.base import SolveOptions
from linkrisk.solver.backends.linear.base import LinearOptions, LinearStatus
from linkrisk.solver.backends.linear.registry import linear_program
from linkrisk.solver.backends.linear.sliced import solved_by
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.status import Status
from linkrisk.solver.tables.attackers.crowd_attacks import OutOfTimeError

_MOST_SECONDS = 20.0
"""For one program in whole numbers, whatever the clock has left: what is not known by then is not known."""

_WHOLE = 1e-6
"""What is so near to a whole number is one; what it then adds up to is looked at (`IntegerWitnesses.add`)."""


class IntegerProgram:
    """Deviations of cells that hang together, the cheapest ones in whole numbers.

    `cells` (k,). `matrix` (m, k): their coefficients in all relations.
    """

    def __init__(self, cells: LongArray, matrix: sparse.csc_array) -> None:
        self.cells = cells
        rows = np.unique(matrix.indices)
        part = sparse.csr_array(matrix)[rows]
        self._matrix = sparse.csr_array(sparse.hstack([part, -part], format="csr"))
        self._none = np.zeros(rows.size)
        columns = 2 * cells.size
        self._goal, self._lower, self._upper = np.zeros((3, columns))
        self._linear = linear_program(
            LinearModel(
                objective=self._goal,
                matrix=self._matrix,
                row_lower=self._none,
                row_upper=self._none,
                column_lower=self._lower,
                column_upper=self._upper,
            ),
            LinearOptions(feasibility=1e-9, optimality=1e-9),
        )

    def cheapest(
        self, goal: FloatArray, lower: FloatArray, upper: FloatArray, clock: Clock, gap: float = 0.0
    ) -> FloatArray | None:
        """Whole deviations of least goal, shape (k,); None where there are none.

        `goal`, `lower`, `upper` (2 k,): of the ways up, then of the ways down; bounds are whole. `gap`: by
        how much, relatively, the goal may miss the least. Raises OutOfTimeError if that is not known when the
        clock is out.
        """
        found = self.vertex(goal, lower, upper, clock)
        if found is None or (np.abs(found - np.round(found)) <= _WHOLE).all():
            return None if found is None else np.round(found)
        return self._in_whole_numbers(goal, lower, upper, clock, gap)

    def vertex(
        self, goal: FloatArray, lower: FloatArray, upper: FloatArray, clock: Clock
    ) -> FloatArray | None:
        """Deviations of least goal that need not be whole, shape (k,); None where there are none.

        Raises OutOfTimeError if that is not known when the clock is out.
        """
        if clock.expired:
            raise OutOfTimeError
        others = np.flatnonzero((lower != self._lower) | (upper != self._upper))
        self._linear.change_column_bounds(others, lower[others], upper[others])
        changed = np.flatnonzero(goal != self._goal)
        self._linear.change_objective(changed, goal[changed])
        self._goal, self._lower, self._upper = goal, lower, upper
        solution = solved_by(self._linear, clock)
        if solution.status is LinearStatus.INFEASIBLE:
            return None
        if not solution.optimal:
            raise OutOfTimeError
        half = self.cells.size
        return np.asarray(solution.point[:half] - solution.point[half:], dtype=np.float64)

    def _in_whole_numbers(
        self, goal: FloatArray, lower: FloatArray, upper: FloatArray, clock: Clock, gap: float
    ) -> FloatArray | None:
        left = clock.seconds_left
        model = MilpModel(
            objective=goal,
            matrix=self._matrix,
            row_lower=self._none,
            row_upper=self._none,
            column_lower=lower,
            column_upper=upper,
            integer=np.ones(goal.size, dtype=np.bool_),
        )
        options = SolveOptions(
            time_limit=_MOST_SECONDS if left is None else min(left, _MOST_SECONDS), relative_gap=gap
        )
        found = get_backend("highs").solve(model, options, watch=lambda _: clock.expired)
        if found.status is Status.INFEASIBLE:
            return None
        if found.status is not Status.OPTIMAL or found.values is None:
            raise OutOfTimeError
        half = self.cells.size
        return np.round(found.values[:half] - found.values[half:])
