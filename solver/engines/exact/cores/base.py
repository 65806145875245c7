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
from scipy import sparse

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.formulations.linkage.domains import DomainRows
from linkrisk.solver.engines.attacks.repair import Multipliers, WidestMargin
from linkrisk.solver.engines.attacks.scoring import STRICT, Scorer
from linkrisk.solver.engines.base import CoreProof
from linkrisk.solver.engines.exact.cores.polish import Polished, polished
from linkrisk.solver.engines.exact.rounding import rounding_error
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.work import PROGRAM

Core = frozenset[int]

_MOST_CUT_ROUNDS = 25
_REFINEMENTS = 3.0
"""What a step of refinement costs, in programs that are solved from their last basis."""

MOVED = 100.0
"""More than a row changes when its point is moved into the domain, as a multiple of how far outside it is."""

NEGLIGIBLE = (1e-11, 1e-16)
"""Smaller multipliers are left out, as a share of the largest: noise would only make the core larger.

Blocks that exclude each other by no more than a tie may need all multipliers above rounding.
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
        Cores to collect before the covering program is solved again: more where they are found faster.
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

    `clock`: questions asked after its end stay undecided.
    """

    def __init__(self, system: BlockSystem, scorer: Scorer, clock: Clock) -> None:
        super().__init__(system)
        self._program = WidestMargin(system, scorer, clock)
        self._evaluator = Evaluator(system.pair, spend=clock.spend)
        self._clock = clock
        self._domain = system.aggregator.domain.rows

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
            cuts = self.system.aggregator.domain.cuts(theta)
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
            self._clock.spend(_REFINEMENTS * PROGRAM)
            answer = self._proven(rows, best.multipliers)
            if answer.core is not None:
                return answer
        return Answer(theta=best.theta if best is not None and best.margin > 0.0 else None)

    def _linked(self, blocks: IndexArray, theta: FloatArray) -> bool:
        """Whether the evaluator links all of these open blocks: within rounding, it alone decides."""
        form = self.system.aggregator.form(self.system.aggregator.domain.repair(theta))
        return bool(self._evaluator.count(form).linked[self.system.open_blocks[blocks]].all())

    def _proven(self, rows: IndexArray, given: Multipliers) -> Answer:
        """The core of these rows if the multipliers prove it, as few of them as do."""
        for negligible in NEGLIGIBLE:
            used = np.flatnonzero(given.rows > negligible * given.rows.max(initial=0.0))
            total = given.rows[used].sum()
            if used.size == 0 or total <= 0.0:
                break
            proof = CoreProof(rows[used], given.rows[used] / total, -given.domain / total)
            combined = Combination(self.system.part(proof.rows), proof.multipliers)
            cuts = Combination(sparse.csr_array(self._program.cuts), given.cuts / total)
            if largest(self._domain, (combined, cuts), proof.domain) <= 0.0:
                return self.proved(proof)
        return Answer()


class Combination(NamedTuple):
    """Rows of a sparse matrix and a multiplier for each."""

    rows: sparse.csr_array
    multipliers: FloatArray


def largest(domain: DomainRows, combined: Sequence[Combination], multipliers: FloatArray) -> float:
    """An upper bound of combinations of rows, added up, over a domain, with what rounding may hide of it.

    Weak duality holds for any multipliers of the domain's rows. For the roundings see
    `polytope_proofs.largest`, which is the same in compiled code.

    `domain`: with finite bounds of all columns. `multipliers` (domain rows,): those of a sign for which the
    row has no bound are left out.
    """
    allowed = np.where(np.isinf(domain.row_upper), np.minimum(multipliers, 0.0), multipliers)
    allowed = np.where(np.isinf(domain.row_lower), np.maximum(allowed, 0.0), allowed)
    limit = np.where(allowed > 0.0, domain.row_upper, domain.row_lower)
    fixed = allowed * np.where(allowed == 0.0, 0.0, limit)
    parts = [*combined, Combination(domain.matrix, -allowed)]
    rest = sum((part.rows.T @ part.multipliers for part in parts), np.zeros(domain.column_lower.size))
    spread = sum((abs(part.rows).T @ np.abs(part.multipliers) for part in parts), np.zeros_like(rest))
    most = np.maximum(np.abs(domain.column_lower), np.abs(domain.column_upper))
    used = int(np.count_nonzero(allowed))
    before = rounding_error(1 + sum(part.multipliers.size for part in combined) + used, float(most @ spread))
    error = rounding_error(1 + used + rest.size, float(np.abs(fixed).sum() + most @ np.abs(rest)))
    highest = np.maximum(rest * domain.column_lower, rest * domain.column_upper)
    return float(fixed.sum() + highest.sum()) + before + error
