"""A pattern with its bound, what it costs in whole units, and how it is told."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.solver.run.progress import Progress, Reporter

PHASE = "suppressing cells"
OUTSIDER = "the outsider"
"""Who attacks in the search before the one against everybody."""

_MOST_DIGITS = 6


@dataclass(frozen=True, eq=False)
class Pattern:
    """Cells that are suppressed."""

    suppressed: BoolArray  # (n,)
    cost: float  # of the secondary ones
    bound: float  # no pattern that protects costs less

    @property
    def proven(self) -> bool:
        """Whether it is one of least cost."""
        return self.bound >= self.cost


def tell_cost(report: Reporter, cost: float, bound: float, who: str = "") -> None:
    """Say where the cost of the best pattern and the bound stand."""
    said = f"cost {cost:,.6g}, at least {bound:,.6g}"
    report(Progress.of_cost(PHASE, cost, bound, f"{who}: {said}" if who else said, about=who))


def unit_of(costs: FloatArray) -> float:
    """The decimal unit, 1 or a part of it, that all costs are whole multiples of; 0 where there is none.

    Costs are decimals as they are written: a float stands for the shortest decimal that is read as it.
    """
    for digits in range(_MOST_DIGITS + 1):
        scaled = np.round(costs * 10.0**digits)
        if scaled.sum() >= 2.0**52:
            break
        if bool((scaled / 10.0**digits == costs).all()):
            return 1.0 / 10.0**digits
    return 0.0
