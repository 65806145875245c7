"""The search for a least costly assignment of records to nodes, with a bound at every moment.

Prices of records give the bound; diving on the relaxation gives an answer near it; neighbourhoods make that
better; and what the prices leave of the program, where that is little, is solved whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from linkrisk.arrays import BoolArray, LongArray
from linkrisk.formulations.suppression.key_table import RowTypes
from linkrisk.formulations.suppression.node_prices import Volume, penalties
from linkrisk.formulations.suppression.nodes import Nodes
from linkrisk.formulations.suppression.recount_model import recount_model
from linkrisk.solver.backends.base import Backend, SolveOptions
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.status import Status
from linkrisk.solver.suppression.anonymity.assignment import Assignment, greedy
from linkrisk.solver.suppression.anonymity.diving import dive
from linkrisk.solver.suppression.anonymity.neighbourhoods import CLOSE, Neighbourhoods

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

_TOLERANCE = 1e-6
"""Of a bound that a backend claims, in units that all costs are multiples of, for each record and node.

Reduced costs may be wrong by the tolerance of the backend (1e-7 in HiGHS), times what their columns can be.
"""

_FURTHER = 1.5
"""Entries that cost so much more than the price, in mean costs of a value, are in no neighbourhood."""

Teller = Callable[[int, int, str], None]
"""Told cost, bound, and what is being done."""


@dataclass(eq=False)
class NodeSearch:
    """A search that can be gone on with.

    Attributes
    ----------
    nodes : Nodes
    types : RowTypes
    value : int
        What a value costs on average: entries that cost much more than their prices are in no neighbourhood.
    backend : Backend
    tell : callable
    seed : int
        Of the choice of neighbourhoods.
    proof : str
        What proves `bound`.
    """

    nodes: Nodes
    types: RowTypes
    value: int
    backend: Backend
    tell: Teller
    seed: int = 0
    proof: str = field(default=PRICES, init=False)

    def __post_init__(self) -> None:
        self.unit = max(int(np.gcd.reduce(self.nodes.cost, initial=0)), 1)
        self.most = int(self.nodes.cost.max(initial=0))
        self.answer = greedy(self.nodes)
        self.volume = Volume(self.nodes, self.most)
        self._solved = 0  # what a backend has proven
        self._priced = self._dived = False
        self._budget = _FIRST_WHOLE

    @property
    def bound(self) -> int:
        """The largest one: costs are multiples of the unit."""
        by_prices = -(-self.volume.bound // self.unit) * self.unit
        return min(max(by_prices, self._solved, 0), self.answer.cost)

    @property
    def proven(self) -> bool:
        """Whether the answer is known to be best."""
        return self.bound >= self.answer.cost

    def run(self, clock: Clock, enough: int | None = None) -> None:
        """Search on until the answer is proven, the bound is `enough`, or the clock has expired."""
        self.clock, self._enough = clock, enough
        if not self._priced:
            self.raise_prices(clock, enough)
        if not self._over and not self._dived:
            stop = self._until(_DIVE_SHARE, _DIVE_SECONDS)
            self._better(dive(self.nodes, self.volume, self.most, stop))
            self._dived = not stop()  # cut short, it is worth another time
            if not self._over and self._left() <= _FEW:
                self._solve_whole(_FIRST_WHOLE)
        self._improve()

    @property
    def _over(self) -> bool:
        enough = self._enough is not None and self.bound >= self._enough
        return enough or self.proven or self.clock.expired

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
        self.tell(self.answer.cost, self.bound, work)

    def raise_prices(self, clock: Clock, enough: int | None = None) -> None:
        """The volume algorithm, until the bound hardly rises any more."""
        self.clock, self._enough, self._priced = clock, enough, True
        stop = self._until(_VOLUME_SHARE, _VOLUME_SECONDS)
        long_enough = self._until(_VOLUME_SHARE, _SECONDS_AT_LEAST)
        stalled, steps, before = 0, 0, self.volume.bound
        while not self._over and not stop():
            for _ in range(_BATCH):
                self.volume.advance()
            steps += _BATCH
            stalled = stalled + 1 if self.volume.bound <= before * (1 + _LEAST_RISE) else 0
            before = self.volume.bound
            if stalled >= _STALL and (steps >= _STEPS_AT_LEAST or long_enough()):
                break

    def _improve(self) -> None:
        """Neighbourhoods, and in between the whole where it is small enough, for longer each time."""
        around = Neighbourhoods(
            self.nodes,
            self.types,
            self.backend,
            self.volume.prices,
            int(_FURTHER * self.value),
            self.unit,
            self.seed,
        )
        while not self._over:
            end = self.clock.now + _BETWEEN * self._budget

            def ended(end: float = end) -> bool:
                self._tell(f"{around.size} records at a time")
                return self._over or self.clock.now > end

            around.improve(self.answer, self.clock.threads, ended, lambda: self.clock.time_left)
            if not self._over and self._left() <= _MANY:
                self._solve_whole(self._budget)
            self._budget *= 2.0

    def _allowed(self) -> BoolArray:
        """Entries that an answer may use that is of use."""
        least = self.volume.bound + penalties(self.nodes, self.volume.prices)
        return np.asarray(least <= self._goal - self.unit)

    @property
    def _goal(self) -> int:
        """What an answer has to cost less than to be of use; a multiple of the unit, as all costs are."""
        if self._enough is None:
            return self.answer.cost
        return min(self.answer.cost, -(-self._enough // self.unit) * self.unit)

    def _left(self) -> int:
        return int(self._allowed().sum())

    def _solve_whole(self, seconds: float) -> None:
        """Solve what the prices leave of the program: nothing outside of it is of use."""
        outside = self._goal
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
            slack = _TOLERANCE * (int(left.count.sum()) + len(left) + 100)
            inside = math.ceil(found.bound - slack) * self.unit if math.isfinite(found.bound) else 0
        if min(inside, outside) > self.bound:
            self._solved, self.proof = min(inside, outside), BRANCHING
        if found.values is not None:
            self._place(kept, np.rint(found.values[: left.entries]).astype(np.int64))

    def _place(self, entries: LongArray, records: LongArray) -> None:
        """Take a solution over where it is one, rounded, and better."""
        every = np.zeros(self.nodes.entries, dtype=np.int64)
        every[entries] = records
        trial = Assignment(self.nodes, every)
        if trial.allowed:
            self._better(trial)
