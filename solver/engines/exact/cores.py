"""Find infeasible cores: small sets of blocks that cannot all be linked, with multipliers that prove it.

When no parameters give the rows of some blocks a positive margin, multipliers combine the rows into one
that is nowhere positive on the domain (Farkas). The blocks of the rows with a multiplier are a core; at
most dimension + 1 rows need one (Gleeson and Ryan 1990; Parker and Ryan 1996).

Where blocks exclude each other by no more than a tie, the multipliers need some fourteen digits, while a
simplex method stops at a tolerance of 1e-7. Iterative refinement solves for the scaled error by another
program of the same matrix, repeatedly (Gleixner, Steffy and Wolter, Iterative refinement for linear
programming, INFORMS Journal on Computing 28, 2016). Interior point methods give a multiplier to every row
that might matter, many more than a proof needs; `few_multipliers` reduces them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.kernel_parts import ascending, put
from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.formulations.linkage.domains import DomainRows
from linkrisk.solver.engines.attacks.linear_programs import Multipliers, WidestMargin, new_program
from linkrisk.solver.engines.attacks.scoring import STRICT, Scorer
from linkrisk.solver.engines.base import CoreProof
from linkrisk.solver.engines.exact.rounding import rounding_error
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.work import PROGRAM


@kernel
def put_first(kept: IndexArray, row: int) -> None:
    """Move a row to the front of its block's list, and drop the last one if the list is full.

    `kept` (any,): most recent first; -1 in unused places. Written to.
    """
    place = 0
    while place < kept.size - 1 and kept[place] != row and kept[place] >= 0:
        place += 1
    for at in range(place, 0, -1):
        kept[at] = kept[at - 1]
    kept[0] = row


_NOTHING = 1e-13
"""Entries below this are treated as rounding errors."""


@kernel
def _largest_entry(matrix: FloatArray, rank: int) -> Any:
    """Find the largest entry from row and column `rank` on: its row, column and size."""
    largest, row, column = 0.0, rank, rank
    for i in range(rank, matrix.shape[0]):
        for j in range(rank, matrix.shape[1]):
            if abs(matrix[i, j]) > largest:
                largest, row, column = abs(matrix[i, j]), i, j
    return row, column, largest


@kernel
def _eliminate(matrix: FloatArray, rank: int, row: int, column: int) -> None:
    """Gaussian elimination: move a pivot to row and column `rank`, and clear the entries below it."""
    for j in range(matrix.shape[1]):
        matrix[rank, j], matrix[row, j] = matrix[row, j], matrix[rank, j]
    for i in range(matrix.shape[0]):
        matrix[i, rank], matrix[i, column] = matrix[i, column], matrix[i, rank]
    for i in range(rank + 1, matrix.shape[0]):
        factor = matrix[i, rank] / matrix[rank, rank]
        for j in range(rank, matrix.shape[1]):
            matrix[i, j] -= factor * matrix[rank, j]


@kernel
def null_vector(matrix: FloatArray) -> Any:
    """Compute a non-zero z with ``matrix @ z = 0``.

    `matrix` (rows, rows + 1): of size about one; overwritten. Returns shape (rows + 1,).
    """
    rows, columns = matrix.shape
    order = np.arange(columns)
    rank = 0
    while rank < rows:
        row, column, largest = _largest_entry(matrix, rank)
        if largest < _NOTHING:
            break
        _eliminate(matrix, rank, row, column)
        order[rank], order[column] = order[column], order[rank]
        rank += 1
    z = np.zeros(columns)
    z[order[rank]] = 1.0
    for i in range(rank - 1, -1, -1):
        value = matrix[i, rank]
        for j in range(i + 1, rank):
            value += matrix[i, j] * z[order[j]]
        z[order[i]] = -value / matrix[i, i]
    return z


@kernel
def few_multipliers(values: FloatArray, multipliers: FloatArray, cost: FloatArray) -> Any:
    """Reduce multipliers to at most ``dimension + 1`` rows with the same combination and sum (Caratheodory).

    While there are more, some rows are linearly dependent; their multipliers move along that dependence, in
    the direction that does not raise the total cost, until one is zero.

    `values` (rows, dimension). `multipliers` (rows,): positive. `cost` (rows,): rows of large cost are left
    out rather than others. Returns (rows,): non-negative, most of them zero.
    """
    many, dimension = values.shape
    y = multipliers.copy()
    used = ascending(-cost)
    left = many
    matrix = np.empty((dimension + 1, dimension + 2))
    while left > dimension + 1:
        for at in range(dimension + 2):
            put(values[used[at]], matrix[:, at])
            matrix[dimension, at] = 1.0
        z = null_vector(matrix)
        change = 0.0
        for at in range(dimension + 2):
            change += cost[used[at]] * z[at]
        if change > 0.0:
            z = -z
        step, gone = np.inf, -1
        for at in range(dimension + 2):
            if z[at] < 0.0 and y[used[at]] < -step * z[at]:
                step, gone = y[used[at]] / -z[at], at
        if gone < 0:  # rounding: the entries of z sum to zero
            break
        for at in range(dimension + 2):
            y[used[at]] = max(0.0, y[used[at]] + step * z[at])
        y[used[gone]] = 0.0
        put(used[gone + 1 : left], used[gone:])
        left -= 1
    return y


_SCALES = (1.0, 1e6, 1e8, 1e10)
"""Scale factors of iterative refinement: more steps cost a program each; after the last, 1e-7 is rounding."""


class Polished(NamedTuple):
    """A point of (nearly) the widest margin, that margin, and multipliers that prove it to be the widest.

    Those of rows and cuts are not negative; those of the domain's rows have either sign.
    """

    theta: FloatArray
    margin: float
    multipliers: Multipliers


def polished(domain: DomainRows, rows: sparse.csr_array, cuts: FloatArray) -> Iterator[Polished]:
    """Maximise t such that ``rows @ theta >= t`` in the domain, by iterative refinement.

    `rows` (any, dimension): rows of unit length. `cuts` (any, dimension): rows that must be non-negative as
    well. Yields solutions of increasing precision, until the error is below rounding for HiGHS.
    """
    (count, dimension), others = rows.shape, len(cuts) + domain.row_lower.size
    t = sparse.csr_array(-np.repeat([0.0, 1.0], [others, count])[:, None])
    activity = sparse.hstack([sparse.vstack([sparse.csr_array(cuts), domain.matrix, rows]), t])
    # One column for each row's activity makes all rows equations, so that only columns have bounds.
    matrix = sparse.csr_array(sparse.hstack([activity, -sparse.eye_array(others + count)]))
    bounds = (
        np.concatenate([domain.column_lower, [-1.0], np.zeros(len(cuts)), domain.row_lower, np.zeros(count)]),
        np.concatenate(
            [domain.column_upper, [1.0], np.full(len(cuts), np.inf), domain.row_upper, np.full(count, np.inf)]
        ),
    )
    cost = np.zeros(matrix.shape[1])
    cost[dimension] = -1.0
    for point, duals in _refined(matrix, *bounds, cost):
        of_cuts, of_domain, of_rows = np.split(duals, [len(cuts), others])
        multipliers = Multipliers(np.clip(of_rows, 0.0, None), np.clip(of_cuts, 0.0, None), of_domain)
        yield Polished(point[:dimension], float(point[dimension]), multipliers)


def _refined(
    matrix: sparse.csr_array, lower: FloatArray, upper: FloatArray, cost: FloatArray
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Refine solutions and duals of ``min cost @ x``, ``matrix @ x = 0``, ``lower <= x <= upper``."""
    point, duals = np.zeros(cost.size), np.zeros(matrix.shape[0])
    for scale in _SCALES:
        error = -scale * (matrix @ point)
        reduced = scale * (cost - matrix.T @ duals)
        program = new_program(matrix, reduced, scale * (lower - point), scale * (upper - point), error, error)
        solution = program.solve()
        if not solution.optimal:
            return
        point = point + solution.point / scale
        duals = duals + solution.duals / scale
        yield point, duals


Core = frozenset[int]

_MOST_CUT_ROUNDS = 25
_REFINEMENTS = 3.0
"""Cost of a refinement step, in programs solved from their last basis."""

MOVED = 100.0
"""Bound on a row's change when its point is moved into the domain, as a multiple of the violation."""

NEGLIGIBLE = (1e-11, 1e-16)
"""Multipliers below this share of the largest are dropped: keeping noise would enlarge the core.

Blocks that exclude each other by no more than a tie may need all multipliers above rounding.
"""


class Answer(NamedTuple):
    """Parameters that link all required blocks, or a core among them; neither when undecided."""

    theta: FloatArray | None = None
    core: Core | None = None
    proof: CoreProof | None = None


class CoreFinder(ABC):
    """Oracle that decides repeatedly whether open blocks can all be linked.

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
        """Remove blocks from a core, in this order, as long as the rest is still a core."""
        for block in order:
            if answer.core is None or len(answer.core) == 1:
                break
            if block in answer.core:
                fewer = self.ask(np.array(sorted(answer.core - {block}), dtype=np.intp))
                if fewer.core is not None:
                    answer = fewer
        return answer

    def proved(self, proof: CoreProof) -> Answer:
        """Make the core from the rows with multipliers."""
        return Answer(core=frozenset(self.system.row_open[proof.rows].tolist()), proof=proof)


class LinearCoreFinder(CoreFinder):
    """Finds cores by a linear program of the widest margin, whose rows are switched on and off.

    `clock`: queries after its end stay undecided.
    """

    def __init__(self, system: BlockSystem, scorer: Scorer, clock: Clock) -> None:
        super().__init__(system)
        self._program = WidestMargin(system, scorer, clock)
        self._evaluator = Evaluator(system.pair, spend=clock.spend)
        self._clock = clock
        self._domain = system.aggregator.domain.rows

    def ask(self, blocks: IndexArray) -> Answer:
        """Solve the program, with cutting planes where the answer lies outside the true domain."""
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
        """Return the core that the multipliers prove, or parameters that only just link the blocks."""
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
        """Tell whether the evaluator links all of these open blocks; it decides within rounding."""
        form = self.system.aggregator.form(self.system.aggregator.domain.repair(theta))
        return bool(self._evaluator.count(form).linked[self.system.open_blocks[blocks]].all())

    def _proven(self, rows: IndexArray, given: Multipliers) -> Answer:
        """Return a core of as few of these rows as prove it, or none if the multipliers prove nothing."""
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
    """Bound the sum of combinations of rows over a domain from above, rounding included.

    Weak duality holds for any multipliers of the domain's rows. For rounding see `polytope_proofs.largest`,
    which is the same in compiled code.

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
