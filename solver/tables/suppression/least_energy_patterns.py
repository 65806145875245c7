"""Patterns for all demands at once, by movements of least energy, and cells they do not need.

Every sensitive cell is moved by 1 at the least energy, which is the sum of squared movements times the
resistance of their cells. All movements of one resistance are columns of one inverse, as currents in a
network of resistors are, and linear programs are not asked for. Then the resistance of each cell becomes its
cost, divided by the square of what all movements together use of it: what many share gets cheap, what nobody
uses is shut off. The energy turns into the cost of the cells that are used at all (iteratively reweighted
least squares: Chartrand and Yin 2008), for all demands together.

Bounds are part of the energy: a cell resists what is large beside how far it can go. So most movements keep
within them; what does not, the repair meets.

Cells that a pattern does not need are then published, the dearest first. What others do is asked again after
each cell, though nothing is solved again: to publish a cell is to make its resistance infinite, which changes
an inverse by a matrix of rank one, and all movements with it. Cells that can only move together go together.
A cell stays where one of the demands that were met before is not met any more by the movement of least
energy, which is a strict test: those that pass it are met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.formulations.tables.kernel import kernel
from linkrisk.formulations.tables.witnesses import Witness
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.attackers.least_energy import TINY, basis_of, factor_of, flows, within_bounds

_MET = 1e-6
"""By how much of its level a cell may be short and still be moved by it."""

_FIRST, _COOLING, _LAST = 0.5, 0.6, 1e-3
"""Use below which a cell is unused: in the first round, by how much less in each, and in the end."""

_ROUNDS = 40
_SPARE = 0.7
"""Of the time that is left, what rounds are planned for."""

_GAIN, _PATIENCE = 2e-3, 2
"""At the end: share of the cost that a round gains, and rounds without it."""

_SENSITIVE = 0.01
"""Resistance of a sensitive cell, which costs nothing; that of others starts at 1 in the median."""

_BOUNDS, _STEEP = 1.0, 4
"""What a movement as large as the bound of its cell resists, and how soon it resists more."""

_MOST_BEYOND = 6.0
"""More than so much beyond its bound makes no difference for a cell."""

_LEVELS = 16.0
"""Demands whose levels differ by no more than this factor share one resistance of bounds."""

_MANY = 256
"""Movements that are looked at together."""

_ENOUGH, _CLOSE = 0.5, 1.0 + 1e-6
"""Share of the needs that least energy has to meet with all cells where this is of use; and how closely."""

_CUT = 1e-4
"""Use of a cell that is taken out of the network."""


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


def conducting(
    table: CellTable, needs: Needs, clock: Clock, tell: Callable[[int], None], cost: FloatArray
) -> BoolArray | None:
    """Cells that can move all cells with needs, nearly the cheapest that do.

    `tell`: told how many cells are left. `cost` (n,): what cells are taken to cost. Returns (n,): with all
    sensitive cells. None where the clock was out at once, the table is too large, or bounds are tight, as of
    large sums beside small cells.
    """
    cells = movable(table, needs, ~table.fixed)
    basis = basis_of(sparse.csr_array(table.relations[:, cells])) if len(needs) else None
    if basis is None or _within(table, needs, cells, basis) < _ENOUGH:
        return None
    network = _Network(table, needs, cost, cells, basis)
    unused, idle, before = _FIRST, 0, np.inf
    for done in range(_ROUNDS):
        begun = clock.seconds
        if not network.conduct(clock):
            if not done:
                return None
            return network.pattern if unused <= _LAST else network.whole
        tell(network.cells.size)
        network.adapt(unused)
        now = table.cost_of(network.pattern)
        idle = idle + 1 if unused <= _LAST and now > before * (1.0 - _GAIN) else 0
        if idle >= _PATIENCE:
            break
        rounds = np.inf if clock.counts else _SPARE * clock.time_left / max(clock.seconds - begun, TINY)
        unused, before = _cooler(unused, rounds), now
    return network.pattern


def _within(table: CellTable, needs: Needs, cells: LongArray, basis: sparse.csr_array) -> float:
    """Share of the needs, some of them looked at, that movements of least energy meet within all bounds."""
    some = needs[np.arange(0, len(needs), 1 + len(needs) // _MANY)]
    below, above = table.below[cells], table.above[cells]
    moved = flows(basis, factor_of(basis, within_bounds(below, above)), np.searchsorted(cells, some.cell))
    moved *= some.sign * some.level
    inside = (moved <= above[:, None] * _CLOSE) & (moved >= -below[:, None] * _CLOSE)
    return float(inside.all(axis=0).mean())


def _cooler(unused: float, rounds: float) -> float:
    """What counts as unused in the next round, where there is time for so many of them."""
    fast = (_LAST / unused) ** (1.0 / max(rounds, 1.0))
    return float(max(_LAST, unused * min(_COOLING, fast)))


class _Network:
    """Cells that conduct, and how well."""

    def __init__(
        self, table: CellTable, needs: Needs, cost: FloatArray, cells: LongArray, basis: sparse.csr_array
    ) -> None:
        self._table, self.cells, self._basis = table, cells, basis
        self._cost = cost / max(float(np.median(cost[cells])), TINY)
        self._resistance = np.where(table.primary, _SENSITIVE, self._cost)
        self._bound = np.maximum(np.minimum(table.below, table.above), TINY)
        self._groups = list(_by_level(needs))
        self._most, self._squares = np.zeros(len(table)), np.zeros(len(table))

    @property
    def pattern(self) -> BoolArray:
        """The sensitive cells and those that are used, shape (n,)."""
        return np.asarray(self._table.primary | (self._most > _LAST), dtype=np.bool_)

    @property
    def whole(self) -> BoolArray:
        """The sensitive cells and all that are left, shape (n,)."""
        found = self._table.primary.copy()
        found[self.cells] = True
        return found

    def conduct(self, clock: Clock) -> bool:
        """Move every cell with a need, and note what is used of each; False where that was not to be."""
        here = self._basis
        most, squares = np.zeros(self.cells.size), np.zeros(self.cells.size)
        for level, moved in self._groups:
            beyond = np.minimum(level / self._bound[self.cells], _MOST_BEYOND)
            resistance = self._resistance[self.cells] + _BOUNDS * beyond**_STEEP
            factor = factor_of(here, resistance)
            places = np.searchsorted(self.cells, moved)
            for start in range(0, places.size, _MANY):
                if clock.expired:
                    return False
                used = np.abs(flows(here, factor, places[start : start + _MANY]))
                np.maximum(most, used.max(axis=1), out=most)
                squares += np.einsum("ij,ij->i", used, used)
        self._most[:], self._squares[:] = 0.0, 0.0
        self._most[self.cells], self._squares[self.cells] = most, squares
        return True

    def adapt(self, unused: float) -> None:
        """Resistances by what was used, and cells that are hardly used no more."""
        table = self._table
        self._resistance = np.where(table.primary, _SENSITIVE, self._cost / (self._squares + unused * unused))
        self._shrink(self.cells[table.primary[self.cells] | (self._most[self.cells] > _CUT)])

    def _shrink(self, cells: LongArray) -> None:
        """Take cells out of the network, unless others cannot move any more without them."""
        if cells.size < self.cells.size:
            basis = kernel(sparse.csr_array(self._table.relations[:, cells]))
            moving = np.diff(basis.indptr) > 0
            if all(moving[np.searchsorted(cells, moved)].all() for _, moved in self._groups):
                self.cells, self._basis = cells, basis


def movable(table: CellTable, needs: Needs, pattern: BoolArray) -> LongArray:
    """Cells of a pattern that can go both ways, and those with needs."""
    found: BoolArray = pattern & ~table.fixed & (table.below > 0) & (table.above > 0)
    found[needs.cell] = True
    return np.flatnonzero(found)


def _by_level(needs: Needs) -> Iterator[tuple[float, LongArray]]:
    """The cells of needs with about the same level, and the largest of these."""
    level = np.zeros(int(needs.cell.max()) + 1)
    np.maximum.at(level, needs.cell, needs.level)
    cells = np.flatnonzero(level)
    number = np.floor(np.log(level[cells]) / np.log(_LEVELS))
    for one in np.unique(number).tolist():
        group = cells[number == one]
        yield float(level[group].max()), group


MOST_FLOWS = 2e7
"""Movements of all needs, as many numbers as are kept."""

_STILL = 1e-9
"""What moves by so much less than it could does not move."""

_TINY = 1e-300


class Shedding:
    """A pattern that gets smaller, with the movements of least energy of all needs in it.

    `pattern` (n,). `fits`: whether this is not too large.
    """

    def __init__(self, table: CellTable, pattern: BoolArray, needs: Needs) -> None:
        self._table, self._needs = table, needs
        self.cells: LongArray = movable(table, needs, pattern)
        self._moved, self._column = np.unique(needs.cell, return_inverse=True)
        self.fits = 0 < self.cells.size * self._moved.size <= MOST_FLOWS
        basis = basis_of(sparse.csr_array(table.relations[:, self.cells])) if self.fits else None
        self.fits = basis is not None
        if basis is not None:
            self._begin(basis)

    def _begin(self, basis: sparse.csr_array) -> None:
        table, cells = self._table, self.cells
        self._above, self._below = table.above[cells], table.below[cells]
        factor = factor_of(basis, within_bounds(self._below, self._above))
        ways = linalg.solve_triangular(factor, basis.toarray().T, lower=True, check_finite=False)
        # Products of rows are movements of least energy: that of i for a force on j is row i times row j.
        self._ways: FloatArray = np.ascontiguousarray(ways.T)
        self._norms = np.einsum("ij,ij->i", self._ways, self._ways)
        places = np.searchsorted(cells, self._moved)
        self._flows = self._ways @ self._ways[places].T
        self._own = self._norms[places]
        self._met = self._meets(np.arange(self._moved.size), self._flows, self._own)

    @property
    def pattern(self) -> BoolArray:
        """The cells that are left, shape (n,)."""
        found = self._table.primary.copy()
        found[self.cells] = True
        return found

    @property
    def met(self) -> float:
        """Share of the needs that movements of least energy meet; 0 where this is too large."""
        return float(self._met.mean()) if self.fits else 0.0

    @property
    def open(self) -> Needs:
        """Needs that movements of least energy do not meet; none where this is too large."""
        return self._needs[~self._met] if self.fits else self._needs[self._column[:0]]

    def witnesses(self) -> list[Witness]:
        """Movements that meet needs, as far as they do."""
        found: list[Witness] = []
        for need in np.flatnonzero(self._met).tolist() if self.fits else []:
            column = int(self._column[need])
            scale = float(self._needs.sign[need] * self._needs.level[need] / self._own[column])
            flow = self._flows[:, column] * scale
            moves = np.abs(flow) > 0.0
            found.append(Witness(self.cells[moves], np.clip(flow, -self._below, self._above)[moves]))
        return found

    def run(self, clock: Clock, tell: Callable[[int], None], order: FloatArray | None = None) -> None:
        """Publish what is not needed, until nothing is left to try or the clock is out.

        `tell`: told how many cells are left to try. `order` (n,): cells that move only together are tried in
        the order of their sums of these numbers, the largest first: of their costs where absent.
        """
        if not self.fits:
            return
        table = self._table
        tried = self.cells[table.free[self.cells]]
        chosen = tried[
            np.argsort(-self._together(tried, self._table.cost if order is None else order), kind="stable")
        ]
        done: BoolArray = ~np.isin(np.arange(len(table)), self.cells) | table.primary
        for number, cell in enumerate(chosen.tolist()):
            if clock.expired:
                break
            if not done[cell]:
                tell(chosen.size - number)
                self._try(cell, done)

    def _together(self, cells: LongArray, cost: FloatArray) -> FloatArray:
        """What each of some cells costs with those that move only with it."""
        size = np.sqrt(np.maximum(self._norms, _TINY))
        ways = np.round(self._ways / size[:, None], 6)
        first = ways[np.arange(size.size), np.argmax(np.abs(ways) > 0.0, axis=1)]
        keys = (ways * np.where(first < 0.0, -1.0, 1.0)[:, None]) @ np.random.default_rng(0).random(
            ways.shape[1]
        )
        _, group = np.unique(np.round(keys, 4), return_inverse=True)
        own = np.where(self._table.free, cost, 0.0)[self.cells]
        sums: FloatArray = np.bincount(group, weights=own).astype(np.float64)
        return sums[group][np.searchsorted(self.cells, cells)]

    def _try(self, cell: int, done: BoolArray) -> None:
        """Publish a cell with those that move only with it, if all needs that are met stay so."""
        at = int(np.searchsorted(self.cells, cell))
        way = self._ways[at]
        strength = float(self._norms[at])
        pull = self._ways @ way
        together = strength * self._norms - pull * pull <= _STILL * strength * self._norms
        done[self.cells[together]] = True
        if self._table.primary[self.cells[together]].any():
            return
        changed = np.flatnonzero(np.abs(self._flows[at]) > _STILL * np.sqrt(strength * self._own))
        share = self._flows[at, changed] / strength
        flows = self._flows[:, changed] - np.outer(pull, share)
        own = self._own[changed] - share * self._flows[at, changed]
        asked = np.isin(self._column, changed) & self._met
        if (asked & ~self._meets(changed, flows, own)).any():
            return
        self._flows[:, changed], self._own[changed] = flows, own
        self._ways -= np.outer(pull / strength, way)
        self._norms -= pull * pull / strength
        stay = np.flatnonzero(~together)
        self.cells, self._ways, self._flows = self.cells[stay], self._ways[stay], self._flows[stay]
        self._above, self._below, self._norms = self._above[stay], self._below[stay], self._norms[stay]

    def _meets(self, columns: LongArray, flows: FloatArray, own: FloatArray) -> BoolArray:
        """Which needs the flows of some columns meet within all bounds; those of others are not met."""
        most = np.zeros((2, self._moved.size))
        with np.errstate(divide="ignore", invalid="ignore"):
            up = np.where(flows > 0, flows / self._above[:, None], 0.0)
            down = np.where(flows < 0, -flows / self._below[:, None], 0.0)
            forth = np.maximum(up.max(axis=0), down.max(axis=0)) / own
            back = np.where(flows > 0, flows / self._below[:, None], -flows / self._above[:, None])
            most[0, columns], most[1, columns] = forth, np.where(flows == 0, 0.0, back).max(axis=0) / own
        known = np.zeros(self._moved.size, dtype=np.bool_)
        known[columns] = own > 0
        worst = np.where(self._needs.sign > 0, most[0, self._column], most[1, self._column])
        return np.asarray(known[self._column] & (worst * self._needs.level <= 1.0), dtype=np.bool_)
