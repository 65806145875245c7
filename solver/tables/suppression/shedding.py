"""Cells that a pattern does not need are published, the dearest first, by the movements of least energy.

What others do is asked again after each cell, though nothing is solved again: to publish a cell is to make
its resistance infinite, which changes an inverse by a matrix of rank one, and all movements with it. Cells
that can only move together go together. A cell stays where one of the demands that were met before is not
met any more by the movement of least energy, which is a strict test: those that pass it are met.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg, sparse

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.formulations.tables.witnesses import Witness
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.attackers.least_energy import basis_of, factor_of, within_bounds
from linkrisk.solver.tables.suppression.conducting import movable
from linkrisk.solver.tables.suppression.movements import Needs

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
