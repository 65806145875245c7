"""Cores of the Mahalanobis form: blocks that no positive semidefinite matrix links together."""

from __future__ import annotations

from itertools import chain

import numpy as np
from numpy.typing import NDArray

from formulations.block_system import BlockSystem
from solver.clock import Clock
from solver.engines.base import CoreProof
from solver.engines.exact.cores import ROUNDING, Answer, CoreFinder, LinearCoreFinder
from solver.engines.exact.semidefinite import largest_eigenvalue, widest_margin
from solver.engines.scoring import STRICT, Scorer

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

_MOST_ROUNDS = 60
_MOST_REMEMBERED = 6
_FEW = 20
_TOUCHING = 1e-5
_SHARES = (1e-2, 1e-4, 1e-6)


class SemidefiniteCoreFinder(CoreFinder):
    """By interior point steps on few rows: those that mattered before, and those that an answer violates.

    Where records exclude each other by no more than a tie, the multipliers may need more digits than
    these steps give; then the linear program is asked about the few blocks that matter.

    Parameters
    ----------
    system : BlockSystem
    scorer : Scorer
    clock : Clock
        Questions asked after its end stay undecided.
    """

    def __init__(self, system: BlockSystem, scorer: Scorer, clock: Clock) -> None:
        super().__init__(system)
        self._clock, self._scorer = clock, scorer
        self._linear = LinearCoreFinder(system, scorer, clock)
        self._rows = system.matrix.toarray()
        self._first, self._second = np.triu_indices(len(system.aggregator.attributes))
        self._remembered: list[list[int]] = [[] for _ in range(system.open_blocks.size)]
        self._anywhere = system.aggregator.equal()

    def ask(self, blocks: IndexArray) -> Answer:
        """Find a matrix on few rows, add the rows that it violates, and again."""
        if blocks.size == 0:
            return Answer(theta=self._anywhere)
        strange = [block for block in blocks.tolist() if not self._remembered[block]]
        if strange:
            self._remember(self._scorer.tightest_of(np.array(strange), self._anywhere)[0])
        active = np.unique(list(chain.from_iterable(self._remembered[block] for block in blocks)))
        for _ in range(_MOST_ROUNDS):
            if self._clock.expired:
                break
            solved = self._widest(active)
            if solved is None:
                break
            theta, multipliers = solved
            answer = self._core(active, multipliers)
            if answer.core is not None:
                return answer
            violated = self._violated(blocks, theta)
            if violated.size == 0:
                return Answer(theta=theta)
            fresh = np.setdiff1d(violated, active)
            if fresh.size == 0:
                return self._touching(active, multipliers)
            active = np.union1d(active, fresh)
        return Answer()

    def _violated(self, blocks: IndexArray, theta: FloatArray) -> IndexArray:
        """The tightest row of each of these blocks that is not linked."""
        if blocks.size <= _FEW:
            rows, smallest = self._scorer.tightest_of(blocks, theta)
            return rows[smallest <= STRICT]
        for everywhere in (False, True):
            rows, smallest = self._scorer.tightest_rows(theta, everywhere=everywhere)
            short = smallest[blocks] <= STRICT
            if short.any():
                break
        return rows[blocks][short]

    def _widest(self, rows: IndexArray) -> tuple[FloatArray, FloatArray] | None:
        try:
            theta, multipliers = widest_margin(
                self._rows[rows], self._first, self._second, STRICT, -2.0 * ROUNDING
            )
        except np.linalg.LinAlgError:  # rounding has made the steps meaningless
            return None
        return (theta, multipliers) if np.isfinite(theta).all() and np.isfinite(multipliers).all() else None

    def _core(self, rows: IndexArray, multipliers: FloatArray) -> Answer:
        """The core that the multipliers prove, with as few rows as prove it."""
        if self._largest(rows, multipliers) >= -ROUNDING:
            return Answer()
        for share in _SHARES:
            used = multipliers > share * multipliers.max()
            if self._largest(rows[used], multipliers[used]) < -ROUNDING:
                rows, multipliers = rows[used], multipliers[used]
                break
        self._remember(rows)
        return self.proved(CoreProof(rows, multipliers / multipliers.sum(), np.empty(0)))

    def _largest(self, rows: IndexArray, multipliers: FloatArray) -> float:
        combined = (multipliers / multipliers.sum()) @ self._rows[rows]
        return float(largest_eigenvalue(combined, self._first, self._second))

    def _touching(self, rows: IndexArray, multipliers: FloatArray) -> Answer:
        """Ask again about the few rows that matter, and then about all rows of their blocks."""
        if self._largest(rows, multipliers) > _TOUCHING:
            return Answer()
        for share in _SHARES:
            used = rows[multipliers > share * multipliers.max()]
            solved = self._widest(used)
            if solved is not None:
                answer = self._core(used, solved[1])
                if answer.core is not None:
                    return answer
        used = rows[multipliers > _SHARES[0] * multipliers.max()]
        proof = self._linear.ask(np.unique(self.system.row_open[used])).proof
        return Answer() if proof is None else self._core(proof.rows, proof.multipliers)

    def _remember(self, rows: IndexArray) -> None:
        """Keep the rows of each block that mattered last."""
        for row in rows.tolist():
            kept = self._remembered[self.system.row_open[row]]
            if row not in kept:
                kept.append(row)
                del kept[:-_MOST_REMEMBERED]
