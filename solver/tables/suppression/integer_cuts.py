"""Rows and patterns of tables of counts: what protects from attackers in fractions may not in whole numbers.

Protection is monotone: where a pattern has no whole table for a demand, no part of it has one. So such a
pattern S is made as large as it goes: of each whole vector that meets the demand one cell outside of S is
kept out, until there is no such vector. Of the cells C that were kept out one has to be suppressed by every
pattern that protects: ``sum of x_j over C >= 1``.
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
from linkrisk.solver.tables.attackers.crowd_attacks import OutOfTimeError
from linkrisk.solver.tables.attackers.integer_attacks import IntegerAttacks
from linkrisk.solver.tables.suppression.incumbent import Thinning
from linkrisk.solver.tables.suppression.insider_cuts import Protecting

_WHOLE = 1e-5
"""A point is a pattern where no cell is further from being suppressed or published."""

_MOST_ROWS = 12
"""Of one point."""

_INSIDE = 1e-3
"""What a unit of movement of a suppressed cell costs: as little as there is."""


@dataclass
class IntegerCuts:
    """Finds rows that patterns violate which protect in fractions only."""

    of: Protecting  # asked first: its rows are cheaper, and hold for points in parts, too
    attacks: IntegerAttacks
    fractional: bool = True

    @property
    def open(self) -> tuple[Demand, ...]:
        """Demands that the sensitive cells do not meet among themselves, in fractions."""
        return self.of.open

    def holds(self, suppressed: BoolArray) -> bool:
        """Whether a pattern, shape (n,), protects from everybody: in whole numbers, and so in fractions."""
        return self.attacks.holds(suppressed)

    def __call__(self, x: FloatArray) -> Cuts:
        """See `Separator`."""
        cuts = self.of(x)
        if cuts.count or (np.minimum(x, 1.0 - x) > _WHOLE).any():
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
            if len(rows) >= _MOST_ROWS:
                break
        if not rows:
            return no_cuts(x.size)
        matrix = sparse.csr_array(np.array(rows, dtype=np.float64))
        return Cuts(matrix, np.ones(len(rows)), np.full(len(rows), np.inf))

    def _kept_out(self, owner: int, demand: Demand, suppressed: BoolArray) -> BoolArray:
        """Cells of which one has to be suppressed, shape (n,): none of them is by the pattern."""
        table = self.attacks.table
        out = np.zeros(len(table), dtype=np.bool_)
        cost = np.where(suppressed, _INSIDE, np.maximum(table.cost, _INSIDE))
        while True:
            allowed = np.asarray(~table.fixed & ~out)
            found = self.attacks.cheapest(owner, demand, allowed, cost)
            if found is None:
                return self._fewest(owner, demand, out)
            cells = np.concatenate([one.cells for one in found])
            cells = cells[~suppressed[cells]]
            if not cells.size:  # the optimiser says one thing of the pattern, and another of more cells
                raise OutOfTimeError
            out[cells[np.argmax(table.cost[cells])]] = True

    def _fewest(self, owner: int, demand: Demand, out: BoolArray) -> BoolArray:
        """The same without cells that need not be kept out, the cheapest first."""
        table = self.attacks.table
        cells = np.flatnonzero(out)
        for cell in cells[np.argsort(table.cost[cells], kind="stable")].tolist():
            out[cell] = False
            allowed = np.asarray(~table.fixed & ~out)
            if self.attacks.cheapest(owner, demand, allowed, np.ones(len(table))) is not None:
                out[cell] = True
        return out


class Proposing(Protocol):
    """What makes patterns that protect from attackers in fractions."""

    def pattern(
        self, demands: Sequence[Demand], clock: Clock, likely: FloatArray | None = None
    ) -> BoolArray | None:
        """See `Witnesses.pattern`."""


@dataclass
class IntegerPatterns:
    """Patterns that protect in whole numbers, too: what is missing is added at the least cost."""

    of: Proposing  # in fractions, from the outsider
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
        """A pattern that protects from everybody, made of one that does from the outsider, shape (n,).

        All cells that may be suppressed where time is out; None where a demand cannot be met.
        """
        attacks = self.attacks
        found = with_whole_tables(attacks, pattern, attacks.table.cost, clock)
        if found is None or clock.expired:
            return found
        return Thinning(attacks.table, attacks.holds)(found, attacks.table.cost, clock)


def with_whole_tables(
    attacks: IntegerAttacks, pattern: BoolArray, cost: FloatArray, clock: Clock, *, many: bool = False
) -> BoolArray | None:
    """A pattern with what whole tables move besides, as cheaply as they can; all cells where time is out.

    Of a table of `many` cells what was found by then, and what cannot be met is left to the audit.

    `pattern` (n,). `cost` (n,). Returns (n,): None where a demand cannot be met, whatever is suppressed.
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
            units = np.where(found, _INSIDE, np.maximum(cost, _INSIDE))
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
