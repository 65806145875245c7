"""Solves integral attacks on tables of counts: integer programs for the range of a cell.

Each cell has one column per direction, with its own cost. A linear program is solved first with a warm start;
if its vertex is integral, as always in tables of two variables, it is the answer. Otherwise the same program
is solved as an integer program.

Each demand needs an integral witness (`IntegerWitnesses`). Stored witnesses are tried against all attackers
first. For the attackers left, one program over the connected piece of the cell is solved within the bounds
that all of them accept; if it is infeasible, the group is bisected. Its solution is recomputed before it
counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.programs import LinearModel, MilpModel
from linkrisk.formulations.tables.attacker_knowledge import OUTSIDER, AttackerKnowledge
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.formulations.tables.integer_witnesses import IntegerWitnesses, Onlooking, Reached, Whole
from linkrisk.solver.backends.base import SolveOptions
from linkrisk.solver.backends.linear.base import LinearOptions, LinearStatus, linear_program, solved_by
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.run.clock import Clock, Status
from linkrisk.solver.tables import steering, tolerances
from linkrisk.solver.tables.attackers.demands import Met, unmet
from linkrisk.solver.tables.attackers.insider_attacks import OutOfTimeError, Unmet


class IntegerProgram:
    """Finds the cheapest deviations in a connected piece by integer programming.

    `cells` (k,). `matrix` (m, k): their coefficients in all relations.
    """

    def __init__(self, cells: LongArray, matrix: sparse.csc_array) -> None:
        self.cells = cells
        rows = np.unique(matrix.indices)
        part = sparse.csr_array(matrix)[rows]
        self._matrix = sparse.csr_array(sparse.hstack([part, -part], format="csr"))
        self._none = np.zeros(rows.size)
        columns = 2 * cells.size
        self._goal, self._lower, self._upper = np.zeros((3, columns))
        self._linear = linear_program(
            LinearModel(
                objective=self._goal,
                matrix=self._matrix,
                row_lower=self._none,
                row_upper=self._none,
                column_lower=self._lower,
                column_upper=self._upper,
            ),
            LinearOptions(feasibility=1e-9, optimality=1e-9),
        )

    def cheapest(
        self, goal: FloatArray, lower: FloatArray, upper: FloatArray, clock: Clock, gap: float = 0.0
    ) -> FloatArray | None:
        """Return integral deviations of least goal, shape (k,); None if there are none.

        `goal`, `lower`, `upper` (2 k,): of the directions up, then down; bounds are integral. `gap`: relative
        optimality gap. Raises OutOfTimeError if the clock expires first.
        """
        found = self.vertex(goal, lower, upper, clock)
        if found is None or (np.abs(found - np.round(found)) <= tolerances.ROUNDED).all():
            return None if found is None else np.round(found)
        return self._in_whole_numbers(goal, lower, upper, clock, gap)

    def vertex(
        self, goal: FloatArray, lower: FloatArray, upper: FloatArray, clock: Clock
    ) -> FloatArray | None:
        """Solve the linear relaxation: deviations of least goal, shape (k,); None if infeasible.

        Raises OutOfTimeError if the clock expires first.
        """
        if clock.expired:
            raise OutOfTimeError
        others = np.flatnonzero((lower != self._lower) | (upper != self._upper))
        self._linear.change_column_bounds(others, lower[others], upper[others])
        changed = np.flatnonzero(goal != self._goal)
        self._linear.change_objective(changed, goal[changed])
        self._goal, self._lower, self._upper = goal, lower, upper
        solution = solved_by(self._linear, clock)
        if solution.status is LinearStatus.INFEASIBLE:
            return None
        if not solution.optimal:
            raise OutOfTimeError
        half = self.cells.size
        return np.asarray(solution.point[:half] - solution.point[half:], dtype=np.float64)

    def _in_whole_numbers(
        self, goal: FloatArray, lower: FloatArray, upper: FloatArray, clock: Clock, gap: float
    ) -> FloatArray | None:
        left = clock.seconds_left
        model = MilpModel(
            objective=goal,
            matrix=self._matrix,
            row_lower=self._none,
            row_upper=self._none,
            column_lower=lower,
            column_upper=upper,
            integer=np.ones(goal.size, dtype=np.bool_),
        )
        options = SolveOptions(
            time_limit=steering.INTEGER_ATTACK_SECONDS
            if left is None
            else min(left, steering.INTEGER_ATTACK_SECONDS),
            relative_gap=gap,
        )
        found = get_backend("highs").solve(model, options, watch=lambda _: clock.expired)
        if found.status is Status.INFEASIBLE:
            return None
        if found.status is not Status.OPTIMAL or found.values is None:
            raise OutOfTimeError
        half = self.cells.size
        return np.round(found.values[:half] - found.values[half:])


_NOT_YET: IntegerProgram | None = None

Bounds = tuple[FloatArray, FloatArray]
"""How far below and above their values cells can be, shape (n,) each."""


class IntegerAttacks:
    """Decides integral attacks of the outsider and all insiders of a table.

    `clock`: when it has expired, undecided questions raise `OutOfTimeError`.
    """

    def __init__(self, table: CellTable, clock: Clock | None = None) -> None:
        self.table, self.clock = table, clock or Clock(None)
        self.knowledge = AttackerKnowledge.of(table)
        self.seen = IntegerWitnesses(self.knowledge)
        self._everybody = self.knowledge.within(np.ones(len(table)))
        self._relations = sparse.csr_array(table.relations)
        self._by_cell = sparse.csc_array(table.relations)
        self._parts: tuple[bytes, LongArray] | None = None
        self._programs: dict[tuple[bytes, int], IntegerProgram] = {}
        self._open, self._at_once = np.flatnonzero(~table.fixed), _NOT_YET
        self._order = list(table.demands)
        self._levels: dict[Demand, FloatArray] = {}
        self._covers: dict[Demand, tuple[int, ...]] = {}
        self._first: dict[Demand, int] = {}

    def __getstate__(self) -> dict[str, object]:
        """Drop the programs of the optimiser and the clock, which belong to this process."""
        return {**self.__dict__, "clock": Clock(None), "_programs": {}, "_at_once": _NOT_YET}

    # ---- unmet demands of a pattern

    def levels(self, demand: Demand) -> FloatArray:
        """Return the level required against each attacker, rounded to integers, shape (m,)."""
        found = self._levels.get(demand)
        if found is None:
            found = np.floor(self.knowledge.levels(demand))
            found[OUTSIDER] = demand.level
            if len(self._levels) * found.size < steering.LEVELS_KEPT:
                self._levels[demand] = found
        return found

    def holds(self, suppressed: BoolArray) -> bool:
        """Tell whether a pattern protects against all attackers; the last unmet demand is tested first."""
        onlooking = self.before(suppressed)
        for at, demand in enumerate(self._order):
            levels = self.levels(demand)
            group = onlooking.open(demand, levels)
            if group.size and next(self.unmet_by(group, demand, levels, suppressed), None) is not None:
                self._order.insert(0, self._order.pop(at))
                return False
        return True

    def before(self, suppressed: BoolArray) -> Onlooking:
        """Return the state of all attackers for a pattern, shape (n,)."""
        return Onlooking(self.seen, suppressed, self._covers)

    def unmet(self, suppressed: BoolArray) -> Iterator[tuple[int, Demand]]:
        """Yield the unmet demands of a pattern with their attackers."""
        for group, demand, levels in self.unseen(suppressed):
            for owner in self.unmet_by(group, demand, levels, suppressed):
                yield owner, of_level(demand, levels[owner])

    def unseen(self, suppressed: BoolArray) -> Iterator[tuple[LongArray, Demand, FloatArray]]:
        """Yield demands that no stored witness meets, with their attackers and levels."""
        onlooking = self.before(suppressed)
        for demand in list(self._order):
            levels = self.levels(demand)
            group = onlooking.open(demand, levels)
            if group.size:
                yield group, demand, levels

    def unmet_by(
        self, group: LongArray, demand: Demand, levels: FloatArray, suppressed: BoolArray
    ) -> Iterator[int]:
        """Yield the attackers of a group against whom a demand does not hold."""
        if not suppressed[demand.cell]:
            yield from group.tolist()
            return
        for owners, found in self.settled(group, demand, levels, suppressed, np.ones(len(self.table))):
            if found is None:
                self._first[demand] = owners[0]
                yield owners[0]

    def settled(
        self, group: LongArray, demand: Demand, levels: FloatArray, allowed: BoolArray, cost: FloatArray
    ) -> Iterator[tuple[list[int], list[Whole] | None]]:
        """Find integral witnesses of a demand for groups of attackers, as large as possible.

        Yields: attackers. Yields: their common witnesses, or None for one attacker without any. Raises
        OutOfTimeError if the clock expires first.
        """
        reached, first = Reached(demand, levels), self._first.get(demand)
        groups = [group]
        if first is not None and group.size > 1 and first in group:  # attacker against whom it failed before
            groups = [group[group != first], np.array([first])]
        while groups:
            group = np.intersect1d(groups.pop(), reached.open, assume_unique=True)
            if not group.size:
                continue
            found = self._together(group, demand, levels, allowed, cost)
            if found is None and group.size > 1:
                half = group.size // 2
                groups += [group[half:], group[:half]]
                continue
            yield group.tolist(), found
            for one in found or []:
                reached.by(one)

    def _together(
        self, group: LongArray, demand: Demand, levels: FloatArray, allowed: BoolArray, cost: FloatArray
    ) -> list[Whole] | None:
        """Find witnesses for a whole group; None if there are none, or if many attackers take too long."""
        if self.clock.expired:
            raise OutOfTimeError
        wanted = of_level(demand, float(levels[group].max()))
        if group.size == 1:
            return self.cheapest(int(group[0]), wanted, allowed, cost)
        try:
            part = self.clock.part(min(steering.MANY_ATTACKERS_SECONDS, self.clock.time_left))
            return self._cheapest(self._everybody.together(group), wanted, allowed, cost, part)
        except OutOfTimeError:
            if self.clock.expired:
                raise
            return None

    def cheapest(
        self, owner: int, demand: Demand, allowed: BoolArray, cost: FloatArray
    ) -> list[Whole] | None:
        """Find the cheapest integral witness of a demand against an attacker.

        `allowed` (n,): cells that may move. `cost` (n,): per unit of movement. Returns: one; for a sliding
        demand one up and one down; None if there are none. Raises OutOfTimeError if the clock expires first.
        """
        if self.clock.expired:
            raise OutOfTimeError
        return self._cheapest(self.knowledge.bounds(owner), demand, allowed, cost, self.clock)

    def _cheapest(
        self, bounds: Bounds, demand: Demand, allowed: BoolArray, cost: FloatArray, clock: Clock
    ) -> list[Whole] | None:
        if demand.up and demand.down:
            up = self._furthest(bounds, demand.cell, 1, allowed, demand.level, clock)
            parts = [(1, up), (-1, demand.level - up)]
        else:
            parts = [(1 if demand.up else -1, demand.level)]
        found = []
        for sign, level in parts:
            if level > 0:
                one = self._moved(bounds, demand.cell, sign, level, allowed, cost, clock)
                if one is None:
                    return None
                found.append(one)
        return found

    def furthest(self, owner: int, cell: int, sign: int, allowed: BoolArray, most: float = np.inf) -> float:
        """Maximise the integral movement of a cell in one direction, up to `most`.

        Raises OutOfTimeError if the clock expires first.
        """
        if self.clock.expired:
            raise OutOfTimeError
        return self._furthest(self.knowledge.bounds(owner), cell, sign, allowed, most, self.clock)

    def _furthest(
        self, bounds: Bounds, cell: int, sign: int, allowed: BoolArray, most: float, clock: Clock
    ) -> float:
        program = self._program(allowed, cell)
        goal = np.zeros(2 * program.cells.size)
        lower, upper, way = _ways(bounds, allowed, program.cells, cell, sign)
        goal[way], upper[way] = -1.0, min(upper[way], most)
        moved = program.cheapest(goal, lower, upper, clock)
        if moved is None:
            raise OutOfTimeError  # not to move is feasible: the optimiser failed
        self._add(program.cells, moved)
        return max(float(sign * moved[program.cells == cell].sum()), 0.0)

    def reached(self, owner: int, demand: Demand, allowed: BoolArray) -> float:
        """Return how far a cell goes in the directions of a demand, up to its level.

        Raises OutOfTimeError if the clock expires first.
        """
        found = 0.0
        for sign, asked in ((1, demand.up), (-1, demand.down)):
            if asked:
                found += self.furthest(owner, demand.cell, sign, allowed, demand.level - found)
        return found

    def in_fractions(self, suppressed: BoolArray) -> Met:
        """Decide fractional attacks on a pattern in a share of the time; store integral deviations."""
        part = self.clock.part_of_left(steering.FRACTIONAL_SHARE)
        found = unmet(replace(self.table, insiders=()), suppressed, part)
        for one in found.witnesses:
            self.seen.add(one.cells, np.round(one.deviations))
        return found

    def move_many(self, suppressed: BoolArray) -> None:
        """Move all cells of a pattern at random, to find witnesses for many of them.

        For a large pattern, use the integral deviations of fractional attacks.
        """
        if suppressed.sum() > steering.ONE_PROGRAM_CELLS:
            self.in_fractions(suppressed)
            return
        generator = np.random.default_rng(0)
        labels = self._labels(suppressed)
        parts = np.flatnonzero(suppressed)
        for cell in parts[np.unique(labels[parts], return_index=True)[1]].tolist():
            program = self._program_of_part(suppressed, cell)
            upper = np.concatenate([side[program.cells] for side in self.knowledge.bounds(OUTSIDER)][::-1])
            lower = np.zeros(upper.size)
            for _ in range(steering.RANDOM_ROUNDS):
                size = program.cells.size
                goal = generator.uniform(0.5, 1.0, size) * generator.choice([-1.0, 1.0], size)
                try:
                    moved = program.vertex(np.concatenate([goal, -goal]), lower, upper, self.clock)
                except OutOfTimeError:
                    return
                if moved is not None:
                    self.seen.add(program.cells, np.round(moved))

    def _moved(
        self,
        bounds: Bounds,
        cell: int,
        sign: int,
        level: float,
        allowed: BoolArray,
        cost: FloatArray,
        clock: Clock,
    ) -> Whole | None:
        """Return the cheapest integral deviations that move a cell at least so far."""
        program = self._program(allowed, cell)
        lower, upper, way = _ways(bounds, allowed, program.cells, cell, sign)
        if upper[way] < level:
            return None
        lower[way] = level
        goal = np.concatenate([cost[program.cells], cost[program.cells]])
        moved = program.cheapest(goal, lower, upper, clock, gap=steering.ANY_WITNESS_GAP)
        return None if moved is None else self._add(program.cells, moved)

    def _add(self, cells: LongArray, moved: FloatArray) -> Whole:
        found = self.seen.add(cells, moved)
        if found is None:
            raise OutOfTimeError  # the optimiser's error is too large for rounding: undecided
        return found

    def _program(self, allowed: BoolArray, cell: int) -> IntegerProgram:
        """Return a program of the cell's connected piece, possibly with other cells."""
        if self._open.size > steering.ONE_PROGRAM_CELLS or (allowed & self.table.fixed).any():
            return self._program_of_part(allowed, cell)
        if self._at_once is None:
            self._at_once = IntegerProgram(self._open, self._by_cell[:, self._open])
        return self._at_once

    def _program_of_part(self, allowed: BoolArray, cell: int) -> IntegerProgram:
        """Return the program of the cell's connected piece."""
        labels = self._labels(allowed)
        key = (self._parts[0] if self._parts else b"", int(labels[cell]))
        if key not in self._programs:
            cells = np.flatnonzero(allowed & (labels == labels[cell]))
            if len(self._programs) >= steering.PROGRAMS_KEPT:
                del self._programs[next(iter(self._programs))]
            self._programs[key] = IntegerProgram(cells, self._by_cell[:, cells])
        return self._programs[key]

    def _labels(self, allowed: BoolArray) -> LongArray:
        """Label the connected pieces of cells that may move, shape (n,)."""
        key = np.packbits(allowed).tobytes()
        if self._parts is None or self._parts[0] != key:
            rows, size = self._relations.shape
            inside = self._by_cell[:, np.flatnonzero(allowed)].tocoo()
            column = np.flatnonzero(allowed)[inside.col] + rows
            graph = sparse.csr_array(
                (np.ones(inside.nnz), (inside.row, column)), shape=(rows + size, rows + size)
            )
            labels: LongArray = connected_components(graph, directed=False)[1][rows:].astype(np.int64)
            self._parts = key, labels
        return self._parts[1]


def of_level(demand: Demand, level: float) -> Demand:
    """Return a demand with another level."""
    return Demand(demand.cell, float(level), demand.up, demand.down)


def _ways(
    bounds: Bounds, allowed: BoolArray, cells: LongArray, cell: int, sign: int
) -> tuple[FloatArray, FloatArray, int]:
    """Return the bounds of the directions up, then down, and the direction of a cell."""
    below, above = (np.where(allowed[cells], np.floor(side[cells]), 0.0) for side in bounds)
    place = int(np.searchsorted(cells, cell))
    upper = np.concatenate([above, below])
    way, other = (place, place + cells.size)[::sign]
    upper[other] = 0.0
    return np.zeros(upper.size), upper, way


def unreachable_in_whole_numbers(table: CellTable, clock: Clock | None = None) -> list[Unmet]:
    """List the demands that integral attacks defeat if all free cells are suppressed.

    Raises OutOfTimeError if the clock expires before all are decided.
    """
    attacks, everything = IntegerAttacks(table, clock), np.asarray(~table.fixed, dtype=np.bool_)
    if everything.sum() > steering.ONE_PROGRAM_CELLS:
        attacks.move_many(everything)
    nothing = np.zeros(0)
    return [
        Unmet(owner, demand, attacks.reached(owner, demand, everything), nothing)
        for owner, demand in attacks.unmet(everything)
    ]
