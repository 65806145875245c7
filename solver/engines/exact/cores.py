"""Infeasible cores: small sets of blocks that cannot all be linked, each with multipliers that prove it.

When no parameters give the rows of some blocks a positive margin, multipliers combine the rows into one
that is nowhere positive on the domain (Farkas). The blocks of the rows with a multiplier are a core; at
most dimension + 1 rows need one (Gleeson and Ryan 1990; Parker and Ryan 1996).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from formulations.block_system import BlockSystem
from solver.clock import Clock
from solver.engines.base import CoreProof
from solver.engines.exact.polish import Polished, polished
from solver.engines.linear import row_entries
from solver.engines.repair import Multipliers, WidestMargin
from solver.engines.scoring import STRICT, Scorer
from solver.linkage.evaluator import Evaluator

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
Core = frozenset[int]

ROUNDING = 1e-14
"""More than the rounding error of a combination of rows of unit length with multipliers that sum to one."""

_MOST_CUT_ROUNDS = 25
MOVED = 100.0
"""More than a row changes when its point is moved into the domain, as a multiple of how far outside it is."""

NEGLIGIBLE = (1e-11, 1e-16)
"""Smaller multipliers are left out, as a share of the largest: noise would only make the core larger.

Blocks that exclude each other by no more than a tie may need all that are no rounding.
"""


class Answer(NamedTuple):
    """Parameters that link all the blocks asked for, or a core among them; neither when undecided."""

    theta: FloatArray | None = None
    core: Core | None = None
    proof: CoreProof | None = None


class CoreFinder(ABC):
    """Asks whether open blocks can all be linked, again and again.

    Attributes
    ----------
    at_once : int
        Cores to collect before the covering program is solved anew: more where they are found faster.
    """

    at_once: ClassVar[int] = 8

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
        self._evaluator = Evaluator(system.pair)
        self._domain = system.aggregator.domain()
        self._by_column = sparse.csr_array(self._domain.matrix.T)

    def ask(self, blocks: IndexArray) -> Answer:
        """Solve, and cut the relaxed domain where the answer lies outside the true one."""
        self._program.require(blocks)
        for _ in range(_MOST_CUT_ROUNDS):
            solution = self._program.solve(widest=False)
            if solution is None:
                break
            theta, margin = solution
            narrow = margin <= MOVED * self._domain.violation(theta)
            if margin <= STRICT or (narrow and not self._linked(blocks, theta)):
                answer = self._core()
                if answer.theta is None:
                    return answer
                theta = answer.theta
                if self._program.extend(theta):
                    continue
            cuts = self.system.aggregator.cuts(theta)
            if len(cuts) == 0:
                known = margin > STRICT or self._linked(blocks, theta)
                return Answer(theta=theta) if known else Answer()
            self._program.cut(cuts)
        return Answer()

    def _core(self) -> Answer:
        """The core that multipliers of the program prove; else parameters that only just link the blocks."""
        program = self._program
        answer = self._proven(program.rows, program.multipliers())
        if answer.core is not None:
            return answer
        rows = program.required
        best: Polished | None = None
        for best in polished(self._domain, self.system.part(rows), program.cuts):
            answer = self._proven(rows, best.multipliers)
            if answer.core is not None:
                return answer
        return Answer(theta=best.theta if best is not None and best.margin > 0.0 else None)

    def _linked(self, blocks: IndexArray, theta: FloatArray) -> bool:
        """Whether the evaluator links all of these open blocks: within rounding, it alone decides."""
        form = self.system.aggregator.form(self.system.aggregator.repair(theta))
        return bool(self._evaluator.count(form)[self.system.open_blocks[blocks]].all())

    def _proven(self, rows: IndexArray, given: Multipliers) -> Answer:
        """The core of these rows if the multipliers prove it, as few of them as do."""
        for negligible in NEGLIGIBLE:
            used = np.flatnonzero(given.rows > negligible * given.rows.max(initial=0.0))
            total = given.rows[used].sum()
            if used.size == 0 or total <= 0.0:
                break
            proof = CoreProof(rows[used], given.rows[used] / total, -given.domain / total)
            combined = self._combined(proof) + self._program.cuts.T @ (given.cuts / total)
            # Large multipliers of the domain would round more than unit rows do.
            size = max(1.0, float(np.abs(proof.domain).sum() + given.cuts.sum() / total))
            if self._largest(combined, proof.domain) < -ROUNDING * size:
                return self.proved(proof)
        return Answer()

    def _combined(self, proof: CoreProof) -> FloatArray:
        """The sum of the rows of a proof times their multipliers."""
        counts, columns, values = row_entries(self.system.values, proof.rows)
        shares = values * np.repeat(proof.multipliers, counts)
        combined = np.bincount(columns, weights=shares, minlength=self.system.aggregator.dimension)
        return np.asarray(combined, dtype=np.float64)

    def _largest(self, row: FloatArray, multipliers: FloatArray) -> float:
        """An upper bound of ``row @ theta`` over the domain: weak duality holds for any multipliers."""
        domain = self._domain
        allowed = np.where(np.isinf(domain.row_upper), np.minimum(multipliers, 0.0), multipliers)
        allowed = np.where(np.isinf(domain.row_lower), np.maximum(allowed, 0.0), allowed)
        upper = np.where(allowed > 0.0, domain.row_upper, domain.row_lower)
        fixed = float((allowed * np.where(allowed == 0.0, 0.0, upper)).sum())
        rest = row - self._by_column @ allowed
        return fixed + float(np.maximum(rest * domain.column_lower, rest * domain.column_upper).sum())
