"""Suppression of tables beyond the optimum: a pattern of some method, repaired, thinned, and a bound.

A pattern that protects is there at any moment: first all cells that may be suppressed, later what was
repaired.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkrisk.formulations.tables.cell_table import BoolArray, CellTable
from linkrisk.formulations.tables.subtables import subtables
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.tables.attackers.demands import Met, unmet
from linkrisk.solver.tables.suppression.cell_suppression import PHASE, Pattern
from linkrisk.solver.tables.suppression.meeting import Attacked
from linkrisk.solver.tables.suppression.modular import Modular
from linkrisk.solver.tables.suppression.repair import Thinning, repaired

MODULAR, HEURISTIC = "modular", "heuristic"
_SHARES = {MODULAR: 0.5, HEURISTIC: 0.0}
"""Of the time, for a first pattern; the repair has most of the rest."""

_ROUNDS, _PATIENCE = 20, 4
"""Of thinning: at most, and without gain."""


@dataclass(frozen=True, eq=False)
class LargePattern(Pattern):
    """A pattern for a table that was too large for its optimum.

    Attributes
    ----------
    method : str
    subtables : int
        Protected one by one.
    open : int
        Levels that these left open over all relations.
    added : int
        Cells that the repair suppressed.
    removed : int
        Cells that were not needed in the end.
    """

    method: str
    subtables: int
    open: int
    added: int
    removed: int


def suppress_large(
    table: CellTable,
    method: str,
    clock: Clock,
    report: Reporter | None = None,
    insiders: Sequence[CellTable] = (),
) -> LargePattern:
    """Find cells that protect all sensitive ones.

    Parameters
    ----------
    table : CellTable
    method : str
        ``modular`` or ``heuristic``.
    clock : Clock
    report : callable, optional
    insiders : sequence of CellTable
        The table as other attackers see it.

    Raises
    ------
    UsageError
        If suppressing all cells does not protect one; the message names it.
    """
    search = _Search(table, [table, *insiders], clock, report)
    everything: BoolArray = ~table.fixed
    attackers = [search.reachable(view, everything) for view in search.views]
    first, parts = search.modular() if method == MODULAR else (table.primary, 0)
    found, opened = repaired(
        attackers, first, clock, lambda left: search.tell("repair", f"{left:,} levels open")
    )
    if found is None:
        return LargePattern(everything, table.cost_of(everything), 0.0, method, parts, opened, 0, 0)
    added = int((found & ~first).sum())
    thinning = Thinning(attackers, found)
    removed = thinning.run(
        table, clock, lambda left: search.tell("thinning", f"{left:,} levels left"), _ROUNDS, _PATIENCE
    )
    found = thinning.suppressed
    return LargePattern(found, table.cost_of(found), 0.0, method, parts, opened, added, removed)


@dataclass(eq=False)
class _Search:
    """What the steps share."""

    table: CellTable
    views: list[CellTable]
    clock: Clock
    report: Reporter | None

    def tell(self, step: str, state: str) -> None:
        """Say what is being done."""
        if self.report is not None:
            self.report(Progress.uncounted(PHASE, f"{step}: {state}"))

    def reachable(self, view: CellTable, everything: BoolArray) -> Attacked:
        """What an attacker cannot know when all cells are suppressed; UsageError where that is too much."""
        self.tell("looking at all cells", f"{len(view.demands):,} levels")
        found = unmet(view, everything)
        if found.unmet:
            raise UsageError(_unreachable(found))
        return Attacked(view, found.reach.up)

    def modular(self) -> tuple[BoolArray, int]:
        """The pattern of the modular method, and how many subtables it had."""
        parts = subtables(self.table.relations)
        left = self.clock.seconds_left
        clock = self.clock.part(None if left is None else _SHARES[MODULAR] * left)
        search = Modular(self.table, parts, clock)
        search.run(lambda waiting, many: self.tell("subtables", f"{many - waiting:,} of {many:,}"))
        return search.suppressed, len(parts)


def _unreachable(found: Met) -> str:
    demand = found.unmet[0]
    reached = found.reach.up[demand.cell] * demand.up + found.reach.down[demand.cell] * demand.down
    return (
        f"cell {demand.cell} cannot be protected: with all cells suppressed it is still short of its "
        f"level by {demand.level - reached:g}; lower its level, or let more cells be suppressed"
    )
