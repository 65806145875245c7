"""How large the population is, by sampling weights or a sampling fraction, and what is lacking for it."""

from __future__ import annotations

import numpy as np

from linkrisk.errors import called
from linkrisk.solver.measures.task import RiskTask


def unknown() -> str:
    """Say that it is not known how large the population is, and how to say it."""
    return (
        f"without sampling weights or {called('fraction')} it is not known how large the population is; give "
        "a column of the schema the role weight"
    )


TOO_SMALL = "the sampling weights sum to less than the number of records; they must count the population"

_ROUNDING = 1e-9


def sampling_fraction(task: RiskTask) -> float | None:
    """``pi = n / sum w_i`` over the n original records whose weight is known; None where none is."""
    if task.weight is None:
        return None
    known = task.weight[np.isfinite(task.weight)]
    return float(known.size / known.sum())


def without_population(task: RiskTask) -> str | None:
    """What is lacking to know how large the population is; None where nothing is."""
    fraction = sampling_fraction(task)
    if fraction is None:
        return unknown()
    return TOO_SMALL if fraction > 1.0 + _ROUNDING else None
