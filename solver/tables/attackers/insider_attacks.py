"""Attacks by many insiders: one linear program and deviations shared between them.

One program holds the suppressed cells. Attackers differ only in the bounds of the few cells they contribute
to, so that it is solved with a warm start for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.formulations.programs import LinearModel
from linkrisk.formulations.tables.attacker_knowledge import AttackerKnowledge
from linkrisk.formulations.tables.cell_table import Demand
from linkrisk.formulations.tables.reach import reach
from linkrisk.solver.backends.linear.base import LinearOptions, linear_program
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables import steering, tolerances


class OutOfTimeError(Exception):
    """Raised when the clock expires before a question is decided."""


@dataclass(frozen=True, eq=False)
class Seen:
    """Deviations of some cells that satisfy all relations."""

    cells: LongArray
    deviations: FloatArray
    found: float


@dataclass(frozen=True, eq=False)
class Unmet:
    """Demand that is not met against one attacker."""

    owner: int
    demand: Demand  # with the level required against this attacker
    found: float  # how far the cell goes
    most: FloatArray  # (n,) the most each cell contributes to that if it is suppressed


class InsiderAttacks:
    """Decides whether demands hold against all attackers, trying stored deviations first.

    `clock`: when it has expired, no more attacks are solved.
    """

    def __init__(self, knowledge: AttackerKnowledge, clock: Clock | None = None) -> None:
        self.knowledge, self.clock = knowledge, clock or Clock(None)
        self._by_cell = sparse.csc_array(knowledge.table.relations)
        self._seen: dict[tuple[int, float], list[Seen]] = {}

    def knows(self, suppressed: FloatArray) -> None:
        """Set a pattern, shape (n,): 1 for suppressed, 0 for published cells, or between."""
        table = self.knowledge.table
        self._suppressed = suppressed
        self._onlookers = self.knowledge.within(suppressed)
        self._cells = cells = np.flatnonzero(suppressed)
        part = sparse.csr_array(self._by_cell[:, cells])
        self._rows = np.flatnonzero(np.diff(part.indptr))
        none = np.zeros(self._rows.size)
        self._lower, self._upper = -(table.below * suppressed)[cells], (table.above * suppressed)[cells]
        self._program = linear_program(
            LinearModel(
                objective=np.zeros(cells.size),
                matrix=sparse.csr_array(part[self._rows]),
                row_lower=none,
                row_upper=none,
                column_lower=self._lower,
                column_upper=self._upper,
            ),
            LinearOptions(feasibility=1e-9, optimality=1e-9),
        )
        self._goal = np.zeros(0, dtype=np.int64)

    def unmet(self, demand: Demand, *, everybody: bool = False) -> list[Unmet]:
        """Find attackers against whom a demand does not hold: the first one, or all.

        One deviation feasible for all undecided attackers is sought first. If there is none, the attacker
        with the tightest bound by the multipliers is solved alone, and the others are bisected.

        Raises OutOfTimeError if the clock expires first.
        """
        if not self._suppressed[demand.cell] > 0:
            return self._published(demand, everybody)
        levels = self.knowledge.levels(demand)
        asked = _Asked(self, demand, levels)
        wrong: list[Unmet] = []
        groups = [np.flatnonzero(asked.open)]
        while groups:
            group = groups.pop()
            group = group[asked.open[group]]
            if not group.size:
                continue
            if self.clock.expired:
                raise OutOfTimeError
            worst = int(group[0])
            if group.size > 1:
                worst = self._together(group, demand, levels)
                asked.look(newest=1)
                group = group[asked.open[group]]
                if not group.size:
                    continue
            asked.open[worst] = False
            found, most = self.attack(worst, demand, float(levels[worst]))
            asked.look(newest=1)
            if found < levels[worst] * (1.0 - tolerances.SEARCHED):
                lowered = Demand(demand.cell, float(levels[worst]), demand.up, demand.down)
                wrong.append(Unmet(worst, lowered, found, most))
                if not everybody:
                    return wrong
            half = group.size // 2
            groups += [group[half:], group[:half]]
        return wrong

    def _together(self, group: LongArray, demand: Demand, levels: FloatArray) -> int:
        """Seek a deviation feasible for a group; return the attacker with the tightest bound, too."""
        below, above = (side[self._cells] for side in self._onlookers.together(group))
        everywhere = np.arange(self._cells.size)
        most, room = float(levels[group].max()), np.zeros(len(self.knowledge))
        self._program.change_column_bounds(everywhere, -below, above)
        for sign in _ways(demand):
            _, multipliers = self._furthest(demand.cell, sign, most, (below, above))
            room += self._onlookers.at_most(self._reduced(demand.cell, sign, multipliers))
        self._program.change_column_bounds(everywhere, self._lower, self._upper)
        return int(group[np.argmin(room[group] / levels[group])])

    def _published(self, demand: Demand, everybody: bool) -> list[Unmet]:
        levels = self.knowledge.levels(demand)
        owners = np.flatnonzero(levels > 0)[: None if everybody else 1]
        none = np.zeros(len(self.knowledge.table))
        return [
            Unmet(int(one), Demand(demand.cell, float(levels[one]), demand.up, demand.down), 0.0, none)
            for one in owners
        ]

    def seen(self, cell: int, sign: float, newest: int = steering.MOVEMENTS_KEPT) -> Iterator[FloatArray]:
        """Yield how far each attacker considers a cell possible, shape (m,), for every stored deviation."""
        for one in self._seen.get((cell, sign), [])[:newest]:
            yield one.found * self._onlookers.scales(one.cells, one.deviations)

    def attack(self, owner: int, demand: Demand, level: float = np.inf) -> tuple[float, FloatArray]:
        """Compute how far a cell goes against one attacker in all directions that count, with `Unmet.most`.

        `level`: where it stops. Raises RuntimeError if the optimiser fails.
        """
        below, above = self.knowledge.bounds(owner)
        mine = self.knowledge.cell[self.knowledge.mine(owner)]
        mine = mine[self._suppressed[mine] > 0]
        at = np.searchsorted(self._cells, mine)
        share = self._suppressed[self._cells]
        own = below[self._cells] * share, above[self._cells] * share
        self._program.change_column_bounds(at, -own[0][at], own[1][at])
        found, most = 0.0, np.zeros(len(self.knowledge.table))
        for sign in _ways(demand):
            more, multipliers = self._furthest(demand.cell, sign, level, own)
            found += more
            most += reach(self._reduced(demand.cell, sign, multipliers), above, below)
        self._program.change_column_bounds(at, self._lower[at], self._upper[at])
        return found, most

    def _reduced(self, cell: int, sign: float, multipliers: FloatArray) -> FloatArray:
        """Return the reduced costs of a goal, shape (n,)."""
        goal = -(self._by_cell.T @ multipliers)
        goal[cell] += sign
        return np.asarray(goal, dtype=np.float64)

    def _furthest(
        self, cell: int, sign: float, level: float, bounds: tuple[FloatArray, FloatArray]
    ) -> tuple[float, FloatArray]:
        """Maximise the movement of a cell up to a level, within the current bounds; return multipliers."""
        at = np.searchsorted(self._cells, [cell])
        below, above = (side[at] for side in bounds)
        short = (-below, np.minimum(above, level)) if sign > 0 else (-np.minimum(below, level), above)
        self._program.change_column_bounds(at, *short)
        self._program.change_objective(self._goal, np.zeros(self._goal.size))
        self._program.change_objective(at, np.array([-sign]))
        self._goal = at
        solution = self._program.solve()
        if not solution.optimal:
            raise RuntimeError(f"the attacker's program ended {solution.status}")
        multipliers = np.zeros(self._by_cell.shape[0])
        multipliers[self._rows] = -solution.duals
        point = solution.point
        self._program.change_column_bounds(at, -below, above)
        moved = np.flatnonzero(np.abs(point) > 1e-12)
        found = float(sign * point[at[0]])
        if found > 0:
            kept = self._seen.setdefault((cell, sign), [])
            kept.insert(0, Seen(self._cells[moved], point[moved], found))
            del kept[steering.MOVEMENTS_KEPT :]
        return found, multipliers


class _Asked:
    """A demand with the attackers against whom it is undecided."""

    def __init__(self, attacks: InsiderAttacks, demand: Demand, levels: FloatArray) -> None:
        self._attacks, self._demand, self._levels = attacks, demand, levels
        self._known = {sign: np.zeros(levels.size) for sign in _ways(demand)}
        self.open = levels > 0
        self.look()

    def look(self, newest: int = steering.MOVEMENTS_KEPT) -> None:
        """Apply stored deviations."""
        for sign, known in self._known.items():
            for reached in self._attacks.seen(self._demand.cell, sign, newest):
                np.maximum(known, reached, out=known)
                if len(self._known) == 1 and self._close():
                    return
        self._close()

    def _close(self) -> bool:
        """Remove attackers against whom the demand holds; tell whether none is left."""
        reached = np.sum(list(self._known.values()), axis=0)
        self.open &= reached < self._levels * (1.0 - tolerances.SEARCHED)
        return not self.open.any()


def _ways(demand: Demand) -> list[float]:
    return [sign for wanted, sign in ((demand.up, 1.0), (demand.down, -1.0)) if wanted]
