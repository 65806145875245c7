"""Infeasible cores: small sets of blocks that cannot all be linked, each with multipliers that prove it.

When no parameters give the rows of some blocks a positive margin, multipliers combine the rows into one
that is nowhere positive on the domain (Farkas). The blocks of the rows with a multiplier are a core; at
most dimension + 1 rows need one (Gleeson and Ryan 1990; Parker and Ryan 1996).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from formulations.block_system import BlockSystem
from solver.clock import Clock
from solver.engines.base import CoreProof
from solver.engines.repair import WidestMargin
from solver.engines.scoring import STRICT, Scorer

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
Core = frozenset[int]

ROUNDING = 1e-14
"""More than the rounding error of a combination of rows of unit length with multipliers that sum to one."""

_MOST_CUT_ROUNDS = 25
_NEGLIGIBLE = 1e-11


class Answer(NamedTuple):
    """Parameters that link all the blocks asked for, or a core among them; neither when undecided."""

    theta: FloatArray | None = None
    core: Core | None = None
    proof: CoreProof | None = None


class CoreFinder(ABC):
    """Asks whether open blocks can all be linked, again and again."""

    def __init__(self, system: BlockSystem) -> None:
        self.system = system

    @abstractmethod
    def ask(self, blocks: IndexArray) -> Answer:
        """Link all of these open blocks, or find a core among them."""

    def shrink(self, answer: Answer, order: Sequence[int]) -> Answer:
        """Leave blocks out of a core, in this order, as long as the rest is still one."""
        for block in order:
            if answer.core is None or len(answer.core) == 1:
                break
            if block in answer.core:
                fewer = self.ask(np.array(sorted(answer.core - {block}), dtype=np.intp))
                if fewer.core is not None:
                    answer = fewer
        return answer

    def proved(self, proof: CoreProof) -> Answer:
        """The core of the rows with multipliers."""
        return Answer(core=frozenset(self.system.row_open[proof.rows].tolist()), proof=proof)


class LinearCoreFinder(CoreFinder):
    """By one linear program of the widest margin, whose rows are switched on and off.

    Parameters
    ----------
    system : BlockSystem
    scorer : Scorer
    clock : Clock
        Questions asked after its end stay undecided.
    """

    def __init__(self, system: BlockSystem, scorer: Scorer, clock: Clock) -> None:
        super().__init__(system)
        self._program = WidestMargin(system, scorer, clock)
        self._domain = system.aggregator.domain()

    def ask(self, blocks: IndexArray) -> Answer:
        """Solve, and cut the relaxed domain where the answer lies outside the true one."""
        self._program.require(blocks)
        for _ in range(_MOST_CUT_ROUNDS):
            solution = self._program.solve(widest=False)
            if solution is None:
                return Answer()
            theta, margin = solution
            if margin <= STRICT:
                return self._core()
            cuts = self.system.aggregator.cuts(theta)
            if len(cuts) == 0:
                return Answer(theta=theta)
            self._program.cut(cuts)
        return Answer()

    def _core(self) -> Answer:
        """The blocks of the rows with multipliers, if these prove that they cannot all be linked."""
        rows, cuts, domain = self._program.multipliers()
        used = np.flatnonzero(rows > _NEGLIGIBLE * rows.max(initial=0.0))
        total = rows[used].sum()
        if used.size == 0 or total <= 0.0:
            return Answer()
        multipliers = rows[used] / total
        proof = CoreProof(self._program.rows[used], multipliers, -domain / total)
        combined = self.system.matrix[proof.rows].T @ multipliers + self._program.cuts.T @ (cuts / total)
        if self._largest(np.asarray(combined), proof.domain) >= -ROUNDING:
            return Answer()
        return self.proved(proof)

    def _largest(self, row: FloatArray, multipliers: FloatArray) -> float:
        """An upper bound of ``row @ theta`` over the domain: weak duality holds for any multipliers."""
        domain = self._domain
        allowed = np.where(np.isinf(domain.row_upper), np.minimum(multipliers, 0.0), multipliers)
        allowed = np.where(np.isinf(domain.row_lower), np.maximum(allowed, 0.0), allowed)
        upper = np.where(allowed > 0.0, domain.row_upper, domain.row_lower)
        fixed = float((allowed * np.where(allowed == 0.0, 0.0, upper)).sum())
        rest = row - domain.matrix.T @ allowed
        return fixed + float(np.maximum(rest * domain.column_lower, rest * domain.column_upper).sum())
