"""Recount where a missing value matches anything: every row agrees with k, wherever both have a value.

A record without any value agrees with every other, so that k - 1 such records make whatever file safe, and an
optimum takes few values. It is proven from few rows: the program that makes some rows safe has a bound that
holds for the whole, and rows that its answer leaves unsafe are added until none is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import BoolArray, LongArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.suppression.counting import MissingMeaning, frequencies
from linkrisk.formulations.suppression.coverage import WORD, Ways, ways_to_cover
from linkrisk.formulations.suppression.key_table import MISSING, Codes, members, row_types
from linkrisk.formulations.suppression.match_model import Lacking, MatchModel, match_model
from linkrisk.formulations.suppression.nodes import check_size
from linkrisk.solver.backends.base import Backend, SolveOptions
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.run.status import Status
from linkrisk.solver.suppression.answer import PHASE, Answer, said_of
from linkrisk.solver.suppression.problem import Problem

PROOF = "branch and bound of some rows"

_ANYTHING = MissingMeaning(1.0)
_MOST_ROWS = 8 * WORD
_TOLERANCE = 1e-4
_CLOSE = 0.99


def match_anything(
    problem: Problem, backend: Backend, clock: Clock, report: Reporter | None = None, seed: int = 0
) -> Answer:
    """Find the least costly suppression after which every row agrees with k.

    Parameters
    ----------
    problem : Problem
        Its table, costs, untouched variables and k.
    backend : Backend
        What solves the programs.
    clock : Clock
        When it has expired, the best answer so far is returned, with its bound.
    report : callable, optional
        Told the best answer and bound.
    seed : int
        Of the choice of rows to begin with.

    Raises
    ------
    FormulationError
        If there are too many rows and patterns to go through, or there is none.
    """
    check_size(problem.table.types, problem.allowed)
    search = _Search(problem, backend, clock, report, np.random.default_rng(seed))
    search.run()
    return Answer(taken=search.taken, cost=search.cost, bound=min(search.bound, search.cost), proof=PROOF)


@dataclass
class _Search:
    problem: Problem
    backend: Backend
    clock: Clock
    report: Reporter | None
    random: np.random.Generator
    bound: int = field(default=0, init=False)

    def __post_init__(self) -> None:
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
        """Solve for some rows, add what is still unsafe, until nothing is or the bound is reached."""
        self._add(np.flatnonzero(self.short))
        while self.bound < self.cost and not self.clock.expired:
            self._tell()
            taken = self._solve()
            if taken is None or self.bound >= self.cost:
                return
            unsafe = self._unsafe(taken)
            if not unsafe.any():
                self._better(taken)
                return
            if not self._learn(taken, unsafe):
                return

    def _tell(self) -> None:
        if self.report is not None:
            rows = f"{len(self.rows) + len(self.made)} rows"
            self.report(Progress.uncounted(PHASE, said_of(self.cost, self.bound, rows)))

    # ---- answers

    def _codes(self, taken: LongArray) -> Codes:
        gone = (taken[:, None] & self.bits) != 0
        return np.where(gone, np.int32(MISSING), self.problem.table.codes).astype(np.int32)

    def _unsafe(self, taken: LongArray) -> BoolArray:
        """Records that agree with fewer than k after so much was taken."""
        types = row_types(self._codes(taken))
        count = frequencies(types.codes, types.count.astype(np.float64), _ANYTHING)
        return np.asarray((count < self.problem.k)[types.of])

    def _cost(self, taken: LongArray) -> int:
        return int((((taken[:, None] & self.bits) != 0) @ self.problem.cost).sum())

    def _better(self, taken: LongArray) -> None:
        if self._cost(taken) < self.cost:
            self.taken, self.cost = taken, self._cost(taken)

    def _emptied(self) -> LongArray:
        """Take all that may be taken from one unsafe record of each group after the other.

        Groups are of records alike in what is not touched: nothing makes those of different ones match.
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
        """Put back whatever can be, the dearest first."""
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
        """Look at some more types that lack matches."""
        fresh = np.setdiff1d(types, self.rows)
        room = max(_MOST_ROWS - len(self.rows) - len(self.made), 0)
        some = self.random.permutation(fresh)[: min(WORD, room)]
        self.rows = np.concatenate([self.rows, some]).astype(np.int64)

    def _learn(self, taken: LongArray, unsafe: BoolArray) -> bool:
        """Look at what an answer leaves unsafe; whether there was anything new."""
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
        """The rows that are looked at, and what makes those that are made."""
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
        """Row types, and the patterns by which they become a row."""
        gone = int(self.bits[row == MISSING].sum())
        same = (self.types.codes == row) | (row == MISSING)
        for row_type in np.flatnonzero(same.all(axis=1)):
            there = int(self.bits[self.types.codes[row_type] != MISSING].sum())
            pattern = gone & there
            if pattern and not pattern & ~self.problem.allowed:
                yield int(row_type), pattern

    # ---- programs

    def _solve(self) -> LongArray | None:
        """Solve for the rows that are looked at: raises the bound, and gives what to take, if it can be."""
        codes, lacking = self._lacking()
        apart = np.zeros(len(self.types), dtype=np.bool_)
        apart[self.rows] = True
        apart[lacking.made[:, 1]] = True
        ways = ways_to_cover(
            self.types, codes, self.problem.cost, self.problem.allowed, apart, lacking.made[:, 1:]
        )
        model = match_model(ways, lacking, self.types.count, self.unit)
        options = SolveOptions(
            time_limit=self.clock.seconds_left, absolute_gap=_CLOSE, threads=self.clock.processors
        )
        found = self.backend.solve(model.program, options, watch=lambda _: self.clock.expired)
        if found.status is Status.INFEASIBLE:  # cannot be: taking everything is allowed
            raise AssertionError("the program of some rows has no answer")
        if math.isfinite(found.bound):
            self.bound = max(self.bound, math.ceil(found.bound - _TOLERANCE) * self.unit)
        if found.values is None or found.status is not Status.OPTIMAL:
            return None
        return self._realised(ways, model, np.rint(found.values).astype(np.int64))

    def _realised(self, ways: Ways, model: MatchModel, values: LongArray) -> LongArray | None:
        """What to take from which record; None where there are too few records for it."""
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
