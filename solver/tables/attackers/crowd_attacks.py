"""What a crowd of attackers cannot find out: deviations that many of them think possible, and programs.

One program holds the suppressed cells. For an attacker only the bounds of the few cells change that they know
more of, so that it is solved again from its last basis.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from linkrisk.formulations.programs.linear import LinearModel
from linkrisk.formulations.tables.attacker import reach
from linkrisk.formulations.tables.cell_table import Demand, FloatArray, IntArray
from linkrisk.formulations.tables.crowd import Crowd
from linkrisk.solver.backends.linear.base import LinearOptions
from linkrisk.solver.backends.linear.registry import linear_program

SHORT = 2e-6
"""By how much of its level a demand may be short and still hold, which is beyond what optimisers can tell."""

_KEPT = 12


@dataclass(frozen=True, eq=False)
class Seen:
    """Deviations of some cells that satisfy all relations."""

    cells: IntArray
    deviations: FloatArray
    found: float


@dataclass(frozen=True, eq=False)
class Unmet:
    """A demand that does not hold against somebody.

    Attributes
    ----------
    owner : int
    demand : Demand
        With the level that has to hold against them.
    found : float
        How far it goes.
    most : ndarray of float64, shape (n,)
        What each cell adds at most to that, if it is suppressed.
    """

    owner: int
    demand: Demand
    found: float
    most: FloatArray


class CrowdAttacks:
    """Asks whether demands hold against everybody; what was seen once is looked at again first.

    Parameters
    ----------
    crowd : Crowd
    """

    def __init__(self, crowd: Crowd) -> None:
        self.crowd = crowd
        self._by_cell = sparse.csc_array(crowd.table.relations)
        self._seen: dict[tuple[int, float], list[Seen]] = {}

    def knows(self, suppressed: FloatArray) -> None:
        """Take a pattern, shape (n,): 1 where a cell is suppressed, 0 where it is published, or between."""
        table = self.crowd.table
        self._suppressed = suppressed
        self._onlookers = self.crowd.within(suppressed)
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
        """Attackers against whom a demand does not hold: the first one found, or all."""
        if not self._suppressed[demand.cell] > 0:
            return self._published(demand, everybody)
        levels = self.crowd.levels(demand)
        wrong: list[Unmet] = []
        done = levels <= 0
        known = {sign: self._known(demand.cell, sign) for sign in _ways(demand)}
        while True:
            seen = np.sum(list(known.values()), axis=0)
            done |= seen >= levels * (1.0 - SHORT)
            if done.all():
                return wrong
            owner = int(np.argmin(np.where(done, np.inf, seen / np.where(levels > 0, levels, 1.0))))
            done[owner] = True
            found, most = self.attack(owner, demand)
            for sign, before in known.items():
                np.maximum(before, self._known(demand.cell, sign, newest=1), out=before)
            if found < levels[owner] * (1.0 - SHORT):
                lowered = Demand(demand.cell, float(levels[owner]), demand.up, demand.down)
                wrong.append(Unmet(owner, lowered, found, most))
                if not everybody:
                    return wrong

    def _published(self, demand: Demand, everybody: bool) -> list[Unmet]:
        levels = self.crowd.levels(demand)
        owners = np.flatnonzero(levels > 0)[: None if everybody else 1]
        none = np.zeros(len(self.crowd.table))
        return [
            Unmet(int(one), Demand(demand.cell, float(levels[one]), demand.up, demand.down), 0.0, none)
            for one in owners
        ]

    def _known(self, cell: int, sign: float, newest: int = _KEPT) -> FloatArray:
        """How far each attacker was seen to think a cell possible, shape (m,): no more than is true."""
        found = np.zeros(len(self.crowd))
        for one in self._seen.get((cell, sign), [])[:newest]:
            np.maximum(found, one.found * self._onlookers.scales(one.cells, one.deviations), out=found)
        return found

    def attack(self, owner: int, demand: Demand) -> tuple[float, FloatArray]:
        """How far an attacker must think that a cell could go, in all ways that count, and `Unmet.most`.

        Raises
        ------
        RuntimeError
            If the optimiser fails.
        """
        below, above = self.crowd.bounds(owner)
        mine = self.crowd.cell[self.crowd.mine(owner)]
        mine = mine[self._suppressed[mine] > 0]
        at = np.searchsorted(self._cells, mine)
        share = self._suppressed[mine]
        self._program.change_column_bounds(at, -below[mine] * share, above[mine] * share)
        found, most = 0.0, np.zeros(len(self.crowd.table))
        for sign in _ways(demand):
            more, multipliers = self._furthest(demand.cell, sign)
            found += more
            goal = np.zeros(most.size)
            goal[demand.cell] = sign
            reduced = goal - self._by_cell.T @ multipliers
            most += reach(reduced, above, below)
        self._program.change_column_bounds(at, self._lower[at], self._upper[at])
        return found, most

    def _furthest(self, cell: int, sign: float) -> tuple[float, FloatArray]:
        at = np.searchsorted(self._cells, [cell])
        self._program.change_objective(self._goal, np.zeros(self._goal.size))
        self._program.change_objective(at, np.array([-sign]))
        self._goal = at
        solution = self._program.solve()
        if not solution.optimal:
            raise RuntimeError(f"the attacker's program ended {solution.status}")
        multipliers = np.zeros(self._by_cell.shape[0])
        multipliers[self._rows] = -solution.duals
        moved = np.flatnonzero(np.abs(solution.point) > 1e-12)
        found = float(sign * solution.point[at[0]])
        if found > 0:
            kept = self._seen.setdefault((cell, sign), [])
            kept.insert(0, Seen(self._cells[moved], solution.point[moved], found))
            del kept[_KEPT:]
        return found, multipliers


def _ways(demand: Demand) -> list[float]:
    return [sign for wanted, sign in ((demand.up, 1.0), (demand.down, -1.0)) if wanted]
