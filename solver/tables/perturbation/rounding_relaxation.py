"""The relaxation of controlled rounding: by the simplex method, else by one that needs no factors.

In three dimensions bases of 100,000 cells take minutes; a primal-dual gradient method (Applegate et al. 2021,
Practical large-scale linear programming using primal-dual hybrid gradient) takes seconds. Its point is no
vertex, and its multipliers need not be those of the optimum: the bound is what they prove.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.formulations.programs import MilpModel, lower_bound
from linkrisk.formulations.tables.controlled_rounding import ControlledRounding
from linkrisk.solver.backends.linear.base import LinearOptions, LinearProgram, LinearStatus
from linkrisk.solver.backends.linear.registry import linear_program
from linkrisk.solver.run.clock import Clock

_WHOLE, _CLOSE = 1e-6, 1e-9

_SIMPLEX, _GRADIENTS = 0.2, 0.5
"""Of the time that is left: for the simplex method, then for the other."""

_BY_GRADIENTS = LinearOptions(own={"solver": "pdlp", "presolve": "off"})


@dataclass(frozen=True, eq=False)
class Relaxed:
    """What is known of the relaxation.

    Attributes
    ----------
    bound : float
        No controlled rounding costs less.
    point : ndarray of float64, shape (k,)
        Of the columns of the model, z of every cell first.
    near : bool
        Whether the point is an optimum, or near one.
    program : LinearProgram or None
        With its optimal basis, where the simplex method found it.
    """

    bound: float
    point: FloatArray
    near: bool
    program: LinearProgram | None = None

    @property
    def whole(self) -> bool:
        """Whether the optimum is one of the rounding, too."""
        apart = np.abs(self.point - np.round(self.point))
        return self.program is not None and bool((apart <= _WHOLE).all())


def relaxation(table: ControlledRounding, model: MilpModel, clock: Clock) -> Relaxed | None:
    """The optimum of the relaxation, or what was found of it in time; None where it has no point.

    Parameters
    ----------
    table : ControlledRounding
    model : MilpModel
        Of it.
    clock : Clock
    """
    program = linear_program(model, LinearOptions())
    solution = program.solve(seconds=clock.part_of_left(_SIMPLEX).seconds_left)
    if solution.status is LinearStatus.INFEASIBLE:
        return None
    if solution.optimal and solution.objective is not None:
        return Relaxed(_safe(solution.objective), solution.point, near=True, program=program)
    if clock.expired:
        return Relaxed(-np.inf, solution.point, near=False)
    # the program of zero-restricted ones, whose columns all have bounds
    strict = model if table.zero_restricted else replace(table, zero_restricted=True).model()
    found = linear_program(strict, _BY_GRADIENTS).solve(seconds=clock.part_of_left(_GRADIENTS).seconds_left)
    bound = _safe(lower_bound(strict, found.duals)) if table.zero_restricted else -np.inf
    return Relaxed(bound, found.point, near=found.optimal)


def _safe(bound: float) -> float:
    """Less what rounding may have added."""
    return bound - _CLOSE * max(1.0, abs(bound))
