"""The inequalities of a hitting set while they are collected: cores, and what is derived from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from linkrisk.arrays import FloatArray
from linkrisk.solver.certificates.core.proofs import (
    Core,
    Inequality,
    clique_inequality,
    core_inequality,
    half_inequality,
)

_VIOLATED = 1e-6
_MOST_CLIQUES = 60
_MOST_CYCLES = 60


class Inequalities:
    """Cores, and the cliques and odd cycles of cores of two blocks, the cores first.

    Blocks are called by their place in the program.
    """

    def __init__(self, cores: Sequence[Core], blocks: int) -> None:
        self.cores = cores
        self.found: list[Inequality] = [core_inequality(core) for core in cores]
        self._made: dict[int, tuple[str, tuple[int, ...]]] = {}
        self._known: set[tuple[str, tuple[int, ...]]] = set()
        sizes = [len(core) for core in cores]
        members = np.array([block for core in cores for block in sorted(core)], dtype=np.intp)
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        self.matrix = csr_array((np.ones(members.size), members, starts), shape=(len(cores), blocks))
        self._pairs = {tuple(sorted(core)): at for at, core in enumerate(cores) if len(core) == 2}
        self._adjacent = np.zeros((blocks, blocks), dtype=bool)
        for first, second in self._pairs:
            self._adjacent[first, second] = self._adjacent[second, first] = True

    def violated_cores(self, x: FloatArray, most: int) -> list[int]:
        """Cores that a point does not hit, those that it misses by most first."""
        hit: FloatArray = np.asarray(self.matrix @ x)
        order = np.argsort(hit, kind="stable")[:most]
        return [int(at) for at in order if hit[at] < 1.0 - _VIOLATED]

    def violated_cuts(self, x: FloatArray) -> list[int]:
        """New cliques and odd cycles that a point violates."""
        return [*self._cliques(x), *self._odd_cycles(x)]

    def _add(self, kind: str, members: tuple[int, ...], inequality: Inequality) -> int | None:
        if (kind, members) in self._known:
            return None
        self._known.add((kind, members))
        self.found.append(inequality)
        self._made[len(self.found) - 1] = (kind, members)
        return len(self.found) - 1

    def _cliques(self, x: FloatArray) -> list[int]:
        """Cliques that grow from each block by the neighbour with the smallest x."""
        added = []
        for seed in np.flatnonzero(self._adjacent.any(axis=1) & (x < 1.0 - _VIOLATED)):
            clique, common = [int(seed)], self._adjacent[seed].copy()
            while common.any():
                nearest = np.flatnonzero(common)
                best = int(nearest[np.argmin(x[nearest])])
                clique.append(best)
                common &= self._adjacent[best]
            if len(clique) > 2 and len(clique) - 1 - x[clique].sum() > _VIOLATED:
                members = tuple(sorted(clique))
                index = self._add("clique", members, clique_inequality(members))
                if index is not None:
                    added.append(index)
            if len(added) >= _MOST_CLIQUES:
                break
        return added

    def _odd_cycles(self, x: FloatArray) -> list[int]:
        """Odd cycles by shortest paths between the two copies of a block in the doubled graph.

        Each pair of blocks has length ``x_i + x_j - 1``; an odd cycle shorter than 1 is violated.
        """
        blocks = x.size
        edges = np.array([pair for pair in self._pairs if x[list(pair)].max() < 1.0 - _VIOLATED])
        if edges.size == 0:
            return []
        length = np.maximum(x[edges].sum(axis=1) - 1.0, 0.0) + 1e-9  # zero would mean no edge
        first, second = edges[:, 0], edges[:, 1]
        tails = np.concatenate([first, second])
        heads = np.concatenate([second, first]) + blocks
        graph = csr_array((np.tile(length, 2), (tails, heads)), shape=(2 * blocks, 2 * blocks))
        seeds = np.unique(tails)
        distance, before = dijkstra(graph, directed=False, indices=seeds, limit=1.0, return_predecessors=True)
        added = []
        reach = distance[np.arange(seeds.size), seeds + blocks]
        for at in np.argsort(reach, kind="stable")[:_MOST_CYCLES]:
            if reach[at] >= 1.0 - _VIOLATED:
                break
            index = self._cycle(before[at], int(seeds[at]), blocks, x)
            if index is not None:
                added.append(index)
        return added

    def _cycle(self, before: Any, seed: int, blocks: int, x: FloatArray) -> int | None:
        """The inequality of the closed walk that ends at the copy of `seed`."""
        walk, at = [], seed + blocks
        while at != seed:
            previous = int(before[at])
            walk.append(self._pairs[tuple(sorted((at % blocks, previous % blocks)))])
            at = previous
        members = tuple(sorted(walk))
        inequality = half_inequality([self.found[index] for index in members])
        value = sum(count * x[block] for block, count in inequality.coefficients.items())
        return self._add("half", members, inequality) if value < inequality.least - _VIOLATED else None

    def written(
        self, used: Sequence[int], names: Sequence[int]
    ) -> tuple[list[int], list[Any], dict[int, int]]:
        """The cores and derived inequalities to list for those `used`, and where each is then.

        `names` are what the certificate calls the blocks.
        """
        needed = set(used)
        made = {index: self._made[index] for index in sorted(needed) if index in self._made}
        for kind, members in made.values():
            if kind == "clique":
                needed.update(
                    self._pairs[first, second] for first in members for second in members if first < second
                )
            else:
                needed.update(members)
        cores = sorted(index for index in needed if index < len(self.cores))
        place = {index: at for at, index in enumerate([*cores, *made])}
        derived: list[Any] = []
        for kind, members in made.values():
            if kind == "clique":
                derived.append([kind, [int(names[block]) for block in members]])
            else:
                derived.append([kind, [place[index] for index in members]])
        return cores, derived, place
