"""Solves attacks: linear programs for the range of a cell, preceded by stored deviations."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.programs import LinearModel
from linkrisk.formulations.tables.attacks_in_turn import Attacked, Reach, in_turn
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.formulations.tables.primal_simplex import Relations, State, begin
from linkrisk.formulations.tables.reach import reach
from linkrisk.solver.backends.linear.base import LinearOptions, LinearProgram, linear_program
from linkrisk.solver.tables import steering, tolerances

_OPTIONS = LinearOptions(
    feasibility=1e-9,
    optimality=1e-9,
    # Only the objective changes between attacks, and all coefficients are near 1.
    own={"simplex_strategy": 4, "simplex_scale_strategy": 0, "presolve": "off"},
)


_OTHER_WAYS = (_OPTIONS, LinearOptions(feasibility=1e-9, optimality=1e-9), LinearOptions())
"""Fallbacks of a failed solve: from scratch, then with scaling and presolve, at last with loose tolerances.
"""


@dataclass(frozen=True, eq=False)
class Asked:
    """Attacks to be solved in order; arrays of shape (a,)."""

    cell: LongArray
    sign: FloatArray  # up (1) or down (-1)
    enough: FloatArray  # deviation beyond which the cell need not go; inf for as far as possible
    # limit on the movement of other cells when they are fully suppressed
    within: FloatArray

    def __getitem__(self, chosen: LongArray | BoolArray | slice) -> Asked:
        return Asked(self.cell[chosen], self.sign[chosen], self.enough[chosen], self.within[chosen])

    def __len__(self) -> int:
        return int(self.cell.size)


Ended = tuple[FloatArray, FloatArray]
"""Deviations, and the multipliers of the relations."""


@dataclass(frozen=True, eq=False)
class Part:
    """Suppressed cells and their relations, cell by cell."""

    starts: LongArray
    rows: LongArray
    values: FloatArray
    below: FloatArray
    above: FloatArray
    share: FloatArray
    free: BoolArray
    relations: int

    def bounds(self, within: float) -> tuple[FloatArray, FloatArray]:
        """Return the bounds of free cells for this limit when they are fully suppressed."""
        most = np.where(self.free, within, np.inf)
        return -np.minimum(self.below, most) * self.share, np.minimum(self.above, most) * self.share


class Small:
    """Small program for our own simplex method, with an optimiser as fallback."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._inverse = np.empty((part.relations, part.relations))
        self._basis = np.empty(part.relations, dtype=np.int64)
        self._point = np.zeros(part.share.size)
        self._other: Large | None = None
        self._restart()

    def run(self, asked: Asked, stop: float) -> Iterator[Ended | None]:
        """Solve attacks one by one; yield None for one that became needless."""
        part = self._part
        relations = Relations(part.starts, part.rows, part.values)
        reach = Reach(part.below, part.above, part.share, part.free)
        up, down = np.zeros((2, part.share.size))
        at_once = max(1, steering.DEVIATIONS_AT_ONCE // (part.share.size + part.relations))
        while len(asked):
            some = asked[:at_once]
            points = np.empty((len(some), part.share.size))
            multipliers = np.empty((len(some), part.relations))
            needless = np.zeros(len(some), dtype=np.bool_)
            which = (some.cell, some.sign, some.enough, some.within)
            state = State(self._inverse, self._basis, self._point)
            ends = Attacked(points, multipliers, needless)
            done = in_turn(relations, reach, state, (up, down), which, stop, tolerances.RESIDUAL, ends)
            for number in range(done):
                yield None if needless[number] else (points[number], multipliers[number])
            if done and not needless[done - 1] and _short(points[done - 1], some, done - 1, stop):
                return
            asked = asked[done:]
            if done < len(some):  # the next one failed
                self._restart()
                self._other = self._other or Large(part)
                found = self._other.one(asked, 0)
                yield found
                if _short(found[0], asked, 0, stop):
                    return
                asked = asked[1:]

    def _restart(self) -> None:
        part = self._part
        room = np.minimum(part.above, part.below) * part.share
        begin(Relations(part.starts, part.rows, part.values), np.argsort(-room), self._inverse, self._basis)
        self._point[:] = 0.0


class Large:
    """Large program, solved by an optimiser."""

    def __init__(self, part: Part) -> None:
        cells = part.share.size
        self._part, self._within = part, np.inf
        self._program = self._handed_over(_OPTIONS)
        self._goal = np.zeros(0, dtype=np.int64)
        self._point, self._none = np.zeros(cells), np.zeros(part.relations)

    def _handed_over(self, options: LinearOptions) -> LinearProgram:
        part, none = self._part, np.zeros(self._part.relations)
        by_cell = sparse.csc_array(
            (part.values, part.rows, part.starts), shape=(part.relations, part.share.size)
        )
        lower, upper = part.bounds(self._within)
        model = LinearModel(
            objective=np.zeros(part.share.size),
            matrix=sparse.csr_array(by_cell),
            row_lower=none,
            row_upper=none,
            column_lower=lower,
            column_upper=upper,
        )
        return linear_program(model, options)

    def run(self, asked: Asked, stop: float) -> Iterator[Ended | None]:
        """Solve attacks one by one; yield None for one that became needless."""
        for number in range(len(asked)):
            yield self.one(asked, number)
            if _short(self._point, asked, number, stop):
                return

    def one(self, asked: Asked, number: int) -> Ended:
        """Solve one of the attacks."""
        self._bound(float(asked.within[number]))
        goal, sign = int(asked.cell[number]), float(asked.sign[number])
        return self._furthest(goal, sign, float(asked.enough[number]))

    def _bound(self, within: float) -> None:
        if within != self._within:
            self._within = within
            self._point = np.zeros(self._part.share.size)
            self._program.change_column_bounds(np.arange(self._point.size), *self._part.bounds(within))

    def _furthest(self, at: int, sign: float, enough: float) -> Ended:
        if sign * self._point[at] >= enough:
            return self._point, self._none
        self._program.change_objective(self._goal, np.zeros(self._goal.size))
        self._goal = np.array([at])
        self._program.change_objective(self._goal, np.array([-sign]))
        most = max(steering.FEWEST_ITERATIONS, steering.ITERATIONS_PER_RELATION * self._part.relations)
        solution = self._program.solve(iterations=most)
        for options in _OTHER_WAYS:
            if solution.optimal:
                break
            self._program = self._handed_over(options)  # not to move is feasible: the optimiser failed
            self._program.change_objective(self._goal, np.array([-sign]))
            solution = self._program.solve(iterations=None if options is _OTHER_WAYS[-1] else most)
        if not solution.optimal:
            raise RuntimeError(f"the attacker's program ended {solution.status}")
        self._point = solution.point
        return self._point, -solution.duals


def _short(point: FloatArray, asked: Asked, number: int, stop: float) -> bool:
    """Tell whether an attack falls short of its limit, if it has one."""
    enough = float(asked.enough[number])
    return bool(enough < np.inf and asked.sign[number] * point[asked.cell[number]] < stop * enough)


@dataclass(frozen=True, eq=False)
class Attack:
    """Range of a cell in one direction, given what an attacker knows."""

    found: float  # lower bound up to the tolerance of the optimiser, from the deviations found
    cells: LongArray  # (k,) the cells suppressed at least in part
    deviations: FloatArray  # (k,) theirs
    goal: int
    sign: float
    rows: LongArray  # (m,) the relations of these cells
    multipliers: FloatArray  # (m,) theirs


class Attacker:
    """Solves attacks on a pattern, integral or fractional.

    Its program holds the suppressed cells and their relations only: published cells cannot move.
    """

    def __init__(self, table: CellTable) -> None:
        self._table = table
        self._by_cell = sparse.csc_array(table.relations)
        self._transposed = self._by_cell.T
        self._above, self._below, self._free = table.above, table.below, table.free

    def knows(self, suppressed: FloatArray) -> None:
        """Set the pattern, shape (n,)."""
        self._cells = cells = np.flatnonzero(suppressed)
        counts = np.diff(self._by_cell.indptr)[cells]
        starts = np.concatenate([[0], np.cumsum(counts)])
        entries = np.repeat(self._by_cell.indptr[cells] - starts[:-1], counts) + np.arange(starts[-1])
        inside = self._by_cell.indices[entries]
        there = np.zeros(self._by_cell.shape[0], dtype=np.bool_)
        there[inside] = True
        self._rows = np.flatnonzero(there)
        place = np.cumsum(there) - 1
        program = Small if self._rows.size <= steering.OWN_SIMPLEX_RELATIONS else Large
        self._program: Small | Large = program(
            Part(
                starts.astype(np.int64),
                place[inside],
                self._by_cell.data[entries].astype(np.float64),
                self._below[cells],
                self._above[cells],
                suppressed[cells],
                self._free[cells],
                self._rows.size,
            )
        )

    def attacks(self, asked: Asked, stop: float = 0.0) -> Iterator[Attack | None]:
        """Yield attacks as far as possible or required; None if an earlier one moved the cell far enough.

        `stop`: the first attack below this share of its limit is the last. Raises RuntimeError if the
        optimiser fails.
        """
        at = np.searchsorted(self._cells, asked.cell)
        local = Asked(at, asked.sign, asked.enough, asked.within)
        for number, ended in enumerate(self._program.run(local, stop)):
            if ended is None:
                yield None
                continue
            point, multipliers = ended
            cell, sign = int(asked.cell[number]), float(asked.sign[number])
            found = float(sign * point[at[number]])
            yield Attack(found, self._cells, point, cell, sign, self._rows, multipliers)

    def attack(self, cell: int, sign: float, enough: float = np.inf, within: float = np.inf) -> Attack:
        """Solve one attack."""
        given = (np.array([one]) for one in (sign, enough, within))
        found = next(self.attacks(Asked(np.array([cell]), *given)))
        if found is None:
            raise AssertionError("an attack that is the first is made")
        return found

    def most(self, attack: Attack) -> FloatArray:
        """Bound the contribution of each suppressed cell, shape (n,) (see `formulations.tables.reach`)."""
        multipliers = np.zeros(self._by_cell.shape[0])
        multipliers[attack.rows] = attack.multipliers
        goal = np.zeros(len(self._table))
        goal[attack.goal] = attack.sign
        return reach(goal - self._transposed @ multipliers, self._above, self._below)


def signs_of(demand: Demand) -> list[float]:
    """Return the directions of a demand: up, down, or both, whose sum counts."""
    return [sign for wanted, sign in ((demand.up, 1.0), (demand.down, -1.0)) if wanted]


class Seen:
    """Stores deviations d with ``M d = 0``; their multiples within the bounds are feasible, too.

    `most`: number of deviations kept, the latest, one for each attack. `asked` (n,): the cells whose reach is
    wanted; all by default.
    """

    def __init__(self, table: CellTable, most: int = 300, asked: BoolArray | None = None) -> None:
        self._most = most
        self._asked = np.ones(len(table), dtype=np.bool_) if asked is None else asked
        self._above, self._below, self._free = table.above, table.below, table.free
        self._found: dict[Hashable, tuple[LongArray, FloatArray, float]] = {}
        self._stale = True

    def add(self, attack: Hashable, cells: LongArray, deviations: FloatArray, within: float = np.inf) -> None:
        """Store the deviations of some cells by attack; all other cells stay.

        `cells` (k,). `deviations` (k,). `within`: limit on the movement of cells that are not sensitive when
        they are fully suppressed.
        """
        size = np.abs(deviations)
        moves = size > tolerances.STILL * size.max(initial=0.0)
        if moves.any():
            self._found.pop(attack, None)
            self._found[attack] = cells[moves], deviations[moves], within
            if len(self._found) > self._most:
                del self._found[next(iter(self._found))]
            self._stale = True

    def reach(self, suppressed: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return lower bounds on how far each wanted cell goes up and down in a pattern, shape (n,) each."""
        up, down = np.zeros(suppressed.size), np.zeros(suppressed.size)
        if not self._found:
            return up, down
        if self._stale:
            self._cells = np.concatenate([cells for cells, _, _ in self._found.values()])
            self._moves = np.concatenate([moves for _, moves, _ in self._found.values()])
            sizes = [cells.size for cells, _, _ in self._found.values()]
            self._starts = np.concatenate([[0], np.cumsum(sizes[:-1])]).astype(np.int64)
            self._whose = np.repeat(np.arange(len(sizes)), sizes)
            self._told = np.flatnonzero(self._asked[self._cells])
            told = self._moves[self._told]
            self._up, self._down = np.maximum(told, 0.0), np.maximum(-told, 0.0)
            size = np.abs(self._moves)
            there, other = self._moves > 0, self._cells
            most = np.repeat([within for _, _, within in self._found.values()], sizes)
            most = np.where(self._free[other], most, np.inf)
            above, below = np.minimum(self._above[other], most), np.minimum(self._below[other], most)
            self._forth = np.where(there, above, below) / size
            self._back = np.where(there, below, above) / size
            self._mine, self._of = self._cells[self._told], self._whose[self._told]
            self._stale = False
        share = suppressed[self._cells]
        cells, whose = self._mine, self._of
        forth = np.minimum.reduceat(self._forth * share, self._starts)[whose]
        back = np.minimum.reduceat(self._back * share, self._starts)[whose]
        np.maximum.at(up, cells, np.maximum(forth * self._up, back * self._down))
        np.maximum.at(down, cells, np.maximum(forth * self._down, back * self._up))
        return up, down
