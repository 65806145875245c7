"""Repairs a pattern: demands that are open over all relations are met by the cheapest more cells.

A movement is a vector of deviations that all relations allow; where it moves only suppressed cells, and none
beyond its bounds, it proves the demand of every cell that it moves by its level: a witness. One linear
program looks for a movement that does so for as many cells as it can, and a second one for the movement that
does the same by suppressing the cheapest cells (Kelly, Golden and Assad 1992, for one cell at a time).

Cells that may move can be any part of the table: all others stay where they are, which is a movement, too.

Demands of one attacker are met many together first, then one by one. What a movement moves is suppressed, and
costs nothing from then on. A pattern only grows, so that what is met stays met. One by one, cells near by may
move first, then those farther away, at last all.

Thinning comes after the repair: the same demands are met once more, by cells of the pattern only. What is not
needed this time is published. Every time the order is another one, so that a pattern gets cheaper and
cheaper; it protects at any time. Both take any attackers, each as a view of the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.programs import LinearModel
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.formulations.tables.witnesses import Witness
from linkrisk.solver.backends.linear.base import LinearOptions, linear_program, solved_by
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.attackers.demands import unmet

_MOVED = 1e-9
"""What is moved by less than this share of the smallest level is not moved."""

_MET = 1e-6
"""By how much of its level a cell may be short and still be moved by it."""

_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Needs:
    """What has to move: cells, which way, and how far; arrays of shape (k,)."""

    cell: LongArray
    sign: FloatArray  # 1 for up, -1 for down
    level: FloatArray  # above 0

    def __len__(self) -> int:
        return int(self.cell.size)

    def __getitem__(self, chosen: LongArray | BoolArray) -> Needs:
        return Needs(self.cell[chosen], self.sign[chosen], self.level[chosen])

    def met_by(self, deviations: FloatArray) -> BoolArray:
        """Which of them a movement, shape (n,), meets."""
        return np.asarray(self.sign * deviations[self.cell] >= self.level * (1.0 - _MET), dtype=np.bool_)

    @classmethod
    def of(cls, demands: Sequence[Demand], most_up: FloatArray) -> Needs:
        """Those of some demands; a sliding one is met by a way up and a way down together.

        Parameters
        ----------
        demands : sequence of Demand
        most_up : ndarray of float64, shape (n,)
            How far each cell can go up at all, of which sliding demands take as much as they can.
        """
        found: list[tuple[int, float, float]] = []
        for demand in demands:
            level, cell = demand.level, demand.cell
            up = min(level, float(most_up[cell])) if demand.up and demand.down else level * demand.up
            found += [(cell, 1.0, up)] if up > 0 else []
            found += [(cell, -1.0, level - up)] if demand.down and level > up else []
        cell_, sign, levels = zip(*found, strict=True) if found else ((), (), ())
        return cls(np.array(cell_, dtype=np.int64), np.array(sign, float), np.array(levels, float))


class Movements:
    """Movements of some cells of a table as one attacker sees it."""

    def __init__(self, view: CellTable) -> None:
        self._view = view
        self._by_cell = sparse.csc_array(view.relations)
        self._by_relation = sparse.csr_array(view.relations)

    def around(self, cell: int, steps: int) -> LongArray:
        """Cells that some relations in a row lead to, from a cell; fixed ones are no way."""
        known, edge = np.zeros(len(self._view), dtype=np.bool_), np.array([cell])
        known[cell] = True
        for _ in range(steps):
            rows = np.unique(self._by_cell[:, edge].indices)
            cells = np.unique(self._by_relation[rows].indices)
            edge = cells[~known[cells] & ~self._view.fixed[cells]]
            known[edge] = True
        return np.flatnonzero(known)

    def most(
        self,
        moving: LongArray,
        needs: Needs,
        suppressed: BoolArray,
        cost: FloatArray,
        clock: Clock,
    ) -> FloatArray | None:
        """The movement that meets as many needs as it can, at the least cost of cells not yet suppressed.

        `moving` (c,): cells that may move, those of the needs among them. `needs`: at most one for each cell.
        `suppressed` (n,): those that move at no cost; when none else may move, cost is not looked at. `cost`
        (n,). Returns (n,): None where no optimiser found one in time.
        """
        program = _Program(self._view, self._by_cell, moving, needs, suppressed)
        found = program.farthest(clock)
        if found is not None and not suppressed[moving].all():
            found = program.cheapest(found, cost, clock)
        return None if found is None else program.deviations(found)

    def cheapest(
        self, moving: LongArray, needs: Needs, suppressed: BoolArray, cost: FloatArray, clock: Clock
    ) -> FloatArray | None:
        """The movement that meets all needs at the least cost; None where none does, or the clock is out."""
        program = _Program(self._view, self._by_cell, moving, needs, suppressed)
        found = program.cheapest(None, cost, clock)
        return None if found is None else program.deviations(found)


class _Program:
    """The program of both: columns for suppressed cells, for others up and down, and the needs met."""

    def __init__(
        self,
        view: CellTable,
        by_cell: sparse.csc_array,
        moving: LongArray,
        needs: Needs,
        suppressed: BoolArray,
    ) -> None:
        self._view, self._moving, self._needs = view, moving, needs
        place = np.full(len(view), -1)
        place[moving] = np.arange(moving.size)
        self._wanted = place[needs.cell]
        hidden = suppressed[moving]
        hidden[self._wanted] = True
        self._plain, self._split = np.flatnonzero(hidden), np.flatnonzero(~hidden)
        part = by_cell[:, moving]
        rows = np.unique(part.indices)
        part = sparse.csc_array(sparse.csr_array(part)[rows])
        lower, upper = -view.below[moving], view.above[moving]
        lower, upper = self._rest(lower, upper)
        target = part[:, self._wanted] @ sparse.diags_array(needs.sign * needs.level)
        split = part[:, self._split]
        matrix = sparse.csr_array(sparse.hstack([part[:, self._plain], split, -split, target], format="csr"))
        none, many = np.zeros(rows.size), len(needs)
        self._columns = matrix.shape[1]
        self._first = self._columns - many
        self._program = linear_program(
            LinearModel(
                objective=np.concatenate([np.zeros(self._first), np.full(many, -1.0)]),
                matrix=matrix,
                row_lower=none,
                row_upper=none,
                column_lower=np.concatenate([lower[self._plain], np.zeros(2 * self._split.size + many)]),
                column_upper=np.concatenate(
                    [upper[self._plain], upper[self._split], -lower[self._split], np.ones(many)]
                ),
            ),
            LinearOptions(feasibility=_TOLERANCE, optimality=_TOLERANCE, own={"presolve": "off"}),
        )

    def _rest(self, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bounds of what is left of each cell: one with a need goes its way only, and beyond its level."""
        lower, upper, at = lower.copy(), upper.copy(), self._wanted
        up, level = self._needs.sign > 0, self._needs.level
        lower[at] = np.where(up, 0.0, np.minimum(0.0, lower[at] + level))
        upper[at] = np.where(up, np.maximum(0.0, upper[at] - level), 0.0)
        return lower, upper

    def farthest(self, clock: Clock) -> FloatArray | None:
        """The point that meets most needs; None where the optimiser found none."""
        solution = solved_by(self._program, clock)
        return solution.point if solution.optimal else None

    def cheapest(self, point: FloatArray | None, cost: FloatArray, clock: Clock) -> FloatArray | None:
        """The cheapest point that meets the needs that another one meets, or all of them."""
        met = (
            np.ones(len(self._needs))
            if point is None
            else np.where(point[self._first :] >= 1.0 - _MET, 1.0, 0.0)
        )
        columns = np.arange(self._columns)
        free = cost[self._moving[self._split]]
        scale = max(float(free.max(initial=0.0)), 1e-300)
        objective = np.concatenate(
            [np.zeros(self._plain.size), free / scale, free / scale, np.zeros(met.size)]
        )
        self._program.change_objective(columns, objective)
        self._program.change_column_bounds(columns[self._first :], met, met)
        solution = solved_by(self._program, clock)
        return solution.point if solution.optimal else point

    def deviations(self, point: FloatArray) -> FloatArray:
        """Deviations of all cells, shape (n,); those that are next to nothing are 0."""
        needs, parts = self._needs, self._split.size
        local = np.zeros(self._moving.size)
        local[self._plain] = point[: self._plain.size]
        ups = point[self._plain.size : self._plain.size + parts]
        local[self._split] = ups - point[self._plain.size + parts : self._first]
        local[self._wanted] += needs.sign * needs.level * point[self._first :]
        least = float(needs.level.min(initial=1.0))
        local[np.abs(local) <= _MOVED * least] = 0.0
        found = np.zeros(len(self._view))
        found[self._moving] = local
        return found


_STEPS = (2, 4)
"""Relations in a row around a cell, before all cells may move."""

_MANY = 20
"""Needs from which they are moved together."""

_TOGETHER = 0.3
"""Of the time that is left, for moving them together."""

_ALONE = 10
"""Needs moved one by one, after which it is seen what else their cells do for."""

_ROUNDS = 20
_GAIN = 0.02
"""Rounds of moving cells together, and the share of them that one has to move for another to follow."""

Tell = Callable[[int], None]
"""Told how many needs are left."""


@dataclass(eq=False)
class Attacked:
    """The table as one attacker sees it."""

    view: CellTable
    # (n,) how far cells are known to go up when all are suppressed; of sliding demands all the way
    most_up: FloatArray
    movements: Movements = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.movements = Movements(self.view)

    def needs(self, demands: Sequence[Demand]) -> Needs:
        """What has to move for some demands."""
        return Needs.of(demands, self.most_up)


class CannotMeetError(Exception):
    """A need that no movement of the cells that may move meets.

    `need`: of one.
    """

    def __init__(self, need: Needs) -> None:
        super().__init__("no movement meets a need")
        self.need = need


@dataclass(eq=False)
class Meeting:
    """A pattern that grows until the needs of an attacker are met."""

    attacked: Attacked
    allowed: BoolArray  # (n,) cells that may be suppressed
    suppressed: BoolArray  # (n,) grows in place
    generator: np.random.Generator  # in which order cells are moved

    def run(self, needs: Needs, clock: Clock, tell: Tell) -> bool:
        """Meet all of them; False where the clock was out before that.

        Raises CannotMeetError if one cannot be met by the cells that are allowed.
        """
        if len(needs) > _MANY:
            left = clock.seconds_left
            part = clock.part(None if left is None or clock.counts else _TOGETHER * left)
            needs = self._together(self.allowed, needs, part, tell)
        alone = 0
        while len(needs) and not clock.expired:
            tell(len(needs))
            at = int(np.argmax(needs.level))
            moved = self._one(needs[np.array([at])], clock)
            if moved is None:
                break
            met = self._take(needs, moved)
            met[at], alone = True, alone + 1
            needs = needs[~met]
            if len(needs) > _MANY and not alone % _ALONE:  # what was suppressed may do for others
                needs = self._together(self.allowed & self.suppressed, needs, clock, tell)
        return not len(needs)

    def _together(self, allowed: BoolArray, needs: Needs, clock: Clock, tell: Tell) -> Needs:
        """Those that are left after some rounds of moving many cells at once."""
        for _ in range(_ROUNDS):
            tell(len(needs))
            order = self.generator.permutation(len(needs))
            batch = needs[order[np.unique(needs.cell[order], return_index=True)[1]]]
            moved = self.attacked.movements.most(
                np.flatnonzero(allowed), batch, self.suppressed, self.attacked.view.cost, clock
            )
            if moved is None or clock.expired:
                break
            met = self._take(needs, moved)
            needs = needs[~met]
            if len(needs) <= _MANY or met.sum() < _GAIN * len(batch):
                break
        return needs

    def _one(self, need: Needs, clock: Clock) -> FloatArray | None:
        """The cheapest movement that meets one need, the nearer the better; None where the clock is out."""
        for moving in self._nearer(int(need.cell[0])):
            moved = self.attacked.movements.cheapest(
                moving, need, self.suppressed, self.attacked.view.cost, clock
            )
            if moved is not None or clock.expired:
                return moved
        raise CannotMeetError(need)

    def _nearer(self, cell: int) -> Iterator[LongArray]:
        for steps in _STEPS:
            near = self.attacked.movements.around(cell, steps)
            yield near[self.allowed[near]]
        yield np.flatnonzero(self.allowed)

    def _take(self, needs: Needs, moved: FloatArray) -> BoolArray:
        """Suppress what moved; which needs it meets, turned round and made smaller, too."""
        self.suppressed |= moved != 0
        view = self.attacked.view
        at = np.flatnonzero(moved)
        room = np.where(moved[at] > 0, view.below[at], view.above[at]) / np.abs(moved[at])
        part = min(1.0, float(room.min(initial=1.0)))
        return needs.met_by(moved) | needs.met_by(-part * moved)


_LIKELY, _FINE = 0.9, 0.01
"""Share of the cells that is tried first, and that a number of them is found to."""


def repaired(
    attackers: Sequence[Attacked],
    pattern: BoolArray,
    clock: Clock,
    tell: Tell,
    known: Sequence[Witness] = (),
) -> tuple[BoolArray, int, bool]:
    """A pattern with more cells, such that no attacker finds out too much; and how many demands were open.

    `attackers`: the outsider first. `pattern` (n,). `tell`: told how many demands are open. `known`:
    movements that may meet some of them. Returns shape (n,). Returns: False where the clock was out before
    all demands were met: those that were met stay so. Raises CannotMeetError if a demand cannot be met,
    whatever is suppressed.
    """
    suppressed, opened, generator = pattern.copy(), 0, np.random.default_rng(0)
    for attacked in attackers:
        found = unmet(attacked.view, suppressed, clock, known=known)
        left = [*found.unmet, *found.undecided]
        opened += len(left)
        meeting = Meeting(attacked, ~attacked.view.fixed, suppressed, generator)
        if not meeting.run(attacked.needs(left), clock, tell):
            return suppressed, opened, False
    return suppressed, opened, True


def cheapest_that_do(table: CellTable, attackers: Sequence[Attacked], clock: Clock) -> BoolArray:
    """The sensitive cells and the cheapest others, as few as are seen to do, shape (n,).

    Of a table that nothing better was found for in time: its dearest cells are most of its cost. How many
    others there are is halved between too few and enough, as long as the clock has time for it; most of them
    are tried first, which nearly always do.

    `table`: of which all cells together do.
    """
    others = np.flatnonzero(table.free & ~table.fixed)
    order = others[np.argsort(table.cost[others], kind="stable")]
    few, enough, best = 0, order.size, np.asarray(~table.fixed, dtype=np.bool_)
    many = int(_LIKELY * order.size)
    while enough - few > max(1.0, _FINE * order.size) and not clock.expired:
        pattern = table.primary.copy()
        pattern[order[:many]] = True
        if all(unmet(one.view, pattern, clock).all for one in attackers):
            enough, best = many, pattern
        else:
            few = many
        many = (few + enough) // 2
    return best


@dataclass(eq=False)
class Thinning:
    """A pattern that protects, made cheaper."""

    attackers: Sequence[Attacked]
    suppressed: BoolArray  # (n,)
    _demands: list[tuple[Demand, ...]] = field(default_factory=list, init=False)

    def run(self, table: CellTable, clock: Clock, tell: Tell, most_rounds: int, patience: int) -> int:
        """Meet all demands again and again; how many cells are published in the end that were not.

        `table`: whose costs count. `tell`: told how many demands are still to be met in this round.
        `patience`: rounds without gain after which it ends.
        """
        if clock.expired:
            return 0
        for attacked in self.attackers:
            alone = unmet(attacked.view, attacked.view.primary, clock)
            self._demands.append((*alone.unmet, *alone.undecided))
        generator, idle, before = np.random.default_rng(1), 0, int(self.suppressed.sum())
        for _ in range(most_rounds):
            if idle >= patience or clock.expired:
                break
            other = self._again(table, clock, tell, generator)
            if other is not None and table.cost_of(other) < table.cost_of(self.suppressed):
                self.suppressed, idle = other, 0
            else:
                idle += 1
        return before - int(self.suppressed.sum())

    def _again(
        self, table: CellTable, clock: Clock, tell: Tell, generator: np.random.Generator
    ) -> BoolArray | None:
        """The cells of the pattern that are needed this time; None where the clock was out."""
        needed = table.primary.copy()
        for attacked, demands in zip(self.attackers, self._demands, strict=True):
            meeting = Meeting(attacked, self.suppressed & ~attacked.view.fixed, needed, generator)
            try:
                if not meeting.run(attacked.needs(demands), clock, tell):
                    return None
            except CannotMeetError:  # by less than an optimiser can tell: this round is none
                return None
        return needed
