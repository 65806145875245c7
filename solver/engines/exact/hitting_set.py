"""The master problem: the lightest set of blocks that hits every core must be given up.

A core says that not all of its blocks can be linked. So the weight of the lightest set that has a block of
every known core is a lower bound on the weight that cannot be linked (Moreno-Centeno and Karp 2013).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from solver.engines.base import CoreProof
from solver.engines.exact.cores import Core

FloatArray = NDArray[np.float64]


class HittingSet:
    """Cores, and the lightest sets of blocks that hit them all.

    Parameters
    ----------
    weight : ndarray of float64, shape (open,)
        Weight of each open block.
    """

    def __init__(self, weight: FloatArray) -> None:
        self._weight = weight
        self.cores: dict[Core, CoreProof] = {}

    def add(self, core: Core, proof: CoreProof) -> bool:
        """Take a core and what proves it; True when it is new."""
        if core in self.cores:
            return False
        self.cores[core] = proof
        return True

    def relaxed(self) -> tuple[FloatArray, float]:
        """Fractional hitting set of least weight, shape (open,), and a lower bound that rounding cannot hurt.

        The bound is that of the dual solution: a packing of cores, less what it loads on each block beyond
        the block's weight, because a block need not be given up more than once.
        """
        point, _, duals = self._solve(whole=False, seconds=np.inf, gap=0.0)
        packing = np.clip(duals, 0.0, None)
        load = np.zeros(self._weight.size)
        for core, value in zip(self.cores, packing, strict=True):
            load[list(core)] += value
        bound = float(packing.sum() - np.clip(load - self._weight, 0.0, None).sum())
        return point, bound - 1e-12 * float(packing.sum())

    def whole(self, seconds: float, gap: float) -> tuple[FloatArray, float]:
        """Hitting set of least weight, shape (open,), by HiGHS, and its dual bound.

        Parameters
        ----------
        seconds : float
            Time limit; the bound holds all the same.
        gap : float
            Absolute gap at which to stop.
        """
        point, bound, _ = self._solve(whole=True, seconds=seconds, gap=gap)
        return point, bound

    def _solve(self, *, whole: bool, seconds: float, gap: float) -> tuple[FloatArray, float, FloatArray]:
        import highspy

        sizes = [len(core) for core in self.cores]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        members = np.array([block for core in self.cores for block in sorted(core)], dtype=np.int32)
        blocks = self._weight.size
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("mip_rel_gap", 0.0)
        highs.setOptionValue("mip_abs_gap", gap)
        highs.setOptionValue("time_limit", seconds)
        highs.passModel(
            blocks,
            len(sizes),
            members.size,
            int(highspy.MatrixFormat.kRowwise),
            int(highspy.ObjSense.kMinimize),
            0.0,
            self._weight,
            np.zeros(blocks),
            np.ones(blocks),
            np.ones(len(sizes)),
            np.full(len(sizes), np.inf),
            starts,
            members,
            np.ones(members.size),
            np.full(blocks, int(whole), dtype=np.int32),
        )
        highs.run()
        solution, info = highs.getSolution(), highs.getInfo()
        point = np.asarray(solution.col_value) if len(solution.col_value) else np.ones(blocks)
        return point, float(info.mip_dual_bound), np.asarray(solution.row_dual)
