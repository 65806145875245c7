"""Find infeasible cores for aggregators whose parameters lie in a polytope.

The code releases Python's lock, so that threads with `Questions` of their own run in parallel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.solver.engines.attacks.scoring import STRICT, Scorer
from linkrisk.solver.engines.base import CoreProof
from linkrisk.solver.engines.exact.cores import MOVED, Answer, CoreFinder, LinearCoreFinder, put_first
from linkrisk.solver.engines.exact.polytope_margin import (
    TOLERANCE,
    Basis,
    Columns,
    Offers,
    SparseRows,
    begin,
    best,
    copied,
    core_proof,
    follow,
    of_domain,
    overwrite,
    pivot,
    price,
    reprice,
    violation,
)
from linkrisk.solver.engines.steering import STEERING, FinderSteering
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.work import ENTRY

UNDECIDED, LINKED, CORE, _OPTIMAL = range(4)
"""Outcomes of a query."""

_NEGATIVE = -1e-6
"""Margin below which a core is proved: lower values save failed attempts, but delay cores."""

_BARELY = 10.0 * (STRICT + TOLERANCE)
"""Below this margin a violated row may be in the program already."""

_CHEAP, _DEARER = 0.1, 10.0
"""Initial penalty on rows of a block left out of a core, and its growth: high costs digits, low repeats."""

_SHY = 0.1
_WORN = 10_000
_LEAST_EACH, _ENOUGH = 2, 40
"""Initial rows of each block, more where the blocks are few: more rows save rounds, and slow down pivots."""


class Questions(NamedTuple):
    """The data of one thread's queries."""

    columns: Columns  # the rows of all open blocks, and the domain
    first: IndexArray  # (open + 1,) block b has the rows ``first[b]`` to ``first[b + 1]``
    block: IndexArray  # (rows,) block of each row
    basis: Basis  # the basis of the last query, from which the next one starts
    # (open, any) recently violated rows of each block, most recent first; -1 in unused places. Written to.
    remembered: IndexArray
    dear: float  # a cost above that of the domain's bounds, at which no row of other blocks enters


@kernel
def _first_offers(questions: Questions, blocks: IndexArray) -> Offers:
    """Offer the domain and recently violated rows of these blocks, fewer of each for many blocks."""
    remembered, base = questions.remembered, of_domain(questions.columns)
    each = min(remembered.shape[1], max(_LEAST_EACH, _ENOUGH // blocks.size))
    room = (each + 2) * blocks.size
    offers = Offers(
        np.empty(room, dtype=np.intp),
        np.zeros(1, dtype=np.intp),
        np.empty(base + room),
        np.empty(base + room),
        np.zeros(questions.first.size - 1, dtype=np.intp),
    )
    for block in blocks:
        for row in remembered[block, :each]:
            if row >= 0:
                offers.rows[offers.size[0]] = row
                offers.size[0] += 1
    for column in questions.basis.columns:
        if column >= base:
            offers.used[questions.block[column - base]] += 1
    return offers


@kernel
def _with_rows(offers: Offers, found: IndexArray) -> Offers:
    """Add rows to the offers, with more room if necessary."""
    old, size, reduced, weight, used = offers
    if size[0] + found.size > old.size:
        more = old.size + found.size
        rows = np.concatenate((old, np.empty(more, dtype=np.intp)))
        reduced = np.concatenate((reduced, np.empty(more)))
        weight = np.concatenate((weight, np.empty(more)))
        offers = Offers(rows, size, reduced, weight, used)
    for row in found:
        offers.rows[size[0]] = row
        size[0] += 1
    return offers


@kernel
def _start(questions: Questions, blocks: IndexArray) -> None:
    """Warm-start from the last basis, unless there is none or rounding may have damaged it."""
    if questions.basis.columns[0] < 0 or questions.basis.pivots[0] > _WORN:
        begin(questions.basis, questions.columns, questions.first[blocks[0]])


@kernel
def _charge(questions: Questions, inside: BoolArray, dear: float) -> None:
    """Set the cost of rows to zero for the blocks inside and to a penalty for others, and reprice."""
    basis, base = questions.basis, of_domain(questions.columns)
    for i in range(basis.columns.size):
        row = basis.columns[i] - base
        if row >= 0:
            basis.cost[i] = 0.0 if inside[questions.block[row]] else dear
    price(basis)


@kernel
def _scan(questions: Questions, blocks: IndexArray, theta: FloatArray, found: IndexArray) -> Any:
    """Find the tightest row of each of these blocks that `theta` does not link.

    Returns their number, and the smallest activity of all rows.
    """
    count, least = 0, np.inf
    first, (starts, columns, values) = questions.first, questions.columns.rows
    for block in blocks:
        tightest, smallest = -1, np.inf
        for row in range(first[block], first[block + 1]):
            total = 0.0
            for at in range(starts[row], starts[row + 1]):
                total += values[at] * theta[columns[at]]
            if total < smallest:
                tightest, smallest = row, total
        least = min(least, smallest)
        if smallest <= STRICT:
            put_first(questions.remembered[block], tightest)
            found[count] = tightest
            count += 1
    return count, least


@kernel
def _descend(questions: Questions, offers: Offers, inside: BoolArray, most_pivots: int) -> Any:
    """Pivot until a core is proven or no column has a negative reduced cost."""
    basis, columns = questions.basis, questions.columns
    d, base = columns.lower.size, of_domain(columns)
    step, share = np.empty(d + 1), np.empty(d + 1)
    enough, exact = _NEGATIVE, True
    for _ in range(most_pivots):
        if basis.prices[d] < enough:
            if core_proof(columns, basis, questions.block, inside)[0].size:
                return CORE
            enough *= 10.0
        place = best(offers, questions.block, _SHY)
        if place < 0:
            if exact:
                return _OPTIMAL
            price(basis)
            reprice(basis, columns, offers, 0)
            exact = True
            continue
        column = place if place < base else base + offers.rows[place - base]
        left = pivot(basis, columns, column, offers.reduced[place], step, share)
        if left < 0:
            break
        follow(columns, offers, place, share)
        exact = False
        if column >= base:
            offers.used[questions.block[column - base]] += 1
        if left >= base:
            offers.used[questions.block[left - base]] -= 1
    return UNDECIDED


@kernel
def _from_here(
    questions: Questions, blocks: IndexArray, inside: BoolArray, dear: float, most_pivots: int
) -> Any:
    """Answer a query from the last basis: either its proof of a core, or prices for more rows."""
    basis, columns = questions.basis, questions.columns
    d, found = columns.lower.size, np.empty(blocks.size, dtype=np.intp)
    _start(questions, blocks)
    _charge(questions, inside, dear)
    offers = _first_offers(questions, blocks)
    reprice(basis, columns, offers, 0)
    for _ in range(most_pivots):
        state = _descend(questions, offers, inside, most_pivots)
        if state != _OPTIMAL:
            return state
        if not np.isfinite(basis.prices).all():
            return UNDECIDED
        if basis.prices[d] < 0.0 and dear < questions.dear:
            # Rows of other blocks still have negative reduced costs.
            dear = min(_DEARER * dear, questions.dear)
            _charge(questions, inside, dear)
            reprice(basis, columns, offers, 0)
            continue
        if basis.prices[d] < _BARELY:
            return CORE if core_proof(columns, basis, questions.block, inside)[0].size else UNDECIDED
        theta = -basis.prices[:d]
        count, least = _scan(questions, blocks, theta, found)
        if count == 0:
            return LINKED if least > max(STRICT, MOVED * violation(columns, theta)) else UNDECIDED
        offers = _with_rows(offers, found[:count])
        reprice(basis, columns, offers, offers.size[0] - count)
    return UNDECIDED


@kernel
def ask(questions: Questions, blocks: IndexArray, dear: float, most_pivots: int) -> Any:
    """Decide whether these blocks can all be linked.

    `blocks` (any,): open blocks, at least one. `dear`: initial cost of rows of other blocks. `most_pivots`:
    undecided after so many. Returns (dimension,): parameters that link all blocks, if `LINKED`. Returns: the
    proof of a core, if `CORE`: rows, their multipliers, and those of the rows of the domain.
    """
    inside = np.zeros(questions.first.size - 1, dtype=np.bool_)
    for block in blocks:
        inside[block] = True
    state = _from_here(questions, blocks, inside, dear, most_pivots)
    if state == UNDECIDED:
        # Rounding may have spoilt the basis.
        questions.basis.columns[0] = -1
        state = _from_here(questions, blocks, inside, dear, most_pivots)
    theta = -questions.basis.prices[: questions.columns.lower.size]
    if state != CORE:
        inside = np.zeros_like(inside)
    chosen, multipliers, domain = core_proof(questions.columns, questions.basis, questions.block, inside)
    return state, theta, chosen, multipliers, domain


@kernel
def shrink(
    questions: Questions,
    core: IndexArray,
    multipliers: FloatArray,
    domain: FloatArray,
    order: IndexArray,
    most_pivots: int,
) -> Any:
    """Remove blocks from a core, in this order, as long as the rest is proven to be one.

    `questions`: best with the basis that proved the core. `core` (any,): rows that prove the core.
    `multipliers`, `domain`: of these rows, and of those of the domain. `order` (any,): blocks; those outside
    the core are passed over. `most_pivots`: of one question. Returns: how many of `order` have had their
    turn. Returns: whether the question about the last of these was left open. Returns: as before, of the
    smaller core.
    """
    kept = copied(questions.basis)
    for done in range(order.size):
        inside = np.zeros(questions.first.size - 1, dtype=np.bool_)
        for row in core:
            inside[questions.block[row]] = True
        if inside.sum() == 1:
            break
        if not inside[order[done]]:
            continue
        inside[order[done]] = False
        state, _, chosen, few, of_few = ask(questions, np.flatnonzero(inside), _CHEAP, most_pivots)
        if state == UNDECIDED:
            return done + 1, True, core, multipliers, domain
        if state == CORE:
            core, multipliers, domain = chosen, few, of_few
            overwrite(kept, questions.basis)
        else:
            # The basis that proves the core is nearer to the next question.
            overwrite(questions.basis, kept)
    return order.size, False, core, multipliers, domain


_MOST_REMEMBERED = 12
_SHIFT = 1e-8

_LOOKS, _PIVOTS = 3.0, 10.0
"""Passes over all rows, and pivots for each column of the basis, that a query takes on average."""


class PolytopeCoreFinder(CoreFinder):
    """Finds cores by a simplex method in compiled code, warm-started from the last query.

    Queries that it leaves undecided, because records exclude each other by little more than a tie, go to
    HiGHS.

    `clock`: queries after its end stay undecided.
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
        """Answer a query by warm-started pivots on the rows of these blocks."""
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
        """Remove blocks from a core, in this order, as long as the rest is still a core."""
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
        """Count the operations of a query: passes over the rows, and pivots on an explicit inverse."""
        first, size = self._questions.first, self.system.aggregator.dimension + 1
        rows = int((first[blocks + 1] - first[blocks]).sum())
        return ENTRY * size * (_LOOKS * rows + _PIVOTS * size * size)


def polytope_finder(
    system: BlockSystem, scorer: Scorer, clock: Clock, steering: FinderSteering = STEERING.finders
) -> CoreFinder:
    """Choose the faster of two core finders: HiGHS in many dimensions."""
    if system.aggregator.dimension <= steering.most_parameters:
        return PolytopeCoreFinder(system, scorer, clock, steering)
    return LinearCoreFinder(system, scorer, clock)


def _compiled(matrix: sparse.csr_array) -> SparseRows:
    """Convert the data to arrays for compiled code; short integers, as all rows are read repeatedly."""
    return SparseRows(matrix.indptr.astype(np.intp), matrix.indices.astype(np.uint16), matrix.data)


def _no_basis(size: int) -> Basis:
    """Allocate an empty basis."""
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
