"""A zero-restricted rounding from the relaxation: what is nearly whole is made so, the rest solved again."""

from __future__ import annotations

import numpy as np

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.formulations.programs import MilpModel
from linkrisk.formulations.tables.controlled_rounding import ControlledRounding
from linkrisk.solver.backends.linear.base import LinearProgram
from linkrisk.solver.run.clock import Clock

_WHOLE = 1e-6
_PART = 5
"""A fifth of what is not whole is made whole at a time."""


def dived(
    table: ControlledRounding, model: MilpModel, program: LinearProgram, point: FloatArray, clock: Clock
) -> LongArray | None:
    """A rounding, or None where the dive ends at an edge or the time does.

    Where a batch leaves no solution, the nearest of it alone is made whole, or its opposite: so each round
    decides one cell at least.

    Parameters
    ----------
    table : ControlledRounding
        Zero-restricted.
    model : MilpModel
        Of it.
    program : LinearProgram
        Its relaxation, solved; the bounds of its columns are changed.
    point : ndarray of float64, shape (n,)
        The optimum of the relaxation.
    clock : Clock
    """
    while not clock.expired:
        distance = np.abs(point - np.round(point))
        left = np.flatnonzero(distance > _WHOLE)
        if not left.size:
            values = table.rounded(point)
            return values if table.wrong(values) is None else None
        nearest = left[np.argsort(distance[left], kind="stable")]
        batch = nearest[: max(1, left.size // _PART)]
        first = nearest[:1]
        found = None
        for cells, whole in (
            (batch, np.round(point[batch])),
            (first, np.round(point[first])),
            (first, 1.0 - np.round(point[first])),
        ):
            program.change_column_bounds(cells, whole, whole)
            solution = program.solve(seconds=clock.seconds_left)
            if solution.optimal:
                found = solution.point
                break
            program.change_column_bounds(cells, model.column_lower[cells], model.column_upper[cells])
        if found is None:
            return None
        point = found
    return None
