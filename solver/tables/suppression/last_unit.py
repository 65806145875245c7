"""Whether a pattern costs no more than the bound: a question for an optimiser of programs in whole numbers.

Where costs are whole units and the bound has come to the last ones, most nodes of a search have the same
bound, which tells nothing of where to go on. What optimisers know of such programs besides bounds decides
then: implications, conflicts, and restarts with all rows that were found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from linkrisk.formulations.programs.mixed_integer import MilpModel
from linkrisk.formulations.programs.separation import Cuts, Separator
from linkrisk.formulations.tables.cell_table import BoolArray, FloatArray
from linkrisk.solver.backends.base import SolveOptions
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.status import Status

_BACKEND = "highs"

_BETWEEN = 0.5
"""The limit is so much above the cost that is asked for, far beyond what optimisers cannot tell."""


@dataclass(frozen=True, eq=False)
class Answer:
    """A pattern that costs no more, shape (n,); or whether there is none; or neither, where time was up."""

    pattern: BoolArray | None
    none: bool


def cheaper(
    rows: Cuts,
    limits: tuple[FloatArray, FloatArray],
    objective: FloatArray,
    most: float,
    separator: Separator,
    clock: Clock,
    tell: Callable[[], bool],
) -> Answer:
    """Ask for a pattern that costs no more than so many units.

    Parameters
    ----------
    rows : Cuts
        Every pattern that is searched for keeps them.
    limits : pair of ndarray of float64, shape (n,) each
        Lower and upper bounds of the cells in all such patterns.
    objective : ndarray of float64, shape (n,)
        Whole numbers.
    most : float
    separator : Separator
    clock : Clock
    tell : callable
        Says whether to stop.

    Returns
    -------
    Answer
        That there is none is the claim of the optimiser, which is not counted again.
    """
    limit = sparse.csr_array(-objective[None, :])
    matrix = sparse.csr_array(sparse.vstack([rows.matrix, limit], format="csr"))
    model = MilpModel(
        objective=objective,
        matrix=matrix,
        row_lower=np.append(rows.lower, -(most + _BETWEEN)),
        row_upper=np.full(matrix.shape[0], np.inf),
        column_lower=limits[0],
        column_upper=limits[1],
        integer=np.ones(objective.size, dtype=np.bool_),
        separator=separator,
    )
    options = SolveOptions(time_limit=clock.seconds_left, absolute_gap=np.inf, root_rounds=0)
    found = get_backend(_BACKEND).solve(model, options, watch=lambda _: tell() or clock.expired)
    pattern = None if found.values is None else np.asarray(found.values > 0.5, dtype=np.bool_)
    return Answer(pattern, found.status is Status.INFEASIBLE)
