"""Local search over blocks: link one more block, and give up as few others as that takes.

The core that prevents it names the blocks that could be given up. Sets that link as much as the best one are
walked through, so that plateaus are crossed; every core met on the way serves the bound as well.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.solver.engines.attacks.scoring import STRICT, Scorer
from linkrisk.solver.engines.exact.cores.base import Answer, CoreFinder
from linkrisk.solver.engines.steering import STEERING, HittingSteering

_EVEN = 0.1


class SwapSearch:
    """A walk through sets of blocks that can be linked together.

    `weight` (open,): weight of each open block. `learn`: called with every core.
    """

    def __init__(
        self,
        finder: CoreFinder,
        scorer: Scorer,
        weight: FloatArray,
        learn: Callable[[Answer], object],
        random: np.random.Generator,
        steering: HittingSteering = STEERING.hitting,
    ) -> None:
        self._steering = steering
        self._finder, self._scorer, self._weight = finder, scorer, weight
        self._learn, self._random = learn, random
        self._linked = np.zeros(weight.size, dtype=bool)
        self._tabu = np.zeros(weight.size, dtype=np.intp)
        self._step = self._stale = 0
        self._offered: FloatArray | None = None
        self._shares = np.zeros(weight.size)
        self._best = 0.0

    def start(self, theta: FloatArray) -> None:
        """Begin at these parameters, unless the walk links more already."""
        linked = self._scorer.exact_margins(theta) > STRICT
        if self._weight @ linked > self._weight @ self._linked:
            self._linked, self._stale = linked, 0
            self._best = float(self._weight @ linked)

    def offer(self, theta: FloatArray, point: FloatArray) -> None:
        """Parameters to go on from when the walk has got nowhere for long, and what shares to give up."""
        self._offered, self._shares = theta, point

    def step(self) -> FloatArray | None:
        """Try one more block; parameters that link more than any before, if there are."""
        self._step += 1
        self._stale += 1
        if self._stale > self._steering.patience and self._offered is not None:
            self._linked = self._scorer.exact_margins(self._offered) > STRICT
            self._tabu[:] = 0
            self._offered, self._stale = None, 0
        outside = np.flatnonzero(~self._linked & (self._tabu < self._step))
        if outside.size == 0:
            return None
        # Rather a block that fractional hitting sets keep, and give up rather what they give up.
        likely = 1.0 + _EVEN - self._shares[outside]
        block = int(self._random.choice(outside, p=likely / likely.sum()))
        wanted = self._linked.copy()
        wanted[block] = True
        for _ in range(self._steering.given_up + 1):
            answer = self._finder.ask(np.flatnonzero(wanted))
            if answer.theta is not None:
                return self._move(answer.theta, wanted)
            if answer.core is None:
                return None
            self._learn(answer)
            others = np.array(sorted(answer.core - {block}), dtype=np.intp)
            if others.size == 0:  # lost, whatever else is given up
                self._tabu[block] = np.iinfo(np.intp).max
                return None
            least = others[self._tabu[others] == self._tabu[others].min()]
            likely = _EVEN + self._shares[least]
            wanted[self._random.choice(least, p=likely / likely.sum())] = False
        self._tabu[block] = self._step + self._steering.tabu
        return None

    def _move(self, theta: FloatArray, wanted: BoolArray) -> FloatArray | None:
        linked = wanted | (self._scorer.exact_margins(theta) > STRICT)
        gain = self._weight @ linked - self._weight @ self._linked
        if gain < -1e-9:
            return None
        if gain > 1e-9:
            self._stale = 0
        self._tabu[self._linked & ~linked] = self._step + self._steering.tabu
        self._linked = linked
        if self._weight @ linked <= self._best + 1e-9:
            return None
        self._best = float(self._weight @ linked)
        return theta
