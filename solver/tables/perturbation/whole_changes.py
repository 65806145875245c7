"""Changes in whole numbers near changes that are none: a controlled rounding of them, which adds up."""

from __future__ import annotations

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.formulations.tables.controlled_rounding import ControlledRounding
from linkrisk.formulations.tables.tabular_adjustment import TabularAdjustment
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.perturbation.rounding import round_cells

_NOISE = 1e-6
"""How near to a whole number a change means it."""

_BASE = 2
"""Roundings are to multiples of 2 or more, so that changes are doubled for them."""


def whole_changes(problem: TabularAdjustment, change: FloatArray, clock: Clock) -> FloatArray | None:
    """Round changes to whole numbers beside them, such that all relations hold.

    Levels and bounds are whole numbers, which no rounding to a neighbouring whole number crosses.

    Parameters
    ----------
    problem : TabularAdjustment
        In whole numbers.
    change : ndarray of float64, shape (n,)
        An adjustment in any numbers.
    clock : Clock

    Returns
    -------
    ndarray of float64, shape (n,), or None
        None where no rounding adds up, or none was found in time.
    """
    nearest = np.round(change)
    if problem.wrong(nearest) is None:
        return nearest
    table = ControlledRounding(
        value=_BASE * np.where(np.abs(change - nearest) <= _NOISE, nearest, change),
        relations=problem.table.relations,
        weight=problem.weight,
        base=_BASE,
        zero_restricted=True,
    )
    try:
        made = round_cells(table, get_backend("highs"), clock).values / _BASE
    except UsageError:
        return None
    return made if problem.wrong(made) is None else None
