"""Cliques of blocks that exclude each other in pairs: of each, at most one can be linked.

The linear program of the pairs alone is weak, because giving up half of every block satisfies it. A clique
of k blocks says that k - 1 of them must be given up, which implies all of its pairs (Padberg 1973).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Clique = tuple[int, ...]

_VIOLATED = 1e-4
_MOST_AT_ONCE = 100


class ConflictGraph:
    """Pairs of blocks that exclude each other, and maximal cliques of them.

    Parameters
    ----------
    blocks : int
    """

    def __init__(self, blocks: int) -> None:
        self._adjacent = np.zeros((blocks, blocks), dtype=bool)
        self._known: set[Clique] = set()

    def add(self, first: int, second: int) -> None:
        """Take a pair."""
        self._adjacent[first, second] = self._adjacent[second, first] = True

    def violated(self, x: FloatArray) -> list[Clique]:
        """New maximal cliques of three blocks or more of which `x`, shape (blocks,), gives up too little.

        Each grows from a block by the neighbour of which least is given up.
        """
        found: list[Clique] = []
        for seed in np.flatnonzero(self._adjacent.any(axis=1) & (x < 1.0 - _VIOLATED)):
            clique, common = [int(seed)], self._adjacent[seed].copy()
            while common.any():
                neighbours = np.flatnonzero(common)
                nearest = int(neighbours[np.argmin(x[neighbours])])
                clique.append(nearest)
                common &= self._adjacent[nearest]
            members = tuple(sorted(clique))
            if len(clique) < 3 or len(clique) - 1 - x[clique].sum() <= _VIOLATED or members in self._known:
                continue
            self._known.add(members)
            found.append(members)
            if len(found) == _MOST_AT_ONCE:
                break
        return found
