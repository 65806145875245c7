"""Patterns that protect from insiders, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.formulations.programs import LinearModel
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.formulations.tables.crowd import Crowd
from linkrisk.solver.backends.linear.base import LinearOptions, LinearProgram
from linkrisk.solver.backends.linear.registry import linear_program
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.attackers.crowd_attacks import OutOfTimeError, Unmet
from linkrisk.solver.tables.attackers.integer_attacks import IntegerAttacks
from linkrisk.solver.tables.suppression.capacity import CapacityCuts
from linkrisk.solver.tables.suppression.heuristic import JUST, Witnesses
from linkrisk.solver.tables.suppression.insider_cuts import InsiderCuts, SeparatorOf
from linkrisk.solver.tables.suppression.integer_cuts import IntegerCuts, IntegerPatterns

_MOVED = 1e-9
_LESS = 1e-9


@dataclass
class InsiderPatterns:
    """Makes patterns protect from insiders, too: what is missing is added at the least cost."""

    cuts: InsiderCuts
    _program: LinearProgram = field(init=False, repr=False)

    def __post_init__(self) -> None:
        table = self.cuts.crowd.table
        relations = sparse.csr_array(table.relations)
        rows = relations.shape[0]
        both = LinearModel(
            objective=np.zeros(2 * len(table)),
            matrix=sparse.csr_array(sparse.hstack([relations, -relations], format="csr")),
            row_lower=np.zeros(rows),
            row_upper=np.zeros(rows),
            column_lower=np.zeros(2 * len(table)),
            column_upper=np.concatenate([table.above, table.below]),
        )
        self._program = linear_program(both, LinearOptions(feasibility=1e-9, optimality=1e-9))
        self._columns = np.arange(2 * len(table))

    def protecting(self, pattern: BoolArray, clock: Clock) -> BoolArray | None:
        """A pattern that protects from everybody, made of one that protects from the outsider, shape (n,).

        When the clock has run out, all cells that may be suppressed.

        Returns (n,): None where a demand cannot be met, whatever is suppressed.
        """
        table = self.cuts.crowd.table
        found = pattern.copy()
        try:
            while wrong := self._wrong(found, clock):
                for one in wrong:
                    added = None if clock.expired else self._added(one, found)
                    if added is None:
                        return np.asarray(~table.fixed) if clock.expired else None
                    found |= added
        except OutOfTimeError:
            return np.asarray(~table.fixed)
        return self._thinned(table, found, found & ~pattern, clock)

    def _wrong(self, pattern: BoolArray, clock: Clock) -> list[Unmet]:
        attacks = self.cuts.attacks
        attacks.knows(pattern.astype(np.float64))
        wrong: list[Unmet] = []
        for demand in self.cuts.crowd.table.demands:
            if clock.expired:
                raise OutOfTimeError
            wrong += attacks.unmet(demand)
        return wrong

    def _thinned(self, table: CellTable, pattern: BoolArray, added: BoolArray, clock: Clock) -> BoolArray:
        """Leave out cells that were added, the dearest first, while all demands hold without them."""
        chosen = np.flatnonzero(added & table.free)
        for cell in chosen[np.argsort(-table.cost[chosen], kind="stable")]:
            if clock.expired:
                break
            pattern[cell] = False
            try:
                pattern[cell] = not self.cuts.holds(pattern)
            except OutOfTimeError:
                pattern[cell] = True
                break
        return pattern

    def _added(self, wrong: Unmet, suppressed: BoolArray) -> BoolArray | None:
        """Cells that move when the cell of a demand does by its level, in the eyes of an attacker."""
        below, above = self.cuts.crowd.bounds(wrong.owner)
        demand, moved = wrong.demand, np.zeros(suppressed.size, dtype=np.bool_)
        level, sliding = demand.level, demand.up and demand.down
        if sliding:  # where it asks for all the way that there is, the lower end would be missed by rounding
            level *= 1.0 - JUST
        up = level if demand.up else 0.0
        if sliding:  # as far up as it goes, and the rest down
            up = min(up, self._furthest_up(demand.cell, below, above))
        down = level - up if demand.down else 0.0
        for part, way in ((up, True), (down, False)):
            if part > 0:
                half = self._cheapest(Demand(demand.cell, part, way, not way), suppressed, below, above)
                if half is None:
                    return None
                moved |= half
        return moved

    def _furthest_up(self, cell: int, below: FloatArray, above: FloatArray) -> float:
        """How far up an attacker thinks that a cell can go where all is suppressed that may be."""
        cells, open_to = above.size, ~self.cuts.crowd.table.fixed
        upper = np.concatenate([np.where(open_to, above, 0.0), np.where(open_to, below, 0.0)])
        upper[cell + cells] = 0.0
        objective = np.zeros(2 * cells)
        objective[cell] = -1.0
        self._program.change_objective(self._columns, objective)
        self._program.change_column_bounds(self._columns, np.zeros(2 * cells), upper)
        solution = self._program.solve()
        return max(float(solution.point[cell]) * (1.0 - _LESS), 0.0) if solution.optimal else 0.0

    def _cheapest(
        self, demand: Demand, suppressed: BoolArray, below: FloatArray, above: FloatArray
    ) -> BoolArray | None:
        table, cells = self.cuts.crowd.table, suppressed.size
        cost = np.where(suppressed, 0.0, table.cost)
        open_to = ~table.fixed
        lower = np.zeros(2 * cells)
        upper = np.concatenate([np.where(open_to, above, 0.0), np.where(open_to, below, 0.0)])
        at, other = (demand.cell, demand.cell + cells) if demand.up else (demand.cell + cells, demand.cell)
        lower[at] = upper[at] = demand.level
        upper[other] = 0.0
        self._program.change_objective(self._columns, np.concatenate([cost, cost]))
        self._program.change_column_bounds(self._columns, lower, upper)
        solution = self._program.solve()
        if not solution.optimal:
            return None
        moves = solution.point[:cells] - solution.point[cells:]
        return np.asarray(np.abs(moves) > _MOVED * demand.level, dtype=np.bool_)


@dataclass
class CrowdWitnesses:
    """Patterns that protect from everybody: those of the outsider, with what insiders ask for."""

    outsider: Witnesses
    insiders: InsiderPatterns

    def pattern(
        self, demands: Sequence[Demand], clock: Clock, likely: FloatArray | None = None
    ) -> BoolArray | None:
        """See `Witnesses.pattern`."""
        found = self.outsider.pattern(demands, clock, likely)
        return None if found is None else self.protecting(found, clock)

    def protecting(self, pattern: BoolArray, clock: Clock) -> BoolArray | None:
        """See `InsiderPatterns.protecting`."""
        return self.insiders.protecting(pattern, clock)


def search_parts(
    table: CellTable, clock: Clock | None = None
) -> tuple[CapacityCuts | SeparatorOf | IntegerCuts, Witnesses | CrowdWitnesses | IntegerPatterns]:
    """What finds violated rows, and what makes patterns: from the outsider alone or from everybody.

    Of counts both ask for whole tables, which show what fractions do.
    """
    cuts, witnesses = CapacityCuts(table, clock=clock), Witnesses(table)
    own = InsiderCuts(Crowd.of(table), clock) if table.insiders else None
    rows = cuts if own is None else SeparatorOf(cuts, own)
    if table.counts:
        attacks = IntegerAttacks(table, clock)
        return IntegerCuts(rows, attacks), IntegerPatterns(witnesses, attacks)
    return rows, witnesses if own is None else CrowdWitnesses(witnesses, InsiderPatterns(own))
