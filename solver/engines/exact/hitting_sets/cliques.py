"""Cliques of blocks that exclude each other in pairs: of each, at most one can be linked.

The linear program of the pairs alone is weak, because giving up half of every block satisfies it. A clique
of k blocks says that k - 1 of them must be given up, which implies all of its pairs (Padberg 1973).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.formulations.compiled import kernel

Clique = tuple[int, ...]

_VIOLATED = 1e-4
_MOST_AT_ONCE = 100


@kernel
def _grown(adjacent: BoolArray, x: FloatArray, seed: int) -> Any:
    """The blocks of a maximal clique that grows from `seed` by the common neighbour of smallest `x`."""
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
    """Pairs of blocks that exclude each other, and maximal cliques of them."""

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
            clique = _grown(self._adjacent, x, int(seed))
            if clique.size < 3 or clique.size - 1 - x[clique].sum() <= _VIOLATED:
                continue
            members = tuple(sorted(clique.tolist()))
            if members in self._known:
                continue
            self._known.add(members)
            found.append(members)
            if len(found) == _MOST_AT_ONCE:
                break
        return found
