"""Cuts and patterns for tables of counts, where protection against integral attacks is required.

Protection is monotone: if no integral witness meets a demand in a pattern, none does in its subsets. Such a
pattern S is therefore enlarged: as long as an integral witness exists, one of its cells outside S is
excluded. Every protecting pattern suppresses one of the excluded cells C: ``sum of x_j over C >= 1``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.formulations.programs import Cuts, no_cuts
from linkrisk.formulations.tables.cell_table import Demand
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables import steering, tolerances
from linkrisk.solver.tables.attackers.insider_attacks import OutOfTimeError
from linkrisk.solver.tables.attackers.integer_attacks import IntegerAttacks
from linkrisk.solver.tables.suppression.incumbent import Thinning
from linkrisk.solver.tables.suppression.insider_cuts import Protecting


@dataclass
class IntegerCuts:
    """Separates patterns that protect against fractional but not against integral attacks."""

    of: Protecting  # called first: its cuts are cheaper, and valid for fractional points, too
    attacks: IntegerAttacks
    fractional: bool = True

    @property
    def open(self) -> tuple[Demand, ...]:
        """Demands that the sensitive cells do not meet alone, against fractional attacks."""
        return self.of.open

    def holds(self, suppressed: BoolArray) -> bool:
        """Tell whether a pattern, shape (n,), protects against all attackers, fractional and integral."""
        return self.attacks.holds(suppressed)

    def __call__(self, x: FloatArray) -> Cuts:
        """See `Separator`."""
        cuts = self.of(x)
        if cuts.count or (np.minimum(x, 1.0 - x) > tolerances.INTEGRAL).any():
            return cuts
        suppressed = np.asarray((x > 0.5) | self.attacks.table.primary, dtype=np.bool_)
        rows: list[BoolArray] = []
        for owner, demand in self.attacks.unmet(suppressed):
            try:
                kept_out = self._kept_out(owner, demand, suppressed)
            except OutOfTimeError:
                if rows:
                    break
                raise
            if not any((one == kept_out).all() for one in rows):
                rows.append(kept_out)
            if len(rows) >= steering.INTEGER_CUTS:
                break
        if not rows:
            return no_cuts(x.size)
        matrix = sparse.csr_array(np.array(rows, dtype=np.float64))
        return Cuts(matrix, np.ones(len(rows)), np.full(len(rows), np.inf))

    def _kept_out(self, owner: int, demand: Demand, suppressed: BoolArray) -> BoolArray:
        """Return cells outside the pattern, shape (n,), of which every protecting pattern suppresses one."""
        table = self.attacks.table
        out = np.zeros(len(table), dtype=np.bool_)
        cost = np.where(
            suppressed, steering.SUPPRESSED_CELL_COST, np.maximum(table.cost, steering.SUPPRESSED_CELL_COST)
        )
        while True:
            allowed = np.asarray(~table.fixed & ~out)
            found = self.attacks.cheapest(owner, demand, allowed, cost)
            if found is None:
                return self._fewest(owner, demand, out)
            cells = np.concatenate([one.cells for one in found])
            cells = cells[~suppressed[cells]]
            if not cells.size:  # the optimiser contradicts its answer for fewer cells
                raise OutOfTimeError
            out[cells[np.argmax(table.cost[cells])]] = True

    def _fewest(self, owner: int, demand: Demand, out: BoolArray) -> BoolArray:
        """Drop cells that need not be excluded, the cheapest first."""
        table = self.attacks.table
        cells = np.flatnonzero(out)
        for cell in cells[np.argsort(table.cost[cells], kind="stable")].tolist():
            out[cell] = False
            allowed = np.asarray(~table.fixed & ~out)
            if self.attacks.cheapest(owner, demand, allowed, np.ones(len(table))) is not None:
                out[cell] = True
        return out


class Proposing(Protocol):
    """Primal heuristic that protects against fractional attacks."""

    def pattern(
        self, demands: Sequence[Demand], clock: Clock, likely: FloatArray | None = None
    ) -> BoolArray | None:
        """See `Witnesses.pattern`."""


@dataclass
class IntegerPatterns:
    """Primal heuristic that repairs patterns against integral attacks at the least cost."""

    of: Proposing  # against fractional attacks of the outsider
    attacks: IntegerAttacks

    def pattern(
        self, demands: Sequence[Demand], clock: Clock, likely: FloatArray | None = None
    ) -> BoolArray | None:
        """See `Witnesses.pattern`."""
        found = self.of.pattern(demands, clock, likely)
        if found is None:
            return None
        cost = self.attacks.table.cost
        return with_whole_tables(
            self.attacks, found, cost if likely is None else cost * (1.0 - likely), clock
        )

    def protecting(self, pattern: BoolArray, clock: Clock) -> BoolArray | None:
        """Repair a pattern that protects against the outsider, so that it does against all, shape (n,).

        All cells that may be suppressed if time runs out; None if a demand cannot be met.
        """
        attacks = self.attacks
        found = with_whole_tables(attacks, pattern, attacks.table.cost, clock)
        if found is None or clock.expired:
            return found
        return Thinning(attacks.table, attacks.holds)(found, attacks.table.cost, clock)


def with_whole_tables(
    attacks: IntegerAttacks, pattern: BoolArray, cost: FloatArray, clock: Clock, *, many: bool = False
) -> BoolArray | None:
    """Add the cells of the cheapest integral witnesses to a pattern; all cells if time runs out.

    In tables of `many` cells it stops with what it has, and leaves unmet demands to the audit.

    `pattern` (n,). `cost` (n,). Returns (n,): None if a demand cannot be met, whatever is suppressed.
    """
    table = attacks.table
    found, everything = pattern.copy(), np.asarray(~table.fixed, dtype=np.bool_)
    if many:
        attacks.move_many(found)
    onlooking = attacks.before(found)
    try:
        for demand in table.demands:
            if clock.expired:
                raise OutOfTimeError
            levels = attacks.levels(demand)
            group = onlooking.open(demand, levels)
            units = np.where(
                found, steering.SUPPRESSED_CELL_COST, np.maximum(cost, steering.SUPPRESSED_CELL_COST)
            )
            for _, moved in attacks.settled(group, demand, levels, everything, units):
                if moved is None and not many:
                    return None
                for one in moved or ():
                    found[one.cells] = True
            if group.size:
                onlooking.again()
    except OutOfTimeError:
        return found if many else everything
    return found
