"""Cores of the aggregators whose parameters lie in a polytope."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from scipy import sparse

from linkrisk.arrays import IndexArray
from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.solver.engines.attacks.scoring import Scorer
from linkrisk.solver.engines.base import CoreProof
from linkrisk.solver.engines.exact.cores.base import Answer, CoreFinder, LinearCoreFinder
from linkrisk.solver.engines.exact.polytope.kernels import CORE, LINKED, Questions, ask, shrink
from linkrisk.solver.engines.exact.polytope.margin import Basis, Columns, SparseRows
from linkrisk.solver.engines.steering import STEERING, FinderSteering
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.work import ENTRY

_MOST_REMEMBERED = 12
_SHIFT = 1e-8

_LOOKS, _PIVOTS = 3.0, 10.0
"""How often a question looks at all rows, and pivots for each column of its basis, roughly."""


class PolytopeCoreFinder(CoreFinder):
    """By a simplex method in compiled code that goes on where the last question ended.

    What it leaves undecided, because records exclude each other by little more than a tie, HiGHS is asked.

    `clock`: questions asked after its end stay undecided.
    """

    at_once: ClassVar[int] = 16

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
        domain, blocks = system.aggregator.domain.rows, system.open_blocks.size
        bound = np.maximum(np.abs(domain.column_lower), np.abs(domain.column_upper))
        self._questions = Questions(
            columns=Columns(
                rows=_compiled(system.matrix),
                domain=_compiled(domain.matrix),
                row_lower=domain.row_lower,
                row_upper=domain.row_upper,
                lower=domain.column_lower,
                upper=domain.column_upper,
            ),
            first=np.searchsorted(system.row_open, np.arange(blocks + 1)),
            block=system.row_open,
            basis=_no_basis(system.aggregator.dimension + 1),
            remembered=np.full((blocks, _MOST_REMEMBERED), -1),
            dear=1.0 + float(np.linalg.norm(bound)),
        )

    def ask(self, blocks: IndexArray) -> Answer:
        """Go on from the last basis, with the rows of these blocks."""
        if blocks.size == 0:
            return Answer(theta=self.system.aggregator.equal())
        if self._clock.expired:
            return Answer()
        self._clock.spend(self._cost(blocks))
        state, theta, *proof = ask(self._questions, blocks, self._questions.dear, self._steering.most_pivots)
        if state == LINKED:
            return Answer(theta=theta)
        return self.proved(CoreProof(*proof)) if state == CORE else self._linear.ask(blocks)

    def shrink(self, answer: Answer, order: Sequence[int]) -> Answer:
        """Leave blocks out of a core, in this order, as long as the rest is still one."""
        left = np.array(order, dtype=np.intp)
        while left.size and answer.proof is not None and not self._clock.expired:
            given = answer.proof
            done, undecided, *proof = shrink(
                self._questions, given.rows, given.multipliers, given.domain, left, self._steering.most_pivots
            )
            asked = np.array(sorted(answer.core or ()), dtype=np.intp)
            self._clock.spend(min(done, asked.size) * self._cost(asked))
            answer = self.proved(CoreProof(*proof))
            if undecided and answer.core is not None:
                fewer = self._linear.ask(np.array(sorted(answer.core - {int(left[done - 1])}), dtype=np.intp))
                answer = answer if fewer.core is None else fewer
            left = left[done:]
        return answer

    def _cost(self, blocks: IndexArray) -> float:
        """Operations of a question: looks at all rows of these blocks, and pivots on an explicit inverse."""
        first, size = self._questions.first, self.system.aggregator.dimension + 1
        rows = int((first[blocks + 1] - first[blocks]).sum())
        return ENTRY * size * (_LOOKS * rows + _PIVOTS * size * size)


def polytope_finder(
    system: BlockSystem, scorer: Scorer, clock: Clock, steering: FinderSteering = STEERING.finders
) -> CoreFinder:
    """The faster of two finders of cores: in many dimensions that is HiGHS."""
    if system.aggregator.dimension <= steering.most_parameters:
        return PolytopeCoreFinder(system, scorer, clock, steering)
    return LinearCoreFinder(system, scorer, clock)


def _compiled(matrix: sparse.csr_array) -> SparseRows:
    """The same as arrays that compiled code takes; short integers, as all rows are read again and again."""
    return SparseRows(matrix.indptr.astype(np.intp), matrix.indices.astype(np.uint16), matrix.data)


def _no_basis(size: int) -> Basis:
    """Room for a basis."""
    right = _SHIFT * (1.0 + np.random.default_rng(0).random(size))
    right[-1] = 1.0
    return Basis(
        inverse=np.zeros((size, size)),
        columns=np.full(size, -1),
        x=np.zeros(size),
        cost=np.zeros(size),
        prices=np.zeros(size),
        right=right,
        pivots=np.zeros(1, dtype=np.intp),
    )
