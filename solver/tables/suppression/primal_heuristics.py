"""Primal heuristics: protecting patterns, demand by demand, against outsiders and insiders.

For each demand a linear program finds the cheapest movement of its cell by its level (Kelly, Golden and Assad
1992; Fischetti and Salazar 2000, section 5). The cells it moves are suppressed and cost nothing from then on;
they may meet later demands, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.programs import LinearModel
from linkrisk.formulations.tables.attacker_knowledge import AttackerKnowledge
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.solver.backends.linear.base import LinearOptions, LinearProgram, linear_program
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables import steering, tolerances
from linkrisk.solver.tables.attackers.insider_attacks import OutOfTimeError, Unmet
from linkrisk.solver.tables.attackers.integer_attacks import IntegerAttacks
from linkrisk.solver.tables.suppression.capacity_cuts import CapacityCuts
from linkrisk.solver.tables.suppression.incumbent import Thinning, protection
from linkrisk.solver.tables.suppression.insider_cuts import InsiderCuts, Noted, SeparatorOf
from linkrisk.solver.tables.suppression.integer_cuts import IntegerCuts, IntegerPatterns


class Witnesses:
    """Builds patterns from witnesses: movements that prove that demands are met.

    `cells`: that may be suppressed; all that are not fixed by default. `most_up` (n,): how far up cells with
    sliding demands can go; computed by default. `local`: in larger tables, about so many cells around that of
    a demand are tried first.
    """

    def __init__(
        self,
        table: CellTable,
        cells: LongArray | None = None,
        *,
        most_up: FloatArray | None = None,
        local: int = steering.LOCAL_CELLS,
    ) -> None:
        self._table, self._most_up, self._local = table, most_up, local
        self._cells = np.flatnonzero(~table.fixed) if cells is None else cells
        self._all: _Ways | None = None
        self._by_cell = sparse.csc_array(table.relations)
        self._by_relation = sparse.csr_array(table.relations)

    def pattern(
        self, demands: Sequence[Demand], clock: Clock, likely: FloatArray | None = None
    ) -> BoolArray | None:
        """Return a pattern that meets all demands, shape (n,); some cells may be redundant.

        `demands`: those that the sensitive cells do not meet alone. `clock`: when it has expired, all cells
        are returned. `likely` (n,): likelihood of each cell, from 0 to 1, which lowers its cost. Returns
        (n,): None if a demand cannot be met, whatever is suppressed.
        """
        try:
            return self.extended(self._table.primary, demands, clock, likely)
        except OutOfTimeError:
            return np.asarray(~self._table.fixed)

    def extended(
        self,
        pattern: BoolArray,
        demands: Sequence[Demand],
        clock: Clock,
        likely: FloatArray | None = None,
        *,
        generator: np.random.Generator | None = None,
        tell: Callable[[int], object] = bool,
    ) -> BoolArray | None:
        """Extend a pattern to meet demands at the least cost, one after the other.

        `pattern` (n,): its cells cost nothing. `generator`: for a random order of demands; by default the
        largest level comes first. `tell`: called with the number left. Returns (n,): None if a demand cannot
        be met. Raises OutOfTimeError when the clock has expired.
        """
        table = self._table
        suppressed, reach = pattern.copy(), np.zeros((2, len(table)))
        cost = table.cost if likely is None else table.cost * (1.0 - (1.0 - steering.LIKELY_FAVOUR) * likely)
        halves = sorted(self._halves(demands), key=lambda one: -one.level)
        if generator is not None:
            halves = [halves[place] for place in generator.permutation(len(halves))]
        if self._all is not None:
            self._all.begin(cost, suppressed)
        for at, demand in enumerate(halves):
            if clock.expired:
                raise OutOfTimeError
            tell(len(halves) - at)
            if reach[int(demand.down), demand.cell] >= demand.level * (1.0 - tolerances.MET):
                continue
            found = self._cheapest(demand, cost, suppressed)
            if found is None:
                return None
            suppressed[found[0]] = True
            self._note(reach, *found)
        return suppressed

    def _note(self, reach: FloatArray, cells: LongArray, moves: FloatArray) -> None:
        """Record how far multiples of a movement move cells up and down, shape (2, n)."""
        room = np.where(moves > 0, self._table.above[cells], self._table.below[cells])
        back = np.where(moves > 0, self._table.below[cells], self._table.above[cells])
        for way, part in ((moves, room), (-moves, back)):
            most = way * float((part / np.abs(moves)).min(initial=np.inf))
            reach[0, cells] = np.maximum(reach[0, cells], most)
            reach[1, cells] = np.maximum(reach[1, cells], -most)

    def _halves(self, demands: Sequence[Demand]) -> list[Demand]:
        """Return demands up and demands down; a sliding one is split between both, as far up as possible."""
        found = []
        for demand in demands:
            if not (demand.up and demand.down):
                found.append(demand)
                continue
            level = demand.level * (1.0 - tolerances.SLIDING)
            up = min(level, self._furthest_up(demand.cell))
            if up > 0:
                found.append(Demand(demand.cell, up, up=True, down=False))
            if level > up:
                found.append(Demand(demand.cell, level - up, up=False, down=True))
        return found

    def _furthest_up(self, cell: int) -> float:
        if self._most_up is not None:
            return float(self._most_up[cell])
        if self._all is None:
            self._all = _Ways(self._table, self._cells)
        return self._all.furthest_up(cell)

    def _cheapest(
        self, demand: Demand, cost: FloatArray, suppressed: BoolArray
    ) -> tuple[LongArray, FloatArray] | None:
        """Find the cheapest movement of a demand's cell by its level; None if there is none."""
        if self._cells.size > self._local:
            near = _Ways(self._table, self.around(demand.cell, most=self._local))
            near.begin(cost, suppressed)
            found = near.cheapest(demand, suppressed)
            if found is not None:
                return found
        if self._all is None:
            self._all = _Ways(self._table, self._cells)
            self._all.begin(cost, suppressed)
        return self._all.cheapest(demand, suppressed)

    def around(self, cell: int, steps: float = np.inf, most: float = np.inf) -> LongArray:
        """Return the cells near one, within so many relations or until there are about so many."""
        allowed = np.zeros(len(self._table), dtype=np.bool_)
        allowed[self._cells] = True
        known, edge = np.zeros(len(self._table), dtype=np.bool_), np.array([cell])
        known[cell] = True
        while edge.size and steps > 0 and known.sum() < most:
            rows = np.unique(self._by_cell[:, edge].indices)
            cells = np.unique(self._by_relation[rows].indices)
            edge, steps = cells[~known[cells] & allowed[cells]], steps - 1
            known[edge] = True
        return np.flatnonzero(known)


class _Ways:
    """Linear program for the cheapest deviations over some cells."""

    def __init__(self, table: CellTable, cells: LongArray) -> None:
        self.cells, self._place = cells, np.full(len(table), -1)
        self._place[cells] = np.arange(cells.size)
        columns = sparse.csc_array(table.relations)[:, cells]
        relations = sparse.csr_array(columns)[np.unique(columns.indices)]
        rows = relations.shape[0]
        self._upper = np.concatenate([table.above[cells], table.below[cells]])
        self._program: LinearProgram = linear_program(
            LinearModel(
                objective=np.zeros(2 * cells.size),
                matrix=sparse.csr_array(sparse.hstack([relations, -relations], format="csr")),
                row_lower=np.zeros(rows),
                row_upper=np.zeros(rows),
                column_lower=np.zeros(2 * cells.size),
                column_upper=self._upper,
            ),
            LinearOptions(feasibility=1e-9, optimality=1e-9, own={"presolve": "off"}),
        )

    def begin(self, cost: FloatArray, suppressed: BoolArray) -> None:
        """Set the costs of all cells; suppressed ones cost nothing."""
        found = np.where(suppressed, 0.0, cost)[self.cells]
        self._free = suppressed[self.cells]
        self._program.change_objective(np.arange(2 * found.size), np.concatenate([found, found]))

    def furthest_up(self, cell: int) -> float:
        """Compute how far up a cell can go; it resets the costs (`begin`)."""
        count = self.cells.size
        at = self._place[cell]
        objective = np.zeros(2 * count)
        objective[at] = -1.0
        down = np.array([at + count])
        self._program.change_objective(np.arange(2 * count), objective)
        self._program.change_column_bounds(down, np.zeros(1), np.zeros(1))
        solution = self._program.solve()
        self._program.change_column_bounds(down, np.zeros(1), self._upper[down])
        return max(float(solution.point[at]) * (1.0 - tolerances.MET), 0.0) if solution.optimal else 0.0

    def cheapest(self, demand: Demand, suppressed: BoolArray) -> tuple[LongArray, FloatArray] | None:
        """Return the cells and deviations that move a demand's cell by its level, or None."""
        count = self.cells.size
        new = np.flatnonzero(suppressed[self.cells] & ~self._free)
        self._free[new] = True
        both = np.concatenate([new, new + count])
        self._program.change_objective(both, np.zeros(both.size))
        at = self._place[demand.cell] + (0 if demand.up else count)
        pair = np.array([at, (at + count) % (2 * count)])
        level = np.array([demand.level, 0.0])
        self._program.change_column_bounds(pair, np.array([demand.level, 0.0]), level)
        self._program.forget_basis()
        solution = self._program.solve()
        found = None
        if solution.optimal:
            moves = solution.point[:count] - solution.point[count:]
            moved = np.flatnonzero(np.abs(moves) > tolerances.STILL * demand.level)
            found = self.cells[moved], moves[moved]
        self._program.change_column_bounds(pair, np.zeros(2), self._upper[pair])
        return found


@dataclass
class InsiderPatterns:
    """Primal heuristic that repairs patterns against insiders at the least cost."""

    cuts: InsiderCuts
    _program: LinearProgram = field(init=False, repr=False)

    def __post_init__(self) -> None:
        table = self.cuts.knowledge.table
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
        """Repair a pattern that protects against the outsider, so that it does against all, shape (n,).

        All cells that may be suppressed if the clock expires.

        Returns (n,): None if a demand cannot be met, whatever is suppressed.
        """
        table = self.cuts.knowledge.table
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
        for demand in self.cuts.knowledge.table.demands:
            if clock.expired:
                raise OutOfTimeError
            wrong += attacks.unmet(demand)
        return wrong

    def _thinned(self, table: CellTable, pattern: BoolArray, added: BoolArray, clock: Clock) -> BoolArray:
        """Drop added cells, the dearest first, while all demands stay met."""
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
        """Return the cells of the cheapest movement that meets a demand against an attacker."""
        below, above = self.cuts.knowledge.bounds(wrong.owner)
        demand, moved = wrong.demand, np.zeros(suppressed.size, dtype=np.bool_)
        level, sliding = demand.level, demand.up and demand.down
        if sliding:  # a level that asks for the largest possible movement would be missed by rounding
            level *= 1.0 - tolerances.SLIDING
        up = level if demand.up else 0.0
        if sliding:  # as far up as possible, and the rest down
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
        """Compute how far up an attacker considers a cell possible if all free cells are suppressed."""
        cells, open_to = above.size, ~self.cuts.knowledge.table.fixed
        upper = np.concatenate([np.where(open_to, above, 0.0), np.where(open_to, below, 0.0)])
        upper[cell + cells] = 0.0
        objective = np.zeros(2 * cells)
        objective[cell] = -1.0
        self._program.change_objective(self._columns, objective)
        self._program.change_column_bounds(self._columns, np.zeros(2 * cells), upper)
        solution = self._program.solve()
        return max(float(solution.point[cell]) * (1.0 - tolerances.MET), 0.0) if solution.optimal else 0.0

    def _cheapest(
        self, demand: Demand, suppressed: BoolArray, below: FloatArray, above: FloatArray
    ) -> BoolArray | None:
        table, cells = self.cuts.knowledge.table, suppressed.size
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
        return np.asarray(np.abs(moves) > tolerances.STILL * demand.level, dtype=np.bool_)


@dataclass
class InsiderWitnesses:
    """Primal heuristic against all attackers: a pattern against the outsider, repaired against insiders."""

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
) -> tuple[CapacityCuts | SeparatorOf | IntegerCuts, Witnesses | InsiderWitnesses | IntegerPatterns]:
    """Return the separator and the primal heuristic, against the outsider alone or against all attackers.

    For counts both require integral witnesses, which prove protection against fractional attacks, too.
    """
    cuts, witnesses = CapacityCuts(table, clock=clock), Witnesses(table)
    own = InsiderCuts(AttackerKnowledge.of(table), clock) if table.insiders else None
    rows = cuts if own is None else SeparatorOf(cuts, own)
    if table.counts:
        attacks = IntegerAttacks(table, clock)
        return IntegerCuts(rows, attacks), IntegerPatterns(witnesses, attacks)
    return rows, witnesses if own is None else InsiderWitnesses(witnesses, InsiderPatterns(own))


Tell = Callable[[float], None]
"""Called with the cost of the incumbent."""


Rows = CapacityCuts | Noted | SeparatorOf | IntegerCuts
Making = Witnesses | InsiderWitnesses | IntegerPatterns


class Patterns(Protocol):
    """Interface of primal heuristics."""

    def start(self, clock: Clock, tell: Tell) -> BoolArray | None:
        """Return an initial pattern, shape (n,), or None if none is found."""
        ...

    def like(self, point: FloatArray, clock: Clock) -> BoolArray | None:
        """Round a point to a pattern of its largest cells, shape (n,), or None if that fails."""
        ...

    def thinned(self, pattern: BoolArray, order: FloatArray, clock: Clock) -> BoolArray:
        """Drop redundant cells from a protecting pattern, shape (n,), in descending order."""
        ...


@dataclass(eq=False)
class OneByOne:
    """Primal heuristic: the cheapest movement for one demand after the other, then thinning."""

    table: CellTable
    separator: Rows
    witnesses: Making

    def __post_init__(self) -> None:
        self.thinned = Thinning(self.table, protection(self.separator))

    def start(self, clock: Clock, tell: Tell) -> BoolArray | None:
        """See `Patterns`; if the clock expires, all cells, untested."""
        found = self.witnesses.pattern(self.separator.open, clock)
        if found is None:
            return None
        tell(self.table.cost_of(found))
        return found if clock.expired else self.thinned(found, self.table.cost, clock)

    def like(self, point: FloatArray, clock: Clock) -> BoolArray | None:
        """See `Patterns`."""
        likely = np.clip(point, 0.0, 1.0)
        found = self.witnesses.pattern(self.separator.open, clock, likely=likely)
        return None if found is None else self.thinned(found, self.table.cost * (1.0 - likely), clock)
