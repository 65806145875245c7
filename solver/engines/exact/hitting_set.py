"""Separate the inequalities of a hitting set, from cores and their cliques, and solve the covering program.

Not all blocks of a core can be linked. So the weight of the lightest set that has a block of every known core
is a lower bound on the weight that cannot be linked (Moreno-Centeno and Karp 2013). The covering program
relaxes it, with violated inequalities only: ``minimise weight . x``, where block b is given up to the share
``x_b`` in [0, 1], and at least one block of every core.

For pairs alone that program is weak, because giving up half of every block satisfies it. In a clique of k
blocks that exclude each other in pairs, k - 1 must be given up, which implies all of its pairs (Padberg
1973).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.programs import box_model
from linkrisk.solver.backends.linear.base import linear_program
from linkrisk.solver.engines.base import CoreProof
from linkrisk.solver.engines.exact.cores import Core
from linkrisk.solver.engines.exact.rounding import rounding_error
from linkrisk.solver.engines.steering import STEERING, HittingSteering
from linkrisk.solver.run.work import ITERATION, PROGRAM, Spend, ignore

Clique = tuple[int, ...]

_CLIQUE_VIOLATED = 1e-4
_MOST_AT_ONCE = 100


@kernel
def _grown(adjacent: BoolArray, x: FloatArray, seed: int) -> Any:
    """Grow a maximal clique from `seed`, each time by the common neighbour of smallest `x`."""
    common, clique = adjacent[seed].copy(), np.empty(x.size, dtype=np.intp)
    clique[0], size = seed, 1
    while True:
        nearest = -1
        for block in range(x.size):
            if common[block] and (nearest < 0 or x[block] < x[nearest]):
                nearest = block
        if nearest < 0:
            return clique[:size]
        clique[size] = nearest
        size += 1
        for block in range(x.size):
            common[block] &= adjacent[nearest, block]


class ConflictGraph:
    """The conflict graph: pairs of blocks that exclude each other, and its maximal cliques."""

    def __init__(self, blocks: int) -> None:
        self._adjacent = np.zeros((blocks, blocks), dtype=bool)
        self._known: set[Clique] = set()

    def add(self, first: int, second: int) -> None:
        """Add a pair."""
        self._adjacent[first, second] = self._adjacent[second, first] = True

    def violated(self, x: FloatArray) -> list[Clique]:
        """Separate new maximal cliques of three blocks or more by the shares `x` (blocks,).

        Each grows greedily by the neighbour of smallest share.
        """
        found: list[Clique] = []
        for seed in np.flatnonzero(self._adjacent.any(axis=1) & (x < 1.0 - _CLIQUE_VIOLATED)):
            clique = _grown(self._adjacent, x, int(seed))
            if clique.size < 3 or clique.size - 1 - x[clique].sum() <= _CLIQUE_VIOLATED:
                continue
            members = tuple(sorted(clique.tolist()))
            if members in self._known:
                continue
            self._known.add(members)
            found.append(members)
            if len(found) == _MOST_AT_ONCE:
                break
        return found


VIOLATED = 1e-6


class Rows(NamedTuple):
    """Covering inequalities: the blocks of row r must be given up to at least ``least[r]`` in total."""

    sizes: IndexArray
    members: IndexArray
    least: FloatArray

    @classmethod
    def made(cls, lists: Iterable[IndexArray], least: Iterable[float]) -> Rows:
        """Make rows from these blocks."""
        kept = list(lists)
        return cls(
            sizes=np.array([blocks.size for blocks in kept], dtype=np.intp),
            members=np.concatenate([np.empty(0, dtype=np.intp), *kept]),
            least=np.array(list(least), dtype=np.float64),
        )

    def of(self, chosen: IndexArray) -> Rows:
        """Select these rows."""
        sizes, ends = self.sizes[chosen], np.cumsum(self.sizes)[chosen]
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return Rows(sizes, self.members[np.repeat(ends - sizes, sizes) + within], self.least[chosen])

    def and_(self, more: Rows) -> Rows:
        """Append rows."""
        return Rows(*(np.concatenate(parts) for parts in zip(self, more, strict=True)))

    def activity(self, x: FloatArray) -> FloatArray:
        """Sum the shares `x` of the blocks of each row."""
        if self.sizes.size == 0:
            return np.empty(0)
        first = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        return np.asarray(np.add.reduceat(x[self.members], first))

    def load(self, multipliers: FloatArray, blocks: int) -> FloatArray:
        """Sum the multipliers of the rows of each block, shape (blocks,)."""
        return np.bincount(self.members, np.repeat(multipliers, self.sizes), minlength=blocks).astype(
            np.float64
        )


class HittingSet:
    """The known cores and cliques; it may be shared by threads.

    `weight` (blocks,): weight of each open block. `cores`: what proves each core.
    """

    def __init__(self, weight: FloatArray) -> None:
        self.weight = weight
        self.cores: dict[Core, CoreProof] = {}
        self._conflicts = ConflictGraph(weight.size)
        self._rows = Rows.made((), ())
        self._fresh: list[tuple[IndexArray, float]] = []
        self._lock = Lock()

    def add(self, core: Core, proof: CoreProof) -> bool:
        """Add a core and its proof; True if it is new."""
        with self._lock:
            if core in self.cores:
                return False
            self.cores[core] = proof
            if len(core) == 2:
                self._conflicts.add(*core)
            self._fresh.append((np.array(sorted(core), dtype=np.intp), 1.0))
            return True

    def violated(self, x: FloatArray, most: int) -> tuple[IndexArray, Rows]:
        """Separate the inequalities that shares `x`, shape (blocks,), violate most, new cliques included.

        `x` (blocks,). Returns: each inequality keeps its name. Returns: one for each name.
        """
        with self._lock:
            for clique in self._conflicts.violated(x):
                self._fresh.append((np.array(clique, dtype=np.intp), len(clique) - 1.0))
            if self._fresh:
                self._rows = self._rows.and_(Rows.made(*zip(*self._fresh, strict=True)))
                self._fresh = []
            rows = self._rows
        short = rows.least - rows.activity(x)
        violated = np.flatnonzero(short > VIOLATED)
        names = np.sort(violated[np.argsort(-short[violated], kind="stable")[:most]])
        return names, rows.of(names)


_NEARLY = 1e-9


class CoveringProgram:
    """The covering program of one thread, solved repeatedly with different blocks fixed.

    `master`: names the inequalities that a point violates. `spend`: called with the cost of every solve.
    """

    def __init__(
        self, master: HittingSet, spend: Spend = ignore, steering: HittingSteering = STEERING.hitting
    ) -> None:
        self._spend, self._steering = spend, steering
        self._master, self._weight = master, master.weight
        self._program = linear_program(box_model(self._weight))
        self._lower, self._upper = np.zeros(self._weight.size), np.ones(self._weight.size)
        self._names = np.empty(0, dtype=np.intp)
        self._rows = Rows.made((), ())
        self._idle = np.empty(0, dtype=np.intp)

    def fix(self, given_up: Mapping[int, bool]) -> None:
        """Fix these blocks as given up or kept, and free all others."""
        lower, upper = np.zeros(self._weight.size), np.ones(self._weight.size)
        for block, value in given_up.items():
            lower[block] = upper[block] = float(value)
        changed = np.flatnonzero((lower != self._lower) | (upper != self._upper))
        if changed.size:
            self._program.change_column_bounds(changed, lower[changed], upper[changed])
        self._lower, self._upper = lower, upper

    def solve(self) -> tuple[FloatArray, float]:
        """Find a lightest fractional hitting set of all known inequalities, and a lower bound on its weight.

        Returns shape (blocks,). Returns: infinite when the fixed blocks allow no hitting set.
        """
        self._forget()
        while True:
            point, value = self.resolve()
            if np.isinf(value):
                return point, value
            names, rows = self._master.violated(point, self._steering.most_at_once)
            # Others are violated within the tolerance of HiGHS.
            fresh = np.flatnonzero(~np.isin(names, self._names))
            if fresh.size == 0:
                return point, value
            self._add(names[fresh], rows.of(fresh))

    def resolve(self) -> tuple[FloatArray, float]:
        """Solve as `solve` does, without separating further inequalities."""
        if (self._rows.activity(self._upper) < self._rows.least - VIOLATED).any():
            return self._upper, np.inf
        solution = self._program.solve()
        size = self._program.rows + self._program.columns
        self._spend(PROGRAM + ITERATION * solution.iterations * size)
        multipliers = np.clip(solution.duals, 0.0, None)
        self._idle = np.where(multipliers > 0.0, 0, self._idle + 1)
        return solution.point, self._value(multipliers)

    def _value(self, multipliers: FloatArray) -> float:
        """Compute the dual bound of non-negative multipliers, safe against rounding.

        By weak duality, ``weight . x`` is at least ``multipliers . least + (weight - load) . x``. The reduced
        weights are rounded once for each row, and everything is rounded in the last sum.
        """
        load = self._rows.load(multipliers, self._weight.size)
        rest = self._weight - load
        products = multipliers * self._rows.least
        free = np.minimum(rest * self._lower, rest * self._upper)
        # Else rounding cannot make it negative.
        counts = (rest <= _NEARLY * self._weight) | (self._lower > 0.0)
        used, touched = int(np.count_nonzero(multipliers)), int(np.count_nonzero(counts))
        before = rounding_error(1 + used, float((load + self._weight)[counts].sum()))
        error = rounding_error(1 + used + touched, float(products.sum() + np.abs(free).sum()))
        return float(products.sum() + free.sum()) - before - error

    def _add(self, names: IndexArray, rows: Rows) -> None:
        self._names = np.concatenate([self._names, names])
        self._rows = self._rows.and_(rows)
        self._idle = np.concatenate([self._idle, np.zeros(names.size, dtype=np.intp)])
        starts = np.concatenate([[0], np.cumsum(rows.sizes)[:-1]])
        above, ones = np.full(names.size, np.inf), np.ones(rows.members.size)
        self._program.add_row_entries(starts, rows.members, ones, rows.least, above)

    def _forget(self) -> None:
        """Drop inequalities that have been slack for many solves."""
        idle = self._idle > self._steering.most_idle
        if self._names.size < self._steering.most_rows or not idle.any():
            return
        self._program.delete_rows(np.flatnonzero(idle))
        kept = np.flatnonzero(~idle)
        self._names, self._idle, self._rows = self._names[kept], self._idle[kept], self._rows.of(kept)
