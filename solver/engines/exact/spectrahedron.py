"""Find infeasible cores of the Mahalanobis form: blocks that no semidefinite matrix links together.

The code releases Python's lock, so that threads with `Rows` of their own run in parallel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.kernel_parts import put
from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.solver.engines.attacks.scoring import STRICT, Scorer
from linkrisk.solver.engines.base import CoreProof
from linkrisk.solver.engines.exact.cores import (
    Answer,
    CoreFinder,
    LinearCoreFinder,
    few_multipliers,
    put_first,
)
from linkrisk.solver.engines.exact.rounding import rounding_error
from linkrisk.solver.engines.exact.spectrahedron_margin import (
    combine,
    is_definite,
    largest_eigenvalue,
    symmetric,
    widest_margin,
)
from linkrisk.solver.engines.steering import STEERING, FinderSteering
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.work import ENTRY

UNDECIDED, MORE, LINKED, CORE, TOUCHING = range(5)
"""Outcomes of a query: `MORE` needs more rounds; `TOUCHING` rows are too close to a tie to decide."""

WIDE, _ANY = 0.5, 0.0
_ENOUGH = 2.0 * STRICT
_BARELY = 1e-5
_SHARES = (0.3, 0.1, 1e-2, 1e-4, 1e-6, 0.0)
_TOUCHING_SHARES = (1e-2, 1e-4, 1e-6)
_MOST_ROUNDS = 60


class Rows(NamedTuple):
    """The rows of all open blocks, with recently active rows of each block."""

    values: FloatArray  # (rows, dimension)
    starts: IndexArray  # (open + 1,) block b has the rows ``starts[b]`` to ``starts[b + 1]``
    block: IndexArray  # (rows,) block of each row
    # `first`, `second`: (dimension,) row and column of each parameter in the matrix
    first: IndexArray
    second: IndexArray
    # (open, any) recently active rows of each block, most recent first; -1 in unused places. Written to.
    remembered: IndexArray
    # (open, any, dimension) recently violated rows of each block, in contiguous memory: they are tested
    # first, as a pass over all rows is bound by memory. Written to.
    near: FloatArray
    near_row: IndexArray  # (open, any) their numbers
    near_count: IndexArray  # (open,) how many were ever stored; the oldest are overwritten


@kernel(fastmath={"reassoc", "contract"})
def _tightest(rows: Rows, block: int, theta: FloatArray) -> Any:
    """Find the row of smallest activity of a block, and that activity."""
    tightest, smallest = -1, np.inf
    for row in range(rows.starts[block], rows.starts[block + 1]):
        activity = 0.0
        for k in range(theta.size):
            activity += rows.values[row, k] * theta[k]
        if activity < smallest:
            tightest, smallest = row, activity
    return tightest, smallest


@kernel
def _first_rows(rows: Rows, blocks: IndexArray) -> Any:
    """Collect the remembered rows of these blocks, and for new blocks the tightest under equal weights."""
    equal = np.zeros(rows.first.size)
    for k in range(equal.size):
        if rows.first[k] == rows.second[k]:
            equal[k] = 1.0 / (rows.first[-1] + 1)
    for block in blocks:
        if rows.remembered[block, 0] < 0:
            put_first(rows.remembered[block], _tightest(rows, block, equal)[0])
    found = np.empty(blocks.size * rows.remembered.shape[1], dtype=np.intp)
    size = 0
    for block in blocks:
        for row in rows.remembered[block]:
            if row >= 0:
                found[size] = row
                size += 1
    return found[:size]


@kernel(fastmath={"reassoc", "contract"})
def _tightest_near(rows: Rows, block: int, theta: FloatArray) -> Any:
    """Find the tightest of a block's recently violated rows."""
    tightest, smallest = -1, np.inf
    for at in range(min(rows.near_count[block], rows.near_row.shape[1])):
        activity = 0.0
        for k in range(theta.size):
            activity += rows.near[block, at, k] * theta[k]
        if activity < smallest:
            tightest, smallest = rows.near_row[block, at], activity
    return tightest, smallest


@kernel
def _violated_near(rows: Rows, blocks: IndexArray, theta: FloatArray) -> Any:
    """Separate at most one row of each of these blocks from those violated recently."""
    violated = np.empty(blocks.size, dtype=np.intp)
    size = 0
    for block in blocks:
        row, smallest = _tightest_near(rows, block, theta)
        if smallest <= STRICT:
            violated[size] = row
            size += 1
    return violated[:size]


@kernel
def _violated(rows: Rows, blocks: IndexArray, theta: FloatArray) -> Any:
    """Find the tightest row of each of these blocks that `theta` does not link."""
    violated = np.empty(blocks.size, dtype=np.intp)
    size = 0
    for block in blocks:
        row, smallest = _tightest(rows, block, theta)
        if smallest <= STRICT:
            violated[size] = row
            size += 1
            place = rows.near_count[block] % rows.near_row.shape[1]
            put(rows.values[row], rows.near[block, place])
            rows.near_row[block, place] = row
            rows.near_count[block] += 1
    return violated[:size]


@kernel
def _with_unknown(known: IndexArray, found: IndexArray) -> Any:
    """Append new rows to the known ones."""
    both = np.empty(known.size + found.size, dtype=np.intp)
    put(known, both)
    size = known.size
    for row in found:
        seen = False
        for other in known:
            seen |= other == row
        if not seen:
            both[size] = row
            size += 1
    return both[:size]


@kernel
def _largest(rows: Rows, chosen: IndexArray, multipliers: FloatArray) -> Any:
    """Compute the largest value of a combination of rows over the domain."""
    combined = np.empty(rows.values.shape[1])
    combine(rows.values[chosen], multipliers, combined)
    if not np.isfinite(combined).all():
        return np.inf
    return largest_eigenvalue(combined, rows.first, rows.second)


@kernel
def _hidden(many: int, n: int, trace: float) -> float:
    """Bound the rounding error of the largest eigenvalue of a combination of so many rows.

    Entries of the combination are off by a share of the sum of those of the rows, which as matrices have a
    Frobenius norm of at most one; so is, in that norm, the combination (`rounding.rounding_error`). The test
    for a definite matrix adds a share of its trace (`is_definite`).
    """
    return rounding_error(1 + many, 1.0) + rounding_error(2 + n, trace)


@kernel
def _most_hidden(rows: Rows, many: int) -> float:
    """Bound that rounding error without the trace, by the Frobenius norm."""
    n = rows.first[-1] + 1
    return _hidden(many, n, np.sqrt(n))


@kernel
def excludes(rows: Rows, chosen: IndexArray, multipliers: FloatArray) -> bool:
    """Prove that a combination of rows is nowhere positive on the domain, rounding included.

    `chosen` (any,). `multipliers` (any,): positive; they sum to one.
    """
    n = rows.first[-1] + 1
    combined, matrix = np.empty(rows.values.shape[1]), np.empty((n, n))
    combine(rows.values[chosen], multipliers, combined)
    symmetric(combined, rows.first, rows.second, matrix)
    trace = 0.0
    for k in range(n):
        trace += abs(matrix[k, k])
    hidden = _hidden(chosen.size, n, trace)
    for k in range(n):
        for m in range(n):
            matrix[k, m] = -matrix[k, m]
        matrix[k, k] -= hidden
    return is_definite(matrix)


@kernel
def fewest(rows: Rows, chosen: IndexArray, multipliers: FloatArray) -> Any:
    """Select the rows of largest multipliers that prove a core beyond rounding; none if the proof fails.

    Returns shape (any,). Returns (any,): positive; they sum to one.
    """
    if _largest(rows, chosen, multipliers / multipliers.sum()) < 0.0:
        for share in _SHARES:
            used = multipliers > share * multipliers.max()
            few = multipliers[used] / multipliers[used].sum()
            if excludes(rows, chosen[used], few):
                for row in chosen[used]:
                    put_first(rows.remembered[rows.block[row]], row)
                return chosen[used], few
    return chosen[:0], multipliers[:0]


@kernel
def _without_spare(rows: Rows, core: IndexArray, multipliers: FloatArray, turn: IndexArray) -> Any:
    """Reduce a proof to as few rows as necessary, and prefer blocks with late turns."""
    if core.size <= rows.values.shape[1] + 1:
        return core, multipliers
    cost = np.empty(core.size)
    for at in range(core.size):
        cost[at] = -turn[rows.block[core[at]]]
    few = few_multipliers(rows.values[core], multipliers, cost)
    used = few > 0.0
    chosen, few = fewest(rows, core[used], few[used])
    if chosen.size == 0:
        return core, multipliers
    return chosen, few


@kernel
def ask(rows: Rows, blocks: IndexArray, active: IndexArray, share: float, most_rounds: int) -> Any:
    """Decide by row generation whether a semidefinite matrix links these blocks.

    `blocks` (any,): open blocks, at least one. `active` (any,): initial rows; if empty, those that were
    active before. `share`: parameters that link all blocks are accepted at this share of the widest margin.
    `most_rounds`: rounds of row generation. Returns (dimension,): parameters that link all blocks, if
    `LINKED`. Returns (any,): the rows of the proof if `CORE`; those that may prove one if `TOUCHING`; else
    those to continue with. Returns: multipliers of the proof, if `CORE`.
    """
    if active.size == 0:
        active = _first_rows(rows, blocks)
    theta, multipliers = np.empty(0), np.empty(0)
    for _ in range(most_rounds):
        proven = -2.0 * _most_hidden(rows, active.size)
        theta, multipliers = widest_margin(
            rows.values[active], rows.first, rows.second, _ENOUGH, proven, share
        )
        if not (np.isfinite(theta).all() and np.isfinite(multipliers).all()):
            return UNDECIDED, theta, active, multipliers
        chosen, few = fewest(rows, active, multipliers)
        if chosen.size:
            return CORE, theta, chosen, few
        more = _with_unknown(active, _violated_near(rows, blocks, theta))
        if more.size == active.size:
            violated = _violated(rows, blocks, theta)
            if violated.size == 0:
                return LINKED, theta, active, multipliers
            more = _with_unknown(active, violated)
        if more.size == active.size:
            return _touching(rows, theta, active, multipliers)
        active = more
    return MORE, theta, active, multipliers


@kernel
def _touching(rows: Rows, theta: FloatArray, active: IndexArray, multipliers: FloatArray) -> Any:
    """Solve again with the few active rows; answers as `ask` does."""
    largest = multipliers.max()
    if _largest(rows, active, multipliers) > _BARELY:
        return UNDECIDED, theta, active, multipliers
    for share in _TOUCHING_SHARES:
        used = active[multipliers > share * largest]
        proven = -2.0 * _most_hidden(rows, used.size)
        _, again = widest_margin(rows.values[used], rows.first, rows.second, _ENOUGH, proven, WIDE)
        if np.isfinite(again).all():
            chosen, few = fewest(rows, used, again)
            if chosen.size:
                return CORE, theta, chosen, few
    used = active[multipliers > _TOUCHING_SHARES[0] * largest]
    return TOUCHING, theta, used, multipliers[:0]


@kernel
def shrink(rows: Rows, core: IndexArray, multipliers: FloatArray, order: IndexArray, most_asked: int) -> Any:
    """Remove blocks from a core, in this order, as long as the rest is proven to be one.

    `core` (any,): rows that prove the core. `multipliers`: of these rows. `order` (any,): blocks; those
    outside the core are passed over. `most_asked`: stop after so many questions. Returns: how many of `order`
    have had their turn. Returns: as before, of the smaller core. Returns (any,): rows that may prove a core
    without the last of these blocks, which is for others to say; mostly none.
    """
    nothing = core[:0]
    asked = 0
    turn = np.zeros(rows.starts.size - 1, dtype=np.intp)
    for done in range(order.size):
        turn[order[done]] = done
    core, multipliers = _without_spare(rows, core, multipliers, turn)
    for done in range(order.size):
        inside = np.zeros(rows.starts.size - 1, dtype=np.bool_)
        for row in core:
            inside[rows.block[row]] = True
        if inside.sum() == 1:
            break
        if asked == most_asked:
            return done, core, multipliers, nothing
        if not inside[order[done]]:
            continue
        asked += 1
        inside[order[done]] = False
        rest = np.flatnonzero(inside)
        # Any parameters that link the rest are accepted.
        state, _, active, few = ask(rows, rest, nothing, _ANY, _MOST_ROUNDS)
        if state == TOUCHING:
            return done + 1, core, multipliers, active
        if state == CORE:
            core, multipliers = _without_spare(rows, active, few, turn)
    return order.size, core, multipliers, nothing


_MOST_LOOKS = 60
_MOST_REMEMBERED = 6
_MOST_NEAR = 24
_LOOKS, _STEPS = 3.0, 30.0
"""Average passes over all rows and steps of a query."""


class SemidefiniteCoreFinder(CoreFinder):
    """Finds cores by interior point steps with row generation.

    Where records exclude each other by no more than a tie, the multipliers may need more digits than these
    steps give; then a linear program decides on the few blocks involved.

    `clock`: queries after its end stay undecided.
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
        """Decide by row generation whether a semidefinite matrix links these blocks."""
        if blocks.size == 0:
            return Answer(theta=self.system.aggregator.equal())
        rounds = self._turns(blocks)
        active = np.empty(0, dtype=np.intp)
        for _ in range(0, _MOST_LOOKS, rounds):
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
        """Remove blocks from a core, in this order, as long as the rest is still a core."""
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
        """Limit the passes over rows of compiled code between two checks of the clock."""
        starts = self._rows.starts
        cells = int((starts[blocks + 1] - starts[blocks]).sum()) * self.system.aggregator.dimension
        return min(_MOST_LOOKS, max(1, self._steering.cells_at_once // max(1, cells)))

    def _cost(self, blocks: IndexArray, active: int) -> float:
        """Count the operations of a query: passes over the rows of these blocks, and steps on active ones."""
        starts, size = self._rows.starts, self.system.aggregator.dimension
        rows = int((starts[blocks + 1] - starts[blocks]).sum())
        return ENTRY * size * (_LOOKS * rows + _STEPS * size * (size + active))

    def _touching(self, rows: IndexArray) -> Answer:
        """Decide by the linear program on all rows of the blocks of these rows."""
        proof = self._linear.ask(np.unique(self.system.row_open[rows])).proof
        if proof is None:
            return Answer()
        chosen, multipliers = fewest(self._rows, proof.rows, proof.multipliers)
        return self._proved(chosen, multipliers) if chosen.size else Answer()

    def _proved(self, rows: IndexArray, multipliers: FloatArray) -> Answer:
        return self.proved(CoreProof(rows, multipliers, np.empty(0)))
