"""Recount: the least costly suppression after which every row has k records like it, counted in the output.

What is missing is a category of its own, so that taking values out of one record changes what others are
alike with: the true problem of k-anonymity, which is NP-hard (Meyerson and Williams 2004). Prices of records
give a bound; diving on the relaxation gives an answer near it; neighbourhoods make it better; and what the
prices leave of the program, where that is little, is solved whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.suppression.key_table import IntArray, KeyTable
from linkrisk.formulations.suppression.node_prices import Volume, penalties
from linkrisk.formulations.suppression.nodes import Nodes, nodes_of
from linkrisk.formulations.suppression.recount_model import recount_model
from linkrisk.solver.backends.base import Backend, SolveOptions
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.run.status import Status
from linkrisk.solver.suppression.anonymity.assignment import Assignment, greedy
from linkrisk.solver.suppression.anonymity.diving import dive
from linkrisk.solver.suppression.anonymity.neighbourhoods import CLOSE, Neighbourhoods
from linkrisk.solver.suppression.answer import PHASE, Answer
from linkrisk.solver.suppression.problem import SCALE, Problem

PRICES, BRANCHING = "prices", "branch and bound"
"""What proves the bound: whole prices alone, or a backend that solved what they leave."""

_BATCH = 50
_STALL, _LEAST_RISE = 4, 1e-5
_STEPS_AT_LEAST, _SECONDS_AT_LEAST = 3_000, 10.0
"""Steps before a bound that does not rise any more is believed, unless they take longer than that."""

_VOLUME_SHARE, _VOLUME_SECONDS = 0.2, 120.0
_DIVE_SHARE, _DIVE_SECONDS = 0.5, 600.0
_FEW, _MANY = 20_000, 200_000
"""Entries that are solved whole at once, and at most."""

_FIRST_WHOLE, _BETWEEN = 5.0, 2.0
"""Seconds for the whole at first; so many times more are spent on neighbourhoods in between."""

_TOLERANCE = 1e-4
"""Of a bound that a backend claims, in units that all costs are multiples of."""

_FURTHER = 1.5
"""Entries that cost so much more than the price, in mean costs of a value, are in no neighbourhood."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Priced(Answer):
    """An answer, and prices that prove a bound by themselves.

    Attributes
    ----------
    prices : ndarray of int64, shape (T,)
        Of a record of each row type; `formulations.suppression.node_prices.bound_of` says what they prove.
    by_prices : int
        That bound.
    """

    prices: IntArray
    by_prices: int


def anonymise(
    problem: Problem, backend: Backend, clock: Clock, report: Reporter | None = None, seed: int = 0
) -> Priced:
    """Find the least costly suppression after which every row has k records like it.

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
        Of the choice of neighbourhoods.

    Raises
    ------
    FormulationError
        If there are too many rows and patterns to list, or no suppression is k-anonymous.
    """
    table = problem.table
    nodes = nodes_of(table.types, problem.cost, problem.allowed, problem.k)
    _check_possible(nodes, table)
    search = _Search(problem, nodes, backend, clock, report, seed)
    search.run()
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


@dataclass
class _Search:
    problem: Problem
    nodes: Nodes
    backend: Backend
    clock: Clock
    report: Reporter | None
    seed: int
    proof: str = field(default=PRICES, init=False)

    def __post_init__(self) -> None:
        cost = self.problem.cost[
            [bool(self.problem.allowed >> at & 1) for at in range(len(self.problem.cost))]
        ]
        self.unit = max(int(np.gcd.reduce(cost, initial=0)), 1)
        self.most = int(cost.sum())
        self.within = int(_FURTHER * cost.mean()) if cost.size else 0
        self.answer = greedy(self.nodes)
        self.volume = Volume(self.nodes, self.most)
        self._solved = 0  # what a backend has proven

    @property
    def bound(self) -> int:
        """The largest one: costs are multiples of the unit."""
        by_prices = -(-self.volume.bound // self.unit) * self.unit
        return min(max(by_prices, self._solved, 0), self.answer.cost)

    @property
    def proven(self) -> bool:
        return self.bound >= self.answer.cost

    def run(self) -> None:
        self._raise_prices()
        if not self._over:
            self._better(dive(self.nodes, self.volume, self.most, self._until(_DIVE_SHARE, _DIVE_SECONDS)))
        if not self._over and self._left() <= _FEW:
            self._solve_whole(_FIRST_WHOLE)
        self._improve()

    @property
    def _over(self) -> bool:
        return self.proven or self.clock.expired

    def _until(self, share: float, at_most: float) -> Callable[[], bool]:
        end = self.clock.share(share, at_most)

        def ended() -> bool:
            self._tell("")
            return self.clock.expired or self.clock.now >= end

        return ended

    def _better(self, found: Assignment) -> None:
        if found.cost < self.answer.cost:
            self.answer = found
        self._tell("")

    def _tell(self, work: str) -> None:
        if self.report is not None:
            said = f"cost {self.answer.cost / SCALE:,.6g}, at least {self.bound / SCALE:,.6g}"
            self.report(Progress.uncounted(PHASE, f"{said}{'; ' + work if work else ''}"))

    def _raise_prices(self) -> None:
        """The volume algorithm, until it hardly rises any more."""
        stop = self._until(_VOLUME_SHARE, _VOLUME_SECONDS)
        long_enough = self._until(_VOLUME_SHARE, _SECONDS_AT_LEAST)
        stalled, steps, before = 0, 0, self.volume.bound
        while not self.proven and not stop():
            for _ in range(_BATCH):
                self.volume.advance()
            steps += _BATCH
            stalled = stalled + 1 if self.volume.bound <= before * (1 + _LEAST_RISE) else 0
            before = self.volume.bound
            if stalled >= _STALL and (steps >= _STEPS_AT_LEAST or long_enough()):
                break

    def _improve(self) -> None:
        """Neighbourhoods, and in between the whole where it is small enough, for longer each time."""
        table, prices = self.problem.table, self.volume.prices
        around = Neighbourhoods(
            self.nodes, table.types, self.backend, prices, self.within, self.unit, self.seed
        )
        budget = _FIRST_WHOLE
        while not self._over:
            end = self.clock.now + _BETWEEN * budget

            def ended(end: float = end) -> bool:
                self._tell(f"{around.size} records at a time")
                return self._over or self.clock.now > end

            around.improve(self.answer, self.clock.threads, ended, lambda: self.clock.time_left)
            if not self._over and self._left() <= _MANY:
                self._solve_whole(budget)
            budget *= 2.0

    def _allowed(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Entries that an answer may use that costs less than the present one."""
        least = self.volume.bound + penalties(self.nodes, self.volume.prices)
        return np.asarray(least <= self.answer.cost - self.unit)

    def _left(self) -> int:
        return int(self._allowed().sum())

    def _solve_whole(self, seconds: float) -> None:
        """Solve what the prices leave of the program: nothing outside of it is better than the answer."""
        outside = self.answer.cost
        left, kept = self.nodes.only(self._allowed())
        if np.unique(left.row_type).size < len(left.count):  # some record would have no place
            self._solved = outside
            return
        model = recount_model(left, np.arange(left.entries), left.count, self.unit)
        options = SolveOptions(
            time_limit=min(seconds, self.clock.time_left),
            absolute_gap=CLOSE,
            threads=self.clock.processors,
            seed=self.seed,
        )
        self._tell(f"{left.entries:,} ways left, solved together")
        found = self.backend.solve(model.program, options, watch=lambda _: self.clock.expired)
        if found.status is Status.INFEASIBLE:
            inside = outside
        else:
            inside = math.ceil(found.bound - _TOLERANCE) * self.unit if math.isfinite(found.bound) else 0
        if min(inside, outside) > self.bound:
            self._solved, self.proof = min(inside, outside), BRANCHING
        if found.values is not None:
            self._place(kept, np.rint(found.values[: left.entries]).astype(np.int64))

    def _place(self, entries: IntArray, records: IntArray) -> None:
        """Take a solution over where it is one, rounded, and better."""
        every = np.zeros(self.nodes.entries, dtype=np.int64)
        every[entries] = records
        trial = Assignment(self.nodes, every)
        if trial.allowed:
            self._better(trial)
