"""Which block to branch on: pseudo-costs, and strong branching for blocks that were hardly tried.

Reliability branching (Achterberg, Koch and Martin 2005): pseudo-costs, with the linear programs of both
children solved for blocks of which little is known.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.solver.engines.exact.hitting_sets.covering import CoveringProgram

_TRIED = 8
_RELIABLE = 4
_LEAST = 1e-6
_MOST = 5.0
"""Gain of a child in which nothing is left; larger gains count as this one."""


class Gains:
    """What branching on each block gained for a whole unit of its share."""

    def __init__(self, blocks: int) -> None:
        self._sum = np.zeros((2, blocks))
        self._times = np.zeros((2, blocks), dtype=np.intp)

    def learn(self, block: int, given_up: bool, share: float, gain: float) -> None:
        """Note what giving up or keeping a block gained, which had been given up to a share."""
        distance = 1.0 - share if given_up else share
        self._sum[int(given_up), block] += min(max(gain, 0.0), _MOST) / max(distance, _LEAST)
        self._times[int(given_up), block] += 1

    def best(
        self,
        point: FloatArray,
        blocks: IndexArray,
        fixed: Mapping[int, bool],
        value: float,
        program: CoveringProgram,
    ) -> int:
        """The block among these that promises most.

        `point` (blocks,): the fractional hitting set. `fixed`: blocks given up or kept at the node. `value`:
        of the node.
        """
        expected = self._expected(point)[blocks]
        order = np.argsort(-expected, kind="stable")[:_TRIED]
        best, most = int(blocks[order[0]]), -1.0
        for at in order:
            block = int(blocks[at])
            gain = float(expected[at])
            if self._times[:, block].min() < _RELIABLE:
                gain = self._tried(block, float(point[block]), value, fixed, program)
            if gain > most:
                best, most = block, gain
        return best

    def _expected(self, point: FloatArray) -> FloatArray:
        """Product of the gains of both children, from what is known; of unknown blocks the mean."""
        product = np.ones(point.size)
        for given_up, distance in ((0, point), (1, 1.0 - point)):
            total, times = self._sum[given_up], self._times[given_up]
            mean = total.sum() / times.sum() if times.any() else 1.0
            each = np.where(times > 0, total / np.maximum(times, 1), mean)
            product *= np.maximum(each * distance, _LEAST)
        return product

    def _tried(
        self, block: int, share: float, value: float, fixed: Mapping[int, bool], program: CoveringProgram
    ) -> float:
        """The same product from the programs of both children."""
        product = 1.0
        for given_up in (False, True):
            program.fix({**fixed, block: given_up})
            gain = program.resolve()[1] - value
            self.learn(block, given_up, share, gain)
            product *= min(max(gain, _LEAST), _MOST)
        return product
