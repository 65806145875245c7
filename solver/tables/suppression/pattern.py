"""Defines a pattern with its bound, and searches a common pattern for several tables of the same cells.

Protection is monotone: suppressing more cells preserves it. The pattern of one table, extended for the other,
therefore protects both; the bound of each table holds for both together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.tables import steering

PHASE = "suppressing cells"
OUTSIDER = "the outsider"
"""Attacker of the first search, before that against all attackers."""

_MOST_DIGITS = 6


@dataclass(frozen=True, eq=False)
class Pattern:
    """Suppression pattern with its cost and dual bound."""

    suppressed: BoolArray  # (n,)
    cost: float  # of the secondary suppressions
    bound: float  # no protecting pattern costs less

    @property
    def proven(self) -> bool:
        """Tell whether it is optimal."""
        return self.bound >= self.cost


def tell_cost(report: Reporter, cost: float, bound: float, who: str = "") -> None:
    """Report the cost of the incumbent and the dual bound."""
    said = f"cost {cost:,.6g}, at least {bound:,.6g}"
    report(Progress.of_cost(PHASE, cost, bound, f"{who}: {said}" if who else said, about=who))


def unit_of(costs: FloatArray) -> float:
    """Return the decimal unit, at most 1, of which all costs are multiples; 0 if there is none.

    Costs are read as decimals: a float stands for its shortest decimal text.
    """
    for digits in range(_MOST_DIGITS + 1):
        scaled = np.round(costs * 10.0**digits)
        if scaled.sum() >= 2.0**52:
            break
        if bool((scaled / 10.0**digits == costs).all()):
            return 1.0 / 10.0**digits
    return 0.0


Search = Callable[[CellTable, Clock, Reporter | None], Pattern]
"""Finds a pattern of one table, with a dual bound."""


def common_pattern(
    search: Search, tables: Sequence[CellTable], clock: Clock, report: Reporter | None
) -> Pattern:
    """Find a pattern that protects all tables.

    `tables`: one or two, with the same cells, of which the same are sensitive and always published, at the
    same costs. Raises UsageError if suppressing all cells does not protect one.
    """
    if len(tables) == 1:
        return search(tables[0], clock, report)
    first = search(tables[0], clock.part_of_left(steering.SEARCH_SHARE), report)
    best = _with_more(search, first, tables[1], clock.part_of_left(steering.SEARCH_SHARE), report)
    if best.cost <= first.bound:
        return best
    other = search(tables[1], clock.part_of_left(steering.SEARCH_SHARE), report)
    again = _with_more(search, other, tables[0], clock, report)
    bound = max(first.bound, other.bound)
    best = min(best, again, key=lambda one: one.cost)
    return replace(best, bound=min(bound, best.cost))


def _with_more(
    search: Search, found: Pattern, table: CellTable, clock: Clock, report: Reporter | None
) -> Pattern:
    """Extend a pattern by the cheapest cells that another table needs."""
    more = search(replace(table, cost=np.where(found.suppressed, 0.0, table.cost)), clock, report)
    suppressed = found.suppressed | more.suppressed
    cost = table.cost_of(suppressed)
    return replace(found, suppressed=suppressed, cost=cost, bound=min(found.bound, cost))
