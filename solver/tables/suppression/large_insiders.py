"""Patterns of large tables that protect from insiders, too."""

from __future__ import annotations

from dataclasses import replace

from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.formulations.tables.crowd import Crowd
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.progress import Reporter
from linkrisk.solver.tables.suppression.bounded_pattern import tell_cost
from linkrisk.solver.tables.suppression.insider_cuts import InsiderCuts
from linkrisk.solver.tables.suppression.insider_patterns import InsiderPatterns
from linkrisk.solver.tables.suppression.large_tables import LargePattern
from linkrisk.solver.tables.suppression.reachability import kept_from_nobody


def from_insiders_too(
    table: CellTable, pattern: LargePattern, clock: Clock, report: Reporter | None = None
) -> LargePattern:
    """A pattern that protects from the outsider, with what insiders ask for; its bound stays one.

    `table`: with its insiders. `clock`: when to leave out no more of what was added. Raises UsageError if
    something cannot be kept from one of them.
    """
    if not table.insiders:
        return pattern
    own = InsiderPatterns(InsiderCuts(Crowd.of(table), clock)).protecting(pattern.suppressed, clock)
    if own is None:
        raise UsageError(kept_from_nobody(table))
    cost = float(table.cost[own & table.free].sum())
    if report is not None:
        tell_cost(report, cost, pattern.bound)
    return replace(pattern, suppressed=own, cost=cost)
