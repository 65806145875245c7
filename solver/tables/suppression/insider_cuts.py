"""Rows that patterns violate which do not protect from insiders, and patterns that do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from linkrisk.formulations.programs.linear import LinearModel
from linkrisk.formulations.programs.separation import Cuts
from linkrisk.formulations.tables.cell_table import BoolArray, CellTable, Demand, FloatArray
from linkrisk.formulations.tables.crowd import Crowd
from linkrisk.formulations.tables.suppression_model import capacity_row
from linkrisk.solver.backends.linear.base import LinearOptions, LinearProgram
from linkrisk.solver.backends.linear.registry import linear_program
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.attackers.crowd_attacks import SHORT, CrowdAttacks, OutOfTimeError, Unmet
from linkrisk.solver.tables.suppression.capacity import CapacityCuts
from linkrisk.solver.tables.suppression.heuristic import Witnesses

_NOTHING = 1e-7
_MOST_ROWS = 40
_MOST_NOTED = 500
_MOVED = 1e-9
_LESS = 1e-9


@dataclass
class SeparatorOf:
    """Several separators, one after the other: the next is asked where those before have no rows.

    Attributes
    ----------
    first : CapacityCuts
        Of the outsider.
    then : InsiderCuts
    fractional : bool
    """

    first: CapacityCuts
    then: InsiderCuts
    fractional: bool = True

    @property
    def open(self) -> tuple[Demand, ...]:
        """Demands that the sensitive cells do not meet among themselves, in the eyes of the outsider."""
        return self.first.open

    def holds(self, suppressed: BoolArray) -> bool:
        """Whether a pattern, shape (n,), protects from everybody."""
        return self.first.holds(suppressed) and self.then.holds(suppressed)

    def __call__(self, x: FloatArray) -> Cuts:
        """See `Separator`."""
        cuts = self.first(x)
        return cuts if cuts.count else self.then(x)


@dataclass
class Noted:
    """A separator whose rows are noted: they hold in every problem that asks for more.

    Attributes
    ----------
    of : CapacityCuts
    fractional : bool
    """

    of: CapacityCuts
    fractional: bool = True
    _rows: list[Cuts] = field(default_factory=list, repr=False)

    @property
    def open(self) -> tuple[Demand, ...]:
        """See `CapacityCuts.open`."""
        return self.of.open

    def holds(self, suppressed: BoolArray) -> bool:
        """See `CapacityCuts.holds`."""
        return self.of.holds(suppressed)

    def __call__(self, x: FloatArray) -> Cuts:
        """See `Separator`."""
        cuts = self.of(x)
        if cuts.count:
            self._rows.append(cuts)
        return cuts

    def latest(self) -> Cuts | None:
        """The last of the rows; None where there are none."""
        if not self._rows:
            return None
        lower = np.concatenate([one.lower for one in self._rows])[-_MOST_NOTED:]
        matrix = sparse.csr_array(sparse.vstack([one.matrix for one in self._rows], format="csr"))
        return Cuts(matrix[-lower.size :], lower, np.full(lower.size, np.inf))


@dataclass
class InsiderCuts:
    """Finds capacity constraints that a point violates by what insiders know.

    Attributes
    ----------
    crowd : Crowd
    clock : Clock or None
        When it is out, whatever is asked ends with `OutOfTimeError`.
    fractional : bool
    """

    crowd: Crowd
    clock: Clock | None = None
    fractional: bool = True
    _attacks: CrowdAttacks | None = field(default=None, repr=False, compare=False)
    _order: list[Demand] = field(default_factory=list, repr=False, compare=False)

    def __getstate__(self) -> dict[str, object]:
        """Without the program in the hands of the optimiser, and without the clock of this process."""
        return {
            "crowd": self.crowd,
            "clock": None,
            "fractional": self.fractional,
            "_attacks": None,
            "_order": [],
        }

    def holds(self, suppressed: BoolArray) -> bool:
        """Whether a pattern, shape (n,), protects from everybody; demands that were open last come first."""
        self.attacks.knows(suppressed.astype(np.float64))
        order = self._order or list(self.crowd.table.demands)
        self._order = order
        for at, demand in enumerate(order):
            if self.attacks.unmet(demand):
                order.insert(0, order.pop(at))
                return False
        return True

    @property
    def attacks(self) -> CrowdAttacks:
        """The programs."""
        if self._attacks is None:
            self._attacks = CrowdAttacks(self.crowd, self.clock)
        return self._attacks

    def __call__(self, x: FloatArray) -> Cuts:
        """See `Separator`."""
        table = self.crowd.table
        suppressed = np.clip(x, 0.0, 1.0)
        suppressed[suppressed < _NOTHING] = 0.0
        suppressed[table.primary] = 1.0
        rows, right = [], []
        self.attacks.knows(suppressed)
        for demand in table.demands:
            for wrong in self._unmet(demand, last=bool(rows)):
                cells, coefficients, least = capacity_row(wrong.most, wrong.demand.level)
                if coefficients @ suppressed[cells] < least - SHORT:
                    row = np.zeros(len(table))
                    row[cells] = coefficients
                    rows.append(row)
                    right.append(least)
            if len(rows) >= _MOST_ROWS:
                break
        matrix = sparse.csr_array(np.array(rows).reshape(len(rows), len(table)))
        return Cuts(matrix, np.array(right, dtype=np.float64), np.full(len(rows), np.inf))

    def _unmet(self, demand: Demand, *, last: bool) -> list[Unmet]:
        """See `CrowdAttacks.unmet`; nothing where the clock is out and there are rows already."""
        try:
            return self.attacks.unmet(demand)
        except OutOfTimeError:
            if last:
                return []
            raise


@dataclass
class InsiderPatterns:
    """Makes patterns protect from insiders, too: what is missing is added at the least cost.

    Attributes
    ----------
    cuts : InsiderCuts
    """

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

        Returns
        -------
        ndarray of bool, shape (n,), or None
            None where a demand cannot be met, whatever is suppressed.
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
        up = demand.level if demand.up else 0.0
        if demand.up and demand.down:  # sliding: as far up as it goes, and the rest down
            up = min(up, self._furthest_up(demand.cell, below, above))
        down = demand.level - up if demand.down else 0.0
        for level, way in ((up, True), (down, False)):
            if level > 0:
                half = self._cheapest(Demand(demand.cell, level, way, not way), suppressed, below, above)
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
    """Patterns that protect from everybody: those of the outsider, with what insiders ask for.

    Attributes
    ----------
    outsider : Witnesses
    insiders : InsiderPatterns
    """

    outsider: Witnesses
    insiders: InsiderPatterns

    def pattern(
        self, demands: Sequence[Demand], clock: Clock, likely: FloatArray | None = None
    ) -> BoolArray | None:
        """See `Witnesses.pattern`."""
        found = self.outsider.pattern(demands, clock, likely)
        return None if found is None else self.insiders.protecting(found, clock)


def search_parts(
    table: CellTable, clock: Clock | None = None
) -> tuple[CapacityCuts, Witnesses] | tuple[SeparatorOf, CrowdWitnesses]:
    """What finds violated rows, and what makes patterns, from the outsider alone or from everybody."""
    cuts, witnesses = CapacityCuts(table), Witnesses(table)
    if not table.insiders:
        return cuts, witnesses
    own = InsiderCuts(Crowd.of(table), clock)
    return SeparatorOf(cuts, own), CrowdWitnesses(witnesses, InsiderPatterns(own))


def unreachable(crowd: Crowd, clock: Clock | None = None) -> list[Unmet]:
    """What cannot be kept from whom, with all cells suppressed that may be.

    Raises
    ------
    OutOfTimeError
        If the clock is out before all is looked at.
    """
    attacks = CrowdAttacks(crowd, clock)
    attacks.knows((~crowd.table.fixed).astype(np.float64))
    return [one for demand in crowd.table.demands for one in attacks.unmet(demand, everybody=True)]


_SHOWN = 3


def kept_from_nobody(table: CellTable) -> str:
    """A line on what cannot be kept from whom."""
    found = unreachable(Crowd.of(table))
    names = ("the outsider", *(one.name for one in table.insiders))
    shown = "; ".join(
        f"cell {one.demand.cell} from {names[one.owner]}, by {one.demand.level - one.found:g}"
        for one in found[:_SHOWN]
    )
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return (
        f"not protected, whatever is suppressed: {shown}{more}; lower their levels, let more cells be "
        "suppressed, or go as far as possible"
    )
