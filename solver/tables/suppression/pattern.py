"""A pattern with its bound and its cost, also for several tables of the same cells.

Protection is monotone: what more is suppressed takes nothing from it. So the pattern of one table, with what
the other one needs besides, protects both; each table by itself bounds the cost of all that do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.solver.run.clock import Clock
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


Search = Callable[[CellTable, Clock, Reporter | None], Pattern]
"""Finds a pattern of one table, with a bound."""

_SHARE = 0.4
"""Of the time that is left: for each search but the last one."""


def common_pattern(
    search: Search, tables: Sequence[CellTable], clock: Clock, report: Reporter | None
) -> Pattern:
    """Find a pattern that protects all tables.

    `tables`: one or two, with the same cells, of which the same are sensitive and always published, at the
    same costs. Raises UsageError if suppressing all cells does not protect one.
    """
    if len(tables) == 1:
        return search(tables[0], clock, report)
    first = search(tables[0], clock.part_of_left(_SHARE), report)
    best = _with_more(search, first, tables[1], clock.part_of_left(_SHARE), report)
    if best.cost <= first.bound:
        return best
    other = search(tables[1], clock.part_of_left(_SHARE), report)
    again = _with_more(search, other, tables[0], clock, report)
    bound = max(first.bound, other.bound)
    best = min(best, again, key=lambda one: one.cost)
    return replace(best, bound=min(bound, best.cost))


def _with_more(
    search: Search, found: Pattern, table: CellTable, clock: Clock, report: Reporter | None
) -> Pattern:
    """A pattern with the cheapest cells besides that another table needs."""
    more = search(replace(table, cost=np.where(found.suppressed, 0.0, table.cost)), clock, report)
    suppressed = found.suppressed | more.suppressed
    cost = table.cost_of(suppressed)
    return replace(found, suppressed=suppressed, cost=cost, bound=min(found.bound, cost))
