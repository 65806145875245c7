"""The master problem: the lightest set of blocks that hits every core must be given up.

A core says that not all of its blocks can be linked. So the weight of the lightest set that has a block of
every known core is a lower bound on the weight that cannot be linked (Moreno-Centeno and Karp 2013).
"""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.engines.base import CoreProof
from solver.engines.exact.cliques import ConflictGraph
from solver.engines.exact.cores import Core
from solver.engines.exact.cover import incidence, search_cover

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

_SEARCH_STEPS = 20_000
_MOST_CLIQUE_ROUNDS = 8


class Rows(NamedTuple):
    """Inequalities: of the blocks of row r, ``least[r]`` must be given up at least."""

    sizes: IndexArray
    members: IndexArray
    least: FloatArray


class HittingSet:
    """Cores, and the lightest sets of blocks that hit them all.

    Parameters
    ----------
    weight : ndarray of float64, shape (open,)
        Weight of each open block.
    random : numpy.random.Generator
        For the local search.

    Attributes
    ----------
    cores : dict
        What proves each core.
    bound : float
        No set that hits every core is lighter.
    """

    def __init__(self, weight: FloatArray, random: np.random.Generator) -> None:
        self._weight = weight
        self.cores: dict[Core, CoreProof] = {}
        self.bound = 0.0
        self._chosen = np.zeros(weight.size, dtype=bool)
        self._random = random
        self._conflicts = ConflictGraph(weight.size)

    def add(self, core: Core, proof: CoreProof) -> bool:
        """Take a core and what proves it; True when it is new."""
        if core in self.cores:
            return False
        self.cores[core] = proof
        if len(core) == 2:
            self._conflicts.add(*core)
        return True

    def relaxed(self) -> FloatArray:
        """Fractional hitting set of least weight, shape (open,); raises the bound.

        Cliques of pairs are added as the point violates them. The bound is that of the dual solution: what
        a packing of the inequalities is worth, less what it loads on each block beyond the block's weight,
        because a block need not be given up more than once. So rounding cannot hurt it.
        """
        for _ in range(_MOST_CLIQUE_ROUNDS):
            rows = self.rows()
            point, _, duals = self._solve(rows, whole=False, seconds=np.inf, gap=0.0)
            packing = np.clip(duals, 0.0, None)
            load = np.bincount(rows.members, np.repeat(packing, rows.sizes), minlength=self._weight.size)
            worth = float(packing @ rows.least)
            bound = worth - float(np.clip(load - self._weight, 0.0, None).sum())
            self.bound = max(self.bound, bound - 1e-12 * worth)
            if not self._conflicts.separate(point):
                break
        return point

    def whole(self, rows: Rows, seconds: float, gap: float) -> FloatArray:
        """Hitting set of least weight, shape (open,), by HiGHS; raises the bound.

        It may run beside everything that adds cores: it looks at `rows` alone.

        Parameters
        ----------
        rows : Rows
            What `rows` gave.
        seconds : float
            Time limit; the bound holds all the same.
        gap : float
            A set that weighs less than this above the bound is as good as the lightest.
        """
        point, bound, _ = self._solve(rows, whole=True, seconds=seconds, gap=gap)
        self.bound = max(self.bound, bound)
        self._chosen = point > 0.5
        return point

    def search(self, target: float) -> tuple[FloatArray, bool]:
        """Look for a hitting set that weighs at most `target`, near the last one; and whether it is one."""
        sizes = np.array([len(core) for core in self.cores], dtype=np.intp)
        members = np.fromiter(chain.from_iterable(self.cores), dtype=np.intp)
        cores = incidence(sizes, members, self._weight.size)
        chosen, at_best = search_cover(cores, self._weight, self._chosen, target, _SEARCH_STEPS, self._random)
        if at_best:
            self._chosen = chosen
        return chosen.astype(np.float64), bool(at_best)

    def rows(self) -> Rows:
        """The inequalities: cores, but for pairs that a clique implies, and cliques."""
        cores = [core for core in self.cores if len(core) != 2 or not self._conflicts.implied(*core)]
        lists = [*cores, *self._conflicts.cliques]
        least = np.ones(len(lists))
        least[len(cores) :] = [len(clique) - 1 for clique in self._conflicts.cliques]
        return Rows(
            sizes=np.array([len(blocks) for blocks in lists], dtype=np.intp),
            members=np.fromiter(chain.from_iterable(lists), dtype=np.intp),
            least=least,
        )

    def _solve(
        self, rows: Rows, *, whole: bool, seconds: float, gap: float
    ) -> tuple[FloatArray, float, FloatArray]:
        import highspy

        blocks = self._weight.size
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("mip_rel_gap", 0.0)
        highs.setOptionValue("mip_abs_gap", gap)
        highs.setOptionValue("time_limit", seconds)
        highs.passModel(
            blocks,
            rows.sizes.size,
            rows.members.size,
            int(highspy.MatrixFormat.kRowwise),
            int(highspy.ObjSense.kMinimize),
            0.0,
            self._weight,
            np.zeros(blocks),
            np.ones(blocks),
            rows.least,
            np.full(rows.sizes.size, np.inf),
            np.concatenate([[0], np.cumsum(rows.sizes)]).astype(np.int32),
            rows.members.astype(np.int32),
            np.ones(rows.members.size),
            np.full(blocks, int(whole), dtype=np.int32),
        )
        highs.run()
        solution, info = highs.getSolution(), highs.getInfo()
        point = np.asarray(solution.col_value) if len(solution.col_value) else np.ones(blocks)
        return point, float(info.mip_dual_bound), np.asarray(solution.row_dual)
