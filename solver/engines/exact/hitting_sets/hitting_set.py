"""Cores, and the inequalities that every hitting set of them satisfies.

A core says that not all of its blocks can be linked. So the weight of the lightest set that has a block of
every known core is a lower bound on the weight that cannot be linked (Moreno-Centeno and Karp 2013).
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from typing import NamedTuple

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.solver.engines.base import CoreProof
from linkrisk.solver.engines.exact.cores.base import Core
from linkrisk.solver.engines.exact.hitting_sets.cliques import ConflictGraph

VIOLATED = 1e-6


class Rows(NamedTuple):
    """Inequalities: of the blocks of row r, ``least[r]`` must be given up at least."""

    sizes: IndexArray
    members: IndexArray
    least: FloatArray

    @classmethod
    def made(cls, lists: Iterable[IndexArray], least: Iterable[float]) -> Rows:
        """Rows of these blocks."""
        kept = list(lists)
        return cls(
            sizes=np.array([blocks.size for blocks in kept], dtype=np.intp),
            members=np.concatenate([np.empty(0, dtype=np.intp), *kept]),
            least=np.array(list(least), dtype=np.float64),
        )

    def of(self, chosen: IndexArray) -> Rows:
        """These rows alone."""
        sizes, ends = self.sizes[chosen], np.cumsum(self.sizes)[chosen]
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return Rows(sizes, self.members[np.repeat(ends - sizes, sizes) + within], self.least[chosen])

    def and_(self, more: Rows) -> Rows:
        """These rows and more."""
        return Rows(*(np.concatenate(parts) for parts in zip(self, more, strict=True)))

    def activity(self, x: FloatArray) -> FloatArray:
        """How much of its blocks each row has given up, for shares `x` of the blocks."""
        if self.sizes.size == 0:
            return np.empty(0)
        first = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        return np.asarray(np.add.reduceat(x[self.members], first))

    def load(self, multipliers: FloatArray, blocks: int) -> FloatArray:
        """Sum of the multipliers of the rows that each block is in, shape (blocks,)."""
        return np.bincount(self.members, np.repeat(multipliers, self.sizes), minlength=blocks).astype(
            np.float64
        )


class HittingSet:
    """Cores and cliques; several threads may use it at once.

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
        """Take a core and what proves it; True when it is new."""
        with self._lock:
            if core in self.cores:
                return False
            self.cores[core] = proof
            if len(core) == 2:
                self._conflicts.add(*core)
            self._fresh.append((np.array(sorted(core), dtype=np.intp), 1.0))
            return True

    def violated(self, x: FloatArray, most: int) -> tuple[IndexArray, Rows]:
        """The inequalities that shares `x`, shape (blocks,), violate by most; with new cliques among them.

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
