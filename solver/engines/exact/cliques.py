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
    """Pairs of blocks that exclude each other, and cliques of them that have been of use.

    Parameters
    ----------
    blocks : int

    Attributes
    ----------
    cliques : dict
        Maximal cliques of three blocks or more.
    """

    def __init__(self, blocks: int) -> None:
        self._adjacent = np.zeros((blocks, blocks), dtype=bool)
        self._covered = np.zeros((blocks, blocks), dtype=bool)
        self.cliques: dict[Clique, None] = {}

    def add(self, first: int, second: int) -> None:
        """Take a pair."""
        self._adjacent[first, second] = self._adjacent[second, first] = True

    def implied(self, first: int, second: int) -> bool:
        """Whether a clique has this pair."""
        return bool(self._covered[first, second])

    def separate(self, x: FloatArray) -> bool:
        """Collect cliques of which `x`, shape (blocks,), gives up too little; True when there are new ones.

        Each grows from a block by the neighbour of which least is given up.
        """
        found = 0
        for seed in np.flatnonzero(self._adjacent.any(axis=1) & (x < 1.0 - _VIOLATED)):
            clique, common = [int(seed)], self._adjacent[seed].copy()
            while common.any():
                neighbours = np.flatnonzero(common)
                nearest = int(neighbours[np.argmin(x[neighbours])])
                clique.append(nearest)
                common &= self._adjacent[nearest]
            members = tuple(sorted(clique))
            if len(clique) < 3 or len(clique) - 1 - x[clique].sum() <= _VIOLATED or members in self.cliques:
                continue
            self.cliques[members] = None
            self._covered[np.ix_(members, members)] = True
            found += 1
            if found == _MOST_AT_ONCE:
                break
        return found > 0
