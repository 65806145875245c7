"""Finds patterns for all demands at once by least-energy movements, and drops their redundant cells.

Every sensitive cell is moved by 1 at the least energy, the sum of squared movements times the resistance of
their cells. All these movements are columns of one inverse, as currents in a network of resistors are, so
that no linear program is solved. The resistance of each cell then becomes its cost divided by the square of
its use by all movements: shared cells become cheap, unused ones are shut off. The energy converges to the
cost of the cells in use (iteratively reweighted least squares: Chartrand and Yin 2008), for all demands
together.

Bounds enter as a penalty: a cell resists movements that are large relative to its bounds. Most movements then
keep within them; the repair meets the other demands.

Redundant cells are then published, the dearest first. Publishing a cell makes its resistance infinite, which
is a rank-one update of the inverse and of all movements, so that nothing is solved again. Cells that can only
move together are published together. A cell stays if the least-energy movement of a demand met before no
longer meets it: this test is sufficient for protection, not necessary.
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
from linkrisk.solver.tables import steering, tolerances
from linkrisk.solver.tables.attackers.least_energy import basis_of, factor_of, flows, within_bounds


@dataclass(frozen=True, eq=False)
class Needs:
    """Required movements: cells, directions and levels; arrays of shape (k,)."""

    cell: LongArray
    sign: FloatArray  # 1 for up, -1 for down
    level: FloatArray  # above 0

    def __len__(self) -> int:
        return int(self.cell.size)

    def __getitem__(self, chosen: LongArray | BoolArray) -> Needs:
        return Needs(self.cell[chosen], self.sign[chosen], self.level[chosen])

    @classmethod
    def of(cls, demands: Sequence[Demand], most_up: FloatArray) -> Needs:
        """Collect the movements of some demands; a sliding one is split into one up and one down.

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
    """Find a cheap set of cells in which all required movements are possible.

    `tell`: called with the number of cells left. `cost` (n,): modified costs. Returns (n,): includes the
    sensitive cells. None if the clock expires in the first round, the table is too large, or bounds are
    tight, as of large sums beside small cells.
    """
    cells = movable(table, needs, ~table.fixed)
    basis = basis_of(sparse.csr_array(table.relations[:, cells])) if len(needs) else None
    if basis is None or _within(table, needs, cells, basis) < steering.LEAST_WITHIN_BOUNDS:
        return None
    network = _Network(table, needs, cost, cells, basis)
    unused, idle, before = steering.FIRST_USE, 0, np.inf
    for done in range(steering.ENERGY_ROUNDS):
        begun = clock.seconds
        if not network.conduct(clock):
            if not done:
                return None
            return network.pattern if unused <= steering.LAST_USE else network.whole
        tell(network.cells.size)
        network.adapt(unused)
        now = table.cost_of(network.pattern)
        idle = (
            idle + 1
            if unused <= steering.LAST_USE and now > before * (1.0 - steering.LEAST_ROUND_GAIN)
            else 0
        )
        if idle >= steering.ROUNDS_WITHOUT_GAIN:
            break
        rounds = (
            np.inf
            if clock.counts
            else steering.PLANNED_SHARE * clock.time_left / max(clock.seconds - begun, tolerances.TINY)
        )
        unused, before = _cooler(unused, rounds), now
    return network.pattern


def _within(table: CellTable, needs: Needs, cells: LongArray, basis: sparse.csr_array) -> float:
    """Estimate the share of demands that least-energy movements meet within all bounds."""
    some = needs[np.arange(0, len(needs), 1 + len(needs) // steering.MOVEMENTS_AT_ONCE)]
    below, above = table.below[cells], table.above[cells]
    moved = flows(basis, factor_of(basis, within_bounds(below, above)), np.searchsorted(cells, some.cell))
    moved *= some.sign * some.level
    inside = (moved <= above[:, None] * tolerances.WITHIN_BOUND) & (
        moved >= -below[:, None] * tolerances.WITHIN_BOUND
    )
    return float(inside.all(axis=0).mean())


def _cooler(unused: float, rounds: float) -> float:
    """Return the next threshold of use, for the rounds that time allows."""
    fast = (steering.LAST_USE / unused) ** (1.0 / max(rounds, 1.0))
    return float(max(steering.LAST_USE, unused * min(steering.USE_COOLING, fast)))


class _Network:
    """Cells in use with their resistances."""

    def __init__(
        self, table: CellTable, needs: Needs, cost: FloatArray, cells: LongArray, basis: sparse.csr_array
    ) -> None:
        self._table, self.cells, self._basis = table, cells, basis
        self._cost = cost / max(float(np.median(cost[cells])), tolerances.TINY)
        self._resistance = np.where(table.primary, steering.SENSITIVE_RESISTANCE, self._cost)
        self._bound = np.maximum(np.minimum(table.below, table.above), tolerances.TINY)
        self._groups = list(_by_level(needs))
        self._most, self._squares = np.zeros(len(table)), np.zeros(len(table))

    @property
    def pattern(self) -> BoolArray:
        """The sensitive cells and those in use, shape (n,)."""
        return np.asarray(self._table.primary | (self._most > steering.LAST_USE), dtype=np.bool_)

    @property
    def whole(self) -> BoolArray:
        """The sensitive cells and all that are left, shape (n,)."""
        found = self._table.primary.copy()
        found[self.cells] = True
        return found

    def conduct(self, clock: Clock) -> bool:
        """Move all sensitive cells and record the use of each cell; tell whether that succeeded."""
        here = self._basis
        most, squares = np.zeros(self.cells.size), np.zeros(self.cells.size)
        for level, moved in self._groups:
            beyond = np.minimum(level / self._bound[self.cells], steering.MOST_BEYOND_BOUND)
            resistance = (
                self._resistance[self.cells] + steering.BOUND_RESISTANCE * beyond**steering.BOUND_POWER
            )
            factor = factor_of(here, resistance)
            places = np.searchsorted(self.cells, moved)
            for start in range(0, places.size, steering.MOVEMENTS_AT_ONCE):
                if clock.expired:
                    return False
                used = np.abs(flows(here, factor, places[start : start + steering.MOVEMENTS_AT_ONCE]))
                np.maximum(most, used.max(axis=1), out=most)
                squares += np.einsum("ij,ij->i", used, used)
        self._most[:], self._squares[:] = 0.0, 0.0
        self._most[self.cells], self._squares[self.cells] = most, squares
        return True

    def adapt(self, unused: float) -> None:
        """Update the resistances and shut off cells of little use."""
        table = self._table
        self._resistance = np.where(
            table.primary, steering.SENSITIVE_RESISTANCE, self._cost / (self._squares + unused * unused)
        )
        self._shrink(self.cells[table.primary[self.cells] | (self._most[self.cells] > steering.REMOVED_USE)])

    def _shrink(self, cells: LongArray) -> None:
        """Remove cells from the network, unless others could then no longer move."""
        if cells.size < self.cells.size:
            basis = kernel(sparse.csr_array(self._table.relations[:, cells]))
            moving = np.diff(basis.indptr) > 0
            if all(moving[np.searchsorted(cells, moved)].all() for _, moved in self._groups):
                self.cells, self._basis = cells, basis


def movable(table: CellTable, needs: Needs, pattern: BoolArray) -> LongArray:
    """Return the cells of a pattern that can move both ways, and those of demands."""
    found: BoolArray = pattern & ~table.fixed & (table.below > 0) & (table.above > 0)
    found[needs.cell] = True
    return np.flatnonzero(found)


def _by_level(needs: Needs) -> Iterator[tuple[float, LongArray]]:
    """Yield the cells of demands with similar levels, and the largest of these levels."""
    level = np.zeros(int(needs.cell.max()) + 1)
    np.maximum.at(level, needs.cell, needs.level)
    cells = np.flatnonzero(level)
    number = np.floor(np.log(level[cells]) / np.log(steering.LEVELS_SHARED))
    for one in np.unique(number).tolist():
        group = cells[number == one]
        yield float(level[group].max()), group


class Shedding:
    """Drops redundant cells from a pattern by updating all least-energy movements.

    `pattern` (n,). `fits`: whether it is small enough.
    """

    def __init__(self, table: CellTable, pattern: BoolArray, needs: Needs) -> None:
        self._table, self._needs = table, needs
        self.cells: LongArray = movable(table, needs, pattern)
        self._moved, self._column = np.unique(needs.cell, return_inverse=True)
        self.fits = 0 < self.cells.size * self._moved.size <= steering.SHEDDING_NUMBERS
        basis = basis_of(sparse.csr_array(table.relations[:, self.cells])) if self.fits else None
        self.fits = basis is not None
        if basis is not None:
            self._begin(basis)

    def _begin(self, basis: sparse.csr_array) -> None:
        table, cells = self._table, self.cells
        self._above, self._below = table.above[cells], table.below[cells]
        factor = factor_of(basis, within_bounds(self._below, self._above))
        ways = linalg.solve_triangular(factor, basis.toarray().T, lower=True, check_finite=False)
        # Row i times row j is the movement of cell i for a force on cell j.
        self._ways: FloatArray = np.ascontiguousarray(ways.T)
        self._norms = np.einsum("ij,ij->i", self._ways, self._ways)
        places = np.searchsorted(cells, self._moved)
        self._flows = self._ways @ self._ways[places].T
        self._own = self._norms[places]
        self._met = self._meets(np.arange(self._moved.size), self._flows, self._own)

    @property
    def pattern(self) -> BoolArray:
        """Cells that are left, shape (n,)."""
        found = self._table.primary.copy()
        found[self.cells] = True
        return found

    @property
    def met(self) -> float:
        """Share of demands that least-energy movements meet; 0 if the pattern is too large."""
        return float(self._met.mean()) if self.fits else 0.0

    @property
    def open(self) -> Needs:
        """Demands that least-energy movements do not meet; none if the pattern is too large."""
        return self._needs[~self._met] if self.fits else self._needs[self._column[:0]]

    def witnesses(self) -> list[Witness]:
        """Return the movements that meet demands."""
        found: list[Witness] = []
        for need in np.flatnonzero(self._met).tolist() if self.fits else []:
            column = int(self._column[need])
            scale = float(self._needs.sign[need] * self._needs.level[need] / self._own[column])
            flow = self._flows[:, column] * scale
            moves = np.abs(flow) > 0.0
            found.append(Witness(self.cells[moves], np.clip(flow, -self._below, self._above)[moves]))
        return found

    def run(self, clock: Clock, tell: Callable[[int], None], order: FloatArray | None = None) -> None:
        """Publish redundant cells until none is left to try or the clock has expired.

        `tell`: called with the number of cells left to try. `order` (n,): groups of cells that only move
        together are tried in descending order of their sums of it; costs by default.
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
        """Return the sum over the group of each cell."""
        size = np.sqrt(np.maximum(self._norms, tolerances.SMALLEST_NORM))
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
        """Publish the group of a cell if all demands met so far stay met."""
        at = int(np.searchsorted(self.cells, cell))
        way = self._ways[at]
        strength = float(self._norms[at])
        pull = self._ways @ way
        together = strength * self._norms - pull * pull <= tolerances.STILL * strength * self._norms
        done[self.cells[together]] = True
        if self._table.primary[self.cells[together]].any():
            return
        changed = np.flatnonzero(np.abs(self._flows[at]) > tolerances.STILL * np.sqrt(strength * self._own))
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
        """Tell which demands the flows of some columns meet within all bounds; False for other demands."""
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
