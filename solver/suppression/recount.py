"""Solves the recount problem: the least costly suppression after which every record has k like it.

If a missing value is a category of its own, suppression changes the combinations of other records: this is
k-anonymity proper, which is NP-hard (Meyerson and Williams 2004).

If it matches anything, a record without values agrees with every other, so that k - 1 such records make any
file safe, and an optimum takes few values. It is proven by row generation: a program for some rows gives a
dual bound, and rows that its answer leaves unsafe are added until there are none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import BoolArray, LongArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.suppression.coverage import WORD, Ways, ways_to_cover
from linkrisk.formulations.suppression.key_table import (
    MISSING,
    Codes,
    KeyTable,
    MissingMeaning,
    frequencies,
    members,
    row_types,
)
from linkrisk.formulations.suppression.nodes import Nodes, check_size, nodes_of
from linkrisk.formulations.suppression.recount_programs import Lacking, MatchModel, match_model
from linkrisk.solver.backends.base import SolveOptions
from linkrisk.solver.run.clock import Status
from linkrisk.solver.suppression import steering
from linkrisk.solver.suppression.answer import Answer, Priced, SearchTask
from linkrisk.solver.suppression.node_search import CLOSED_GAP, NodeSearch


def anonymise(task: SearchTask) -> Priced:
    """Find the least costly suppression, where a missing value is a category of its own."""
    problem, table = task.problem, task.problem.table
    nodes = nodes_of(table.types, problem.cost, problem.allowed, problem.k)
    _check_possible(nodes, table)
    value = int(problem.cost.mean())
    search = NodeSearch(nodes, table.types, value, task.backend, task.tell_answer, task.seed)
    search.run(task.clock)
    return Priced(
        taken=search.answer.taken(table.types.of),
        cost=search.answer.cost,
        bound=search.bound,
        proof=search.proof,
        prices=search.volume.prices,
        by_prices=search.volume.bound,
    )


def _check_possible(nodes: Nodes, table: KeyTable) -> None:
    reached = np.zeros(len(nodes.count), dtype=np.bool_)
    reached[nodes.row_type] = True
    if not reached.all():
        row = int(np.argmax(~reached[table.types.of])) + 1
        raise FormulationError(
            f"record {row} has fewer than {nodes.k} records like it whatever is taken out: let more "
            "variables be touched, or lower k"
        )


PROOF = "branch and bound of some rows"

_ANYTHING = MissingMeaning(1.0)

_BOUND_SLACK = 1e-4
"""Of a bound that a backend claims, in units that all costs are multiples of."""


def match_anything(task: SearchTask) -> Answer:
    """Find the least costly suppression, where a missing value matches anything."""
    check_size(task.problem.table.types, task.problem.allowed)
    search = _RowSearch(task)
    search.run()
    return Answer(taken=search.taken, cost=search.cost, bound=min(search.bound, search.cost), proof=PROOF)


class _RowSearch:
    """Row generation: a program of some rows, and rows that its answer leaves unsafe."""

    def __init__(self, task: SearchTask) -> None:
        self.task, self.problem, self.clock = task, task.problem, task.clock
        self.random, self.bound = np.random.default_rng(task.seed), 0
        table = self.problem.table
        self.types = table.types
        self.bits = 1 << np.arange(len(table.names), dtype=np.int64)
        self.unit = max(int(np.gcd.reduce(self.problem.cost, initial=0)), 1)
        count = frequencies(self.types.codes, self.types.count.astype(np.float64), _ANYTHING)
        self.short = np.maximum(self.problem.k - count, 0).astype(np.int64)
        self.rows = np.zeros(0, dtype=np.int64)  # types that lack matches
        self.made: dict[tuple[int, ...], int] = {}  # rows that ways make, with what they lack
        self.taken = self._emptied()
        self.cost = self._cost(self.taken)
        self._put_back()

    def run(self) -> None:
        """Solve for some rows and add unsafe ones, until there are none or the bound is reached."""
        self._add(np.flatnonzero(self.short))
        while self.bound < self.cost and not self.clock.expired:
            rows = len(self.rows) + len(self.made)
            self.task.tell_answer(self.cost, self.bound, f"{rows} rows")
            taken = self._solve()
            if taken is None or self.bound >= self.cost:
                return
            unsafe = self._unsafe(taken)
            if not unsafe.any():
                self._better(taken)
                return
            if not self._learn(taken, unsafe):
                return

    # ---- answers

    def _codes(self, taken: LongArray) -> Codes:
        gone = (taken[:, None] & self.bits) != 0
        return np.where(gone, np.int32(MISSING), self.problem.table.codes).astype(np.int32)

    def _unsafe(self, taken: LongArray) -> BoolArray:
        """Tell which records (n,) agree with fewer than k after suppression."""
        types = row_types(self._codes(taken))
        count = frequencies(types.codes, types.count.astype(np.float64), _ANYTHING)
        return np.asarray((count < self.problem.k)[types.of])

    def _cost(self, taken: LongArray) -> int:
        return int((((taken[:, None] & self.bits) != 0) @ self.problem.cost).sum())

    def _better(self, taken: LongArray) -> None:
        if self._cost(taken) < self.cost:
            self.taken, self.cost = taken, self._cost(taken)

    def _emptied(self) -> LongArray:
        """Suppress all allowed values of one unsafe record per group at a time: a first answer.

        Groups are of records alike in untouched variables: those of different ones never match.
        """
        problem, codes = self.problem, self.problem.table.codes
        there = ((codes != MISSING) @ self.bits).astype(np.int64) & problem.allowed
        kept = np.where(self.bits & problem.allowed, MISSING, codes).astype(np.int32)
        group = row_types(kept).of
        lacking = self.short[self.types.of]
        taken = np.zeros(len(codes), dtype=np.int64)
        while True:
            unsafe = self._unsafe(taken)
            if not unsafe.any():
                return taken
            free = np.flatnonzero(unsafe & (taken == 0) & (there > 0))
            if not free.size:
                row = int(np.argmax(unsafe)) + 1
                raise FormulationError(
                    f"record {row} agrees with fewer than {problem.k} records whatever is taken out: let "
                    "more variables be touched, or lower k"
                )
            order = free[np.lexsort((-lacking[free], group[free]))]
            first = order[np.flatnonzero(np.diff(group[order], prepend=-1))]
            taken[first] = there[first]

    def _put_back(self) -> None:
        """Restore redundant suppressions, the dearest first."""
        for record in np.flatnonzero(self.taken):
            places = sorted(members(int(self.taken[record])), key=lambda at: -int(self.problem.cost[at]))
            for at in places:
                if self.clock.expired:
                    return
                trial = self.taken.copy()
                trial[record] &= ~(1 << at)
                if not self._unsafe(trial).any():
                    self._better(trial)

    # ---- rows

    def _add(self, types: LongArray) -> None:
        """Add some more types that lack matches to the rows."""
        fresh = np.setdiff1d(types, self.rows)
        room = max(steering.ROWS_AT_MOST - len(self.rows) - len(self.made), 0)
        some = self.random.permutation(fresh)[: min(WORD, room)]
        self.rows = np.concatenate([self.rows, some]).astype(np.int64)

    def _learn(self, taken: LongArray, unsafe: BoolArray) -> bool:
        """Add the rows that an answer leaves unsafe; tell whether there are new ones."""
        before = len(self.rows) + len(self.made)
        self._add(np.unique(self.types.of[unsafe & (taken == 0)]))
        codes = self._codes(taken)
        for record in np.flatnonzero(unsafe & (taken != 0)):
            row = codes[record]
            matches = ((row == MISSING) | (self.types.codes == MISSING) | (row == self.types.codes)).all(
                axis=1
            )
            self.made[tuple(row.tolist())] = self.problem.k - int(self.types.count[matches].sum())
        return len(self.rows) + len(self.made) > before

    def _lacking(self) -> tuple[Codes, Lacking]:
        """The rows of the program, and the ways that make those that are made."""
        kept = [np.array(row, dtype=np.int32) for row in self.made]
        made = [
            (len(self.rows) + at, row_type, pattern)
            for at, row in enumerate(kept)
            for row_type, pattern in self._makes(row)
        ]
        codes = np.concatenate([self.types.codes[self.rows], *(row[None] for row in kept)])
        demand = np.concatenate([self.short[self.rows], np.array([*self.made.values()], dtype=np.int64)])
        row_type = np.concatenate([self.rows, np.full(len(kept), -1, dtype=np.int64)])
        return codes, Lacking(demand, row_type, np.array(made, dtype=np.int64).reshape(-1, 3))

    def _makes(self, row: NDArray[np.int32]) -> Iterator[tuple[int, int]]:
        """Row types and the patterns by which they become a row."""
        gone = int(self.bits[row == MISSING].sum())
        same = (self.types.codes == row) | (row == MISSING)
        for row_type in np.flatnonzero(same.all(axis=1)):
            there = int(self.bits[self.types.codes[row_type] != MISSING].sum())
            pattern = gone & there
            if pattern and not pattern & ~self.problem.allowed:
                yield int(row_type), pattern

    # ---- programs

    def _solve(self) -> LongArray | None:
        """Solve the program of the rows: raises the bound; values to take, if there are enough records."""
        codes, lacking = self._lacking()
        apart = np.zeros(len(self.types), dtype=np.bool_)
        apart[self.rows] = True
        apart[lacking.made[:, 1]] = True
        ways = ways_to_cover(
            self.types, codes, self.problem.cost, self.problem.allowed, apart, lacking.made[:, 1:]
        )
        model = match_model(ways, lacking, self.types.count, self.unit)
        options = SolveOptions(
            time_limit=self.clock.seconds_left, absolute_gap=CLOSED_GAP, threads=self.clock.processors
        )
        found = self.task.backend.solve(model.program, options, watch=lambda _: self.clock.expired)
        if found.status is Status.INFEASIBLE:  # cannot be: taking everything is allowed
            raise AssertionError("the program of some rows has no answer")
        if math.isfinite(found.bound):
            self.bound = max(self.bound, math.ceil(found.bound - _BOUND_SLACK) * self.unit)
        if found.values is None or found.status is not Status.OPTIMAL:
            return None
        return self._realised(ways, model, np.rint(found.values).astype(np.int64))

    def _realised(self, ways: Ways, model: MatchModel, values: LongArray) -> LongArray | None:
        """Return the values to take from each record (n,); None if there are too few records."""
        left = self.types.count.copy()
        taken = np.zeros(len(self.problem.table.codes), dtype=np.int64)
        order = np.argsort(self.types.of, kind="stable")
        ends = np.cumsum(self.types.count)
        single = np.bincount(model.column[model.column >= 0], minlength=len(values)) == 1
        used = np.flatnonzero(values[: int(model.column.max(initial=-1)) + 1])
        for column in sorted(used.tolist(), key=lambda at: not single[at]):
            wanted = int(values[column])
            for way in np.flatnonzero(model.column == column):
                owner = int(ways.row_type[way])
                many = min(wanted, int(left[owner]))
                begin = int(ends[owner] - left[owner])
                taken[order[begin : begin + many]] = ways.pattern[way]
                left[owner] -= many
                wanted -= many
                if not wanted:
                    break
            if wanted:
                return None
        return taken
