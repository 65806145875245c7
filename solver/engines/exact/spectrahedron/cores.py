"""Cores of the Mahalanobis form: blocks that no positive semidefinite matrix links together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.solver.engines.attacks.scoring import Scorer
from linkrisk.solver.engines.base import CoreProof
from linkrisk.solver.engines.exact.cores.base import Answer, CoreFinder, LinearCoreFinder
from linkrisk.solver.engines.exact.spectrahedron.kernels import (
    CORE,
    LINKED,
    MORE,
    TOUCHING,
    WIDE,
    Rows,
    ask,
    fewest,
    shrink,
)
from linkrisk.solver.engines.steering import STEERING, FinderSteering
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.work import ENTRY

_MOST_ROUNDS = 60
_MOST_REMEMBERED = 6
_MOST_NEAR = 24
_LOOKS, _STEPS = 3.0, 30.0
"""How often a question looks at all rows, and how many steps it takes, roughly."""


class SemidefiniteCoreFinder(CoreFinder):
    """By interior point steps on few rows: those that mattered before, and those that an answer violates.

    Where records exclude each other by no more than a tie, the multipliers may need more digits than
    these steps give; then the linear program is asked about the few blocks that matter.

    `clock`: questions asked after its end stay undecided.
    """

    at_once: ClassVar[int] = 30

    def __init__(
        self,
        system: BlockSystem,
        scorer: Scorer,
        clock: Clock,
        steering: FinderSteering = STEERING.finders,
    ) -> None:
        super().__init__(system)
        self._clock, self._steering = clock, steering
        self._linear = LinearCoreFinder(system, scorer, clock)
        values, blocks = system.values, system.open_blocks.size
        first, second = np.triu_indices(len(system.aggregator.attributes))
        self._rows = Rows(
            values=np.ascontiguousarray(values if isinstance(values, np.ndarray) else values.toarray()),
            starts=np.searchsorted(system.row_open, np.arange(blocks + 1)),
            block=system.row_open,
            first=first,
            second=second,
            remembered=np.full((blocks, _MOST_REMEMBERED), -1),
            near=np.zeros((blocks, _MOST_NEAR, system.aggregator.dimension)),
            near_row=np.full((blocks, _MOST_NEAR), -1),
            near_count=np.zeros(blocks, dtype=np.intp),
        )

    def ask(self, blocks: IndexArray) -> Answer:
        """Find a matrix on few rows, add the rows that it violates, and again."""
        if blocks.size == 0:
            return Answer(theta=self.system.aggregator.equal())
        rounds = self._turns(blocks)
        active = np.empty(0, dtype=np.intp)
        for _ in range(0, _MOST_ROUNDS, rounds):
            if self._clock.expired:
                break
            state, theta, active, multipliers = ask(self._rows, blocks, active, WIDE, rounds)
            self._clock.spend(self._cost(blocks, active.size))
            if state == LINKED:
                return Answer(theta=theta)
            if state == CORE:
                return self._proved(active, multipliers)
            if state == TOUCHING:
                return self._touching(active)
            if state != MORE:
                break
        return Answer()

    def shrink(self, answer: Answer, order: Sequence[int]) -> Answer:
        """Leave blocks out of a core, in this order, as long as the rest is still one."""
        left = np.array(order, dtype=np.intp)
        while left.size and answer.proof is not None and not self._clock.expired:
            proof = answer.proof
            turns = self._turns(np.array(sorted(answer.core or ()), dtype=np.intp))
            done, rows, multipliers, touching = shrink(self._rows, proof.rows, proof.multipliers, left, turns)
            left = left[done:]
            asked = np.array(sorted(answer.core or ()), dtype=np.intp)
            self._clock.spend(min(done, asked.size) * self._cost(asked, rows.size))
            answer = self._proved(rows, multipliers)
            if touching.size:
                fewer = self._touching(touching)
                answer = answer if fewer.core is None else fewer
        return answer

    def _turns(self, blocks: IndexArray) -> int:
        """How often compiled code may look at all rows of some blocks before the clock is asked again."""
        starts = self._rows.starts
        cells = int((starts[blocks + 1] - starts[blocks]).sum()) * self.system.aggregator.dimension
        return min(_MOST_ROUNDS, max(1, self._steering.cells_at_once // max(1, cells)))

    def _cost(self, blocks: IndexArray, active: int) -> float:
        """Operations of a question: looks at all rows of these blocks, and steps on those that matter."""
        starts, size = self._rows.starts, self.system.aggregator.dimension
        rows = int((starts[blocks + 1] - starts[blocks]).sum())
        return ENTRY * size * (_LOOKS * rows + _STEPS * size * (size + active))

    def _touching(self, rows: IndexArray) -> Answer:
        """Ask the linear program about all rows of the blocks of these."""
        proof = self._linear.ask(np.unique(self.system.row_open[rows])).proof
        if proof is None:
            return Answer()
        chosen, multipliers = fewest(self._rows, proof.rows, proof.multipliers)
        return self._proved(chosen, multipliers) if chosen.size else Answer()

    def _proved(self, rows: IndexArray, multipliers: FloatArray) -> Answer:
        return self.proved(CoreProof(rows, multipliers, np.empty(0)))
