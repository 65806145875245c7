"""Patterns of tables with many relations: all levels are moved at once, again and again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.attackers.least_energy import one_thread
from linkrisk.solver.tables.suppression.conducting import conducting
from linkrisk.solver.tables.suppression.movements import Needs
from linkrisk.solver.tables.suppression.patterns import Tell
from linkrisk.solver.tables.suppression.pool import Pool, Proposal
from linkrisk.solver.tables.suppression.shedding import Shedding
from linkrisk.solver.tables.suppression.thinning import Holds

_MANY_RELATIONS = 1000
"""From so many on this is of use: programs for one level at a time take long."""

_PATIENCE, _WITHOUT_LIMIT = 250, 20
"""Tries without a better pattern: in a share of a time limit; and without one, where a search that may prove
its pattern at once is not kept waiting."""

_CHEAP = 0.1
"""What a cell seems to cost that a point suppresses wholly, of its cost."""


class AtOnce:
    """A search of patterns by movements of all levels at once.

    `table`: seen by the outsider only. `demands`: None of them sliding.
    """

    def __init__(self, table: CellTable, demands: Sequence[Demand], holds: Holds) -> None:
        self._table, self._holds = table, holds
        self._needs, self._pool = Needs.of(demands, table.above), Pool(table.cost)

    @staticmethod
    def suits(table: CellTable, demands: Sequence[Demand]) -> bool:
        """Whether a table has many relations, and neither insiders nor sliding levels."""
        sliding = any(demand.up and demand.down for demand in demands)
        return not (sliding or table.insiders) and table.relations.shape[0] >= _MANY_RELATIONS

    def start(self, clock: Clock, tell: Tell) -> BoolArray | None:
        """The cheapest pattern after many tries; None where bounds are too tight for least energy.

        Parameters
        ----------
        clock : Clock
        tell : callable
            Told what the best costs.
        """
        stale, patience = 0, _WITHOUT_LIMIT if clock.seconds_left is None else _PATIENCE
        while stale < patience and not clock.expired:
            before = self._pool.least
            self._try(self._pool.proposal(), clock)
            if self._pool.best is None:
                return None
            stale = 0 if self._pool.least < before else stale + 1
            tell(self._pool.least)
        return self._pool.best

    def like(self, point: FloatArray, clock: Clock) -> BoolArray | None:
        """A pattern of the cells that a point, shape (n,), suppresses most; None where none was found."""
        likely = np.clip(point, 0.0, 1.0)
        return self._try(Proposal(self._table.cost * (1.0 - (1.0 - _CHEAP) * likely)), clock)

    def thinned(self, pattern: BoolArray, order: FloatArray, clock: Clock) -> BoolArray:
        """See `Patterns`; what least energy does not need."""
        with one_thread():
            shedding = Shedding(self._table, pattern, self._needs)
            if shedding.met < 1.0:
                return pattern
            shedding.run(clock, lambda _: None, order)
        return shedding.pattern if self._holds(shedding.pattern) else pattern

    def _try(self, proposal: Proposal, clock: Clock) -> BoolArray | None:
        """A pattern that all levels together ask for; None where it does not protect, or is not looked at."""
        table = proposal.of(self._table)
        with one_thread():
            pattern = conducting(table, self._needs, clock, lambda _: None, proposal.cost)
            if pattern is None or clock.expired:  # then it is of nearly all cells, which take long to look at
                return None
            shedding = Shedding(table, pattern, self._needs)
            if shedding.met < 1.0 and self._pool.best is not None:
                return None
            shedding.run(clock, lambda _: None)
        found = shedding.pattern
        cost = table.cost_of(found)
        if cost < self._pool.least and not self._holds(found):
            return None
        self._pool.add(found, cost)
        return found
