"""Attackers who know that the values of a table are counts: programs in whole numbers, as few as can be.

A linear program may move cells by fractions that no table of counts has; in tables of two variables its
vertices are whole, in others not. So every demand needs a witness in whole numbers (`IntegerWitnesses`).
Those that were found are looked at first; only for what is left a mixed-integer program is solved, over the
suppressed cells that hang together with the one that is attacked. What it finds is added up before it counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from linkrisk.formulations.tables.cell_table import BoolArray, CellTable, Demand, FloatArray, IntArray
from linkrisk.formulations.tables.crowd import OUTSIDER, Crowd
from linkrisk.formulations.tables.integer_witnesses import IntegerWitnesses, reach_of, seen_within
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.attackers.crowd_attacks import OutOfTimeError, Unmet
from linkrisk.solver.tables.attackers.integer_programs import IntegerProgram

_NEARLY = 0.02
"""Relative: how far from the least a cost may be, where any witness does."""

_PROGRAMS = 40
"""As many parts of patterns keep their programs."""

_ROUNDS = 8
"""Of moving all cells at once by chance, to have witnesses for many."""


@dataclass(frozen=True, eq=False)
class Whole:
    """Whole deviations that an attacker cannot exclude.

    Attributes
    ----------
    cells : ndarray of int64, shape (k,)
        Those that move.
    deviations : ndarray of float64, shape (k,)
    """

    cells: IntArray
    deviations: FloatArray

    def of(self, cell: int) -> float:
        """How far a cell moves."""
        return float(self.deviations[self.cells == cell].sum())


@dataclass(eq=False)
class _Reach:
    """How far an attacker has to think that cells can be, by as many of the witnesses as were looked at."""

    down: FloatArray
    up: FloatArray
    known: int

    def beside(
        self,
        seen: IntegerWitnesses,
        suppressed: BoolArray,
        bounds: Callable[[], tuple[FloatArray, FloatArray]],
    ) -> _Reach:
        """The same with the witnesses that came after these."""
        if self.known < len(seen):
            below, above = bounds()
            for cells, moved in seen.after(self.known):
                within = (-below[cells] <= moved) & (moved <= above[cells]) & suppressed[cells]
                if within.all():
                    np.maximum.at(self.up, cells, moved)
                    np.maximum.at(self.down, cells, -moved)
            self.known = len(seen)
        return self


class IntegerAttacks:
    """Asks what attackers who reason in whole numbers find out, the outsider and all insiders of a table.

    Parameters
    ----------
    table : CellTable
    clock : Clock, optional
        When it is out, whatever is asked and not known ends with `OutOfTimeError`.
    """

    def __init__(self, table: CellTable, clock: Clock | None = None) -> None:
        self.table, self.clock = table, clock or Clock(None)
        self.crowd, self.seen = Crowd.of(table), IntegerWitnesses(table)
        self._relations = sparse.csr_array(table.relations)
        self._by_cell = sparse.csc_array(table.relations)
        self._parts: tuple[bytes, IntArray] | None = None
        self._programs: dict[tuple[bytes, int], IntegerProgram] = {}
        self._knowing = np.unique(self.crowd.owner).tolist()
        self._order = self._asked()

    def __getstate__(self) -> dict[str, object]:
        """Without the programs in the hands of the optimiser, and without the clock of this process."""
        return {**self.__dict__, "clock": Clock(None), "_programs": {}}

    def _asked(self) -> list[tuple[int, Demand]]:
        """All demands, each with whom it has to hold against: those who know more than everybody, besides."""
        found = [(OUTSIDER, one) for one in self.table.demands]
        lowered = {at for at, one in enumerate(self.table.insiders, start=1) if one.lowered}
        for owner in sorted({*self._knowing, *lowered}):
            levels = [(one, float(self.crowd.levels(one)[owner])) for one in self.table.demands]
            found += [
                (owner, Demand(one.cell, float(np.floor(level)), one.up, one.down))
                for one, level in levels
                if np.floor(level) > 0
            ]
        return found

    # ---- what a pattern leaves open

    def holds(self, suppressed: BoolArray) -> bool:
        """Whether a pattern, shape (n,), protects from everybody; what was open last is asked first."""
        for at, owner, demand in self.unseen(suppressed):
            if self.witnesses(owner, demand, suppressed) is None:
                self._order.insert(0, self._order.pop(at))
                return False
        return True

    def unmet(self, suppressed: BoolArray) -> Iterator[tuple[int, Demand]]:
        """Whom a pattern does not protect from, and the demands that they do not meet."""
        for _, owner, demand in list(self.unseen(suppressed)):
            if self.witnesses(owner, demand, suppressed) is None:
                yield owner, demand

    def unseen(self, suppressed: BoolArray) -> Iterator[tuple[int, int, Demand]]:
        """Demands that no witness meets that is known by then: their places, whom from, and what."""
        vectors, known = self.seen.within(suppressed), len(self.seen)
        reach: dict[int, _Reach] = {}
        for at, (owner, demand) in enumerate(self._order):
            if owner not in reach:
                reach[owner] = _Reach(*reach_of(self._possible(owner, vectors)), known)
            seen = reach[owner].beside(self.seen, suppressed, partial(self.crowd.bounds, owner))
            if seen.up[demand.cell] * demand.up + seen.down[demand.cell] * demand.down < demand.level:
                yield at, owner, demand

    def _possible(self, owner: int, vectors: sparse.csr_array) -> sparse.csr_array:
        """The vectors that an attacker thinks possible."""
        mine, crowd = self.crowd.mine(owner), self.crowd
        return seen_within(vectors, crowd.cell[mine], crowd.below[mine], crowd.above[mine])

    def witnesses(self, owner: int, demand: Demand, suppressed: BoolArray) -> list[Whole] | None:
        """Whole vectors that meet a demand together; None where there are none."""
        if not suppressed[demand.cell]:
            return None
        return self.cheapest(owner, demand, suppressed, np.ones(len(self.table)))

    def cheapest(
        self, owner: int, demand: Demand, allowed: BoolArray, cost: FloatArray
    ) -> list[Whole] | None:
        """Whole vectors of least cost by which an attacker has to think a cell as far away as is asked for.

        Parameters
        ----------
        owner : int
        demand : Demand
        allowed : ndarray of bool, shape (n,)
            Cells that may move.
        cost : ndarray of float64, shape (n,)
            Of each unit that a cell moves.

        Returns
        -------
        list of Whole, or None
            One; of a sliding demand one up and one down; None where there are none.

        Raises
        ------
        OutOfTimeError
            If that is not known when the clock is out.
        """
        if demand.up and demand.down:
            up = self.furthest(owner, demand.cell, 1, allowed, demand.level)
            parts = [(1, up), (-1, demand.level - up)]
        else:
            parts = [(1 if demand.up else -1, demand.level)]
        found = []
        for sign, level in parts:
            if level > 0:
                one = self._moved(owner, demand.cell, sign, level, allowed, cost)
                if one is None:
                    return None
                found.append(one)
        return found

    def furthest(self, owner: int, cell: int, sign: int, allowed: BoolArray, most: float = np.inf) -> float:
        """How far a cell goes one way in whole numbers, up to `most`.

        Raises
        ------
        OutOfTimeError
            If that is not known when the clock is out.
        """
        program = self._program(allowed, cell)
        goal = np.zeros(2 * program.cells.size)
        lower, upper, way = self._bounds(owner, program.cells, cell, sign)
        goal[way], upper[way] = -1.0, min(upper[way], most)
        moved = program.cheapest(goal, lower, upper, self.clock)
        if moved is None:
            raise OutOfTimeError  # not to move is possible: the optimiser is off
        self._add(program.cells, moved)
        return max(float(sign * moved[program.cells == cell].sum()), 0.0)

    def reached(self, owner: int, demand: Demand, allowed: BoolArray) -> float:
        """How far an attacker has to think a cell away in the ways of a demand, up to its level.

        Raises
        ------
        OutOfTimeError
            If that is not known when the clock is out.
        """
        found = 0.0
        for sign, asked in ((1, demand.up), (-1, demand.down)):
            if asked:
                found += self.furthest(owner, demand.cell, sign, allowed, demand.level - found)
        return found

    def move_many(self, suppressed: BoolArray) -> None:
        """Move all cells of a pattern at once, to and fro by chance, to have witnesses for many of them."""
        generator = np.random.default_rng(0)
        labels = self._labels(suppressed)
        parts = np.flatnonzero(suppressed)
        for cell in parts[np.unique(labels[parts], return_index=True)[1]].tolist():
            program = self._program(suppressed, cell)
            lower, upper, _ = self._bounds(OUTSIDER, program.cells, cell, 1)
            upper = np.concatenate([side[program.cells] for side in self.crowd.bounds(OUTSIDER)][::-1])
            for _ in range(_ROUNDS):
                size = program.cells.size
                goal = generator.uniform(0.5, 1.0, size) * generator.choice([-1.0, 1.0], size)
                try:
                    moved = program.vertex(np.concatenate([goal, -goal]), lower, upper, self.clock)
                except OutOfTimeError:
                    return
                if moved is not None:
                    self.seen.add(program.cells, np.round(moved))

    def _moved(
        self, owner: int, cell: int, sign: int, level: float, allowed: BoolArray, cost: FloatArray
    ) -> Whole | None:
        """The whole vector of least cost that moves a cell at least so far."""
        program = self._program(allowed, cell)
        lower, upper, way = self._bounds(owner, program.cells, cell, sign)
        if upper[way] < level:
            return None
        lower[way] = level
        goal = np.concatenate([cost[program.cells], cost[program.cells]])
        moved = program.cheapest(goal, lower, upper, self.clock, gap=_NEARLY)
        if moved is None:
            return None
        self._add(program.cells, moved)
        at = np.flatnonzero(moved)
        return Whole(program.cells[at], moved[at])

    def _bounds(
        self, owner: int, cells: IntArray, cell: int, sign: int
    ) -> tuple[FloatArray, FloatArray, int]:
        """How far the ways up, then those down, of cells can go; and which one a cell is to go."""
        below, above = (np.floor(side[cells]) for side in self.crowd.bounds(owner))
        place = int(np.searchsorted(cells, cell))
        upper = np.concatenate([above, below])
        way, other = (place, place + cells.size)[::sign]
        upper[other] = 0.0
        return np.zeros(upper.size), upper, way

    def _add(self, cells: IntArray, moved: FloatArray) -> None:
        if moved.any() and not self.seen.add(cells, moved):
            raise OutOfTimeError  # the optimiser is off by more than rounding mends: it is not known

    def _program(self, allowed: BoolArray, cell: int) -> IntegerProgram:
        """The program of the cells among those that may move that hang together with one."""
        labels = self._labels(allowed)
        key = (self._parts[0] if self._parts else b"", int(labels[cell]))
        if key not in self._programs:
            cells = np.flatnonzero(allowed & (labels == labels[cell]))
            if len(self._programs) >= _PROGRAMS:
                del self._programs[next(iter(self._programs))]
            self._programs[key] = IntegerProgram(cells, self._by_cell[:, cells])
        return self._programs[key]

    def _labels(self, allowed: BoolArray) -> IntArray:
        """Which part of the table each cell hangs together with, shape (n,), by cells that may move."""
        key = np.packbits(allowed).tobytes()
        if self._parts is None or self._parts[0] != key:
            rows, size = self._relations.shape
            inside = self._by_cell[:, np.flatnonzero(allowed)].tocoo()
            column = np.flatnonzero(allowed)[inside.col] + rows
            graph = sparse.csr_array(
                (np.ones(inside.nnz), (inside.row, column)), shape=(rows + size, rows + size)
            )
            labels: IntArray = connected_components(graph, directed=False)[1][rows:].astype(np.int64)
            self._parts = key, labels
        return self._parts[1]


def unreachable_in_whole_numbers(table: CellTable, clock: Clock | None = None) -> list[Unmet]:
    """What whole numbers give away to whom, with all cells suppressed that may be.

    Parameters
    ----------
    table : CellTable
    clock : Clock, optional

    Raises
    ------
    OutOfTimeError
        If the clock is out before all is looked at.
    """
    attacks, everything = IntegerAttacks(table, clock), np.asarray(~table.fixed, dtype=np.bool_)
    nothing = np.zeros(0)
    return [
        Unmet(owner, demand, attacks.reached(owner, demand, everything), nothing)
        for owner, demand in attacks.unmet(everything)
    ]
