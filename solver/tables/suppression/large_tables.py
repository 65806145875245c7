"""Heuristics for large tables: a protecting pattern, repaired and thinned, with a dual bound.

A protecting pattern exists at every moment: at first all cells that may be suppressed, later a repaired one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.formulations.tables.subtables import subtables
from linkrisk.formulations.tables.witnesses import Reach, Witness
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.tables import steering
from linkrisk.solver.tables.attackers.demands import unmet
from linkrisk.solver.tables.attackers.least_energy import may_do, one_thread
from linkrisk.solver.tables.suppression.least_energy_patterns import Needs, Shedding, conducting
from linkrisk.solver.tables.suppression.modular import Modular
from linkrisk.solver.tables.suppression.pattern import OUTSIDER, PHASE, Pattern, tell_cost
from linkrisk.solver.tables.suppression.pattern_pool import Pool, Proposal
from linkrisk.solver.tables.suppression.reachability import short_of_its_level
from linkrisk.solver.tables.suppression.repair import (
    Attacked,
    CannotMeetError,
    Thinning,
    repaired,
)

MODULAR, HEURISTIC = "modular", "heuristic"


_ROUNDS, _PATIENCE = {MODULAR: 6, HEURISTIC: 20}, 2
"""Rounds of thinning: at most, and without gain."""


@dataclass(frozen=True, eq=False)
class LargePattern(Pattern):
    """Pattern of a table that is too large for the exact search."""

    method: str
    subtables: int  # number of subtables
    open: int  # demands unmet over all relations before the repair
    added: int  # cells suppressed by the repair
    removed: int  # redundant cells published in the end


@dataclass(frozen=True, eq=False)
class _Found:
    """A protecting pattern and how it was found."""

    suppressed: BoolArray
    open: int = 0
    added: int = 0


def suppress_large(
    table: CellTable,
    method: str,
    clock: Clock,
    report: Reporter | None = None,
    insiders: Sequence[CellTable] = (),
) -> LargePattern:
    """Find a pattern that protects all sensitive cells, without proof of its optimality.

    `method`: ``modular`` or ``heuristic``. `insiders`: the table as other attackers see it. Raises UsageError
    if suppressing all cells does not protect one; the message names it.
    """
    search = _Search(table, [table, *insiders], clock, report)
    if not table.primary.any():
        return LargePattern(table.primary, 0.0, 0.0, method, 0, 0, 0, 0)
    found = search.modular() if method == MODULAR else search.heuristic()
    thinning = Thinning(search.attackers, found.suppressed)
    removed = thinning.run(
        table,
        clock,
        lambda left: search.tell("thinning", f"{left:,} levels left"),
        _ROUNDS[method],
        _PATIENCE,
    )
    suppressed = thinning.suppressed
    cost = table.cost_of(suppressed)
    if search.bound < cost:
        search.bounded()
    if report is not None:
        tell_cost(report, cost, min(search.bound, cost), search.who)
    return LargePattern(
        suppressed,
        cost,
        min(search.bound, cost),
        method,
        search.parts,
        found.open,
        found.added,
        removed,
    )


class _Search:
    """State shared by the steps."""

    def __init__(
        self, table: CellTable, views: list[CellTable], clock: Clock, report: Reporter | None
    ) -> None:
        self._table, self._clock, self._report = table, clock, report
        self.who = OUTSIDER if table.insiders else ""
        self._everything: BoolArray = ~table.fixed
        self.attackers = [self._attacked(view) for view in views]
        self._best, self._cost = _Found(self._everything), math.nan
        self._pool, self._needs = Pool(table.cost), Needs.of((), table.above)
        self._conducted: _Found | None = None  # the best pattern, where movements of all needs made it

    @cached_property
    def subtables(self) -> Modular:
        """Relaxation over the subtables, built at its first use."""
        return Modular(self._table, subtables(self._table.relations), self._clock)

    @property
    def parts(self) -> int:
        """Number of subtables in the relaxation."""
        return self.subtables.count if "subtables" in self.__dict__ else 0

    @property
    def bound(self) -> float:
        """Dual bound from the subtables separated so far."""
        return self.subtables.bound if "subtables" in self.__dict__ else 0.0

    def tell(self, step: str, state: str) -> None:
        """Report the current step."""
        if self._report is not None:
            bound = self.bound
            said = f"{self.who}: {step}" if self.who else step
            self._report(Progress.of_cost(PHASE, self._cost, bound, f"{said}: {state}", about=self.who))

    def left(self, step: str, what: str) -> Callable[[int], None]:
        """Return a reporter of how many are left."""
        return lambda many: self.tell(step, f"{many:,} {what} left")

    def heuristic(self) -> _Found:
        """Build a pattern from the sensitive cells."""
        self._early()
        self._again_at_once()
        return self._checked()

    def modular(self) -> _Found:
        """Dive repeatedly, repair each pattern, and separate wider subtables around unmet demands."""
        self._early()
        part, idle = self._part(steering.DIVE_SHARE), 0
        for share in steering.DIVE_PARTS if not self._clock.expired else ():
            self.bounded()
            before = self._cost_of_best
            pattern = self.subtables.dive(part, self.left("subtables", "cells"), share)
            self._repair(pattern, self._part(steering.REPAIR_SHARE))
            if self._again_at_once():
                break
            idle = 0 if self._cost_of_best < before * (1.0 - steering.LEAST_PATTERN_GAIN) else idle + 1
            if part.expired or idle >= steering.IDLE_DIVES or self.subtables.bound >= self._cost_of_best:
                break
            self.subtables.widen(unmet(self._table, pattern, part).unmet)
        return self._checked()

    def bounded(self) -> None:
        """Raise the dual bound by cutting planes."""
        if self._clock.expired:
            return
        self.subtables.run(
            self._part(steering.BOUND_SHARE), lambda bound: self.tell("subtables", f"at least {bound:,.6g}")
        )
        if self.subtables.impossible:
            self.check()

    def _checked(self) -> _Found:
        """Return the best pattern; if it is that of all cells, test that it protects."""
        if self._best.suppressed is self._everything:
            self.check()
        return self._best

    def _early(self) -> None:
        """Build first patterns: by repair of the sensitive cells, and by least energy."""
        self._repair(self._table.primary, self._part(steering.FIRST_PATTERN_SHARE))
        if may_do(sparse.csr_array(self._table.relations[:, np.flatnonzero(self._everything)])):
            alone = unmet(self._table, self._table.primary, self._part(steering.FIRST_PATTERN_SHARE))
            self._needs = Needs.of([*alone.unmet, *alone.undecided], self.attackers[0].most_up)
            self._at_once(self._part(steering.LEAST_ENERGY_SHARE))

    def _again_at_once(self) -> bool:
        """Repeat least-energy patterns if they gave the incumbent, and tell whether they did."""
        if self._best is not self._conducted:
            return False
        clock, stale = self._part(steering.LEAST_ENERGY_SHARE), 0
        while stale < steering.LEAST_ENERGY_PATIENCE and not clock.expired:
            before = self._cost_of_best
            self._at_once(clock)
            stale = 0 if self._cost_of_best <= before * (1.0 - steering.LEAST_PATTERN_GAIN) else stale + 1
        return True

    @property
    def _cost_of_best(self) -> float:
        return self._table.cost_of(self._best.suppressed)

    def _keep(self, found: _Found) -> None:
        """Keep a pattern if it is the cheapest so far."""
        cost = self._table.cost_of(found.suppressed)
        if cost < self._cost_of_best:
            self._best, self._cost = found, cost

    def _at_once(self, clock: Clock) -> None:
        """Try a least-energy pattern for a proposal of the pool."""
        cost_of = self._table.cost_of
        with one_thread():
            shedding = self._conducting(self._needs, self._pool.proposal(), clock)
            hopeless = steering.HOPELESS_COST * self._cost_of_best if self._pool.best is None else np.inf
            if (
                shedding is None
                or shedding.met < steering.LEAST_ENERGY_MET
                or cost_of(shedding.pattern) > hopeless
            ):
                return
            shedding.run(clock.part_of_left(steering.SHED_SHARE), self.left("thinning", "cells"))
            before = self._best
            self._repair(shedding.pattern, self._part(steering.REPAIR_SHARE), shedding.witnesses())
            self._conducted = self._conducted if self._best is before else self._best
            self._pool.add(shedding.pattern, cost_of(shedding.pattern))

    def _conducting(self, needs: Needs, proposal: Proposal, clock: Clock) -> Shedding | None:
        """Find a least-energy pattern, with the neighbourhoods of demands that bounds keep from being met."""
        table, tell = proposal.of(self._table), self.left("all levels", "cells")
        pattern = conducting(table, needs, clock.part_of_left(steering.SHED_SHARE), tell, proposal.cost)
        found = None if pattern is None else Shedding(table, pattern, needs)
        for steps in steering.RADII:
            if (
                pattern is None
                or found is None
                or found.met < steering.NEARLY_MET
                or not len(found.open)
                or clock.expired
            ):
                break
            pattern = pattern.copy()
            for cell in np.unique(found.open.cell).tolist():
                pattern[self.attackers[0].witnesses.around(cell, steps)] = True
            found = Shedding(table, pattern, needs)
        return found

    def _repair(self, pattern: BoolArray, clock: Clock, known: Sequence[Witness] = ()) -> None:
        """Repair a pattern and keep it if it is the cheapest so far."""
        try:
            suppressed, opened, whole = repaired(
                self.attackers, pattern, clock, self.left("repair", "levels"), known
            )
        except CannotMeetError:
            self.check()
            return
        if whole:
            self._keep(_Found(suppressed, opened, int((suppressed & ~pattern).sum())))

    def _part(self, share: float) -> Clock:
        return self._clock.part_of_left(share)

    def check(self) -> None:
        """Refuse unprotectable tables; demands undecided in time are left to the audit.

        Raises UsageError that names the first such cell.
        """
        for attacked in self.attackers:
            view = attacked.view
            self.tell("looking at all cells", f"{len(view.demands):,} levels")
            found = unmet(view, self._everything, self._clock, report=self._report)
            if found.unmet:
                raise UsageError(_unreachable(view, found.unmet[0], found.reach))

    def _attacked(self, view: CellTable) -> Attacked:
        """Return an attacker, with how far up cells with sliding levels can go."""
        sliding = [demand for demand in view.demands if demand.up and demand.down]
        most = unmet(view, self._everything, self._clock, demands=sliding).reach.up if sliding else view.above
        return Attacked(view, most)


def _unreachable(table: CellTable, demand: Demand, reach: Reach) -> str:
    reached = reach.up[demand.cell] * demand.up + reach.down[demand.cell] * demand.down
    return short_of_its_level(table, demand.cell, demand.level - float(reached))
