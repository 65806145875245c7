"""Searches a least costly assignment of records to nodes, with a dual bound at every moment.

Prices of records (Lagrange multipliers) give the bound; a dive on the relaxation gives an answer near it;
large neighbourhood search improves that; and what the prices leave of the program, if little, is solved at
once.

In a neighbourhood, some used nodes that are near each other give their records free; these may go to any node
that they fill, or that others use. A backend solves this small program from the present places as its start.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.suppression.key_table import RowTypes
from linkrisk.formulations.suppression.node_prices import Volume, penalties
from linkrisk.formulations.suppression.nodes import Nodes
from linkrisk.formulations.suppression.recount_programs import RecountModel, recount_model
from linkrisk.solver.backends.base import Backend, BackendResult, SolveOptions
from linkrisk.solver.run.clock import Clock, Status
from linkrisk.solver.suppression import steering
from linkrisk.solver.suppression.heuristics import Assignment, dive, greedy

PRICES, BRANCHING = "prices", "branch and bound"
"""Proofs of the bound: prices in integers alone, or a backend that solved what they leave."""

CLOSED_GAP = 0.99
"""Gap below which an answer is optimal, in units of which all costs are multiples."""

_BOUND_SLACK = 1e-6
"""Of a bound that a backend claims, in units that all costs are multiples of, for each record and node.

Reduced costs may be wrong by the tolerance of the backend (1e-7 in HiGHS), times the bounds of their columns.
"""

Teller = Callable[[int, int, str], None]
"""Reports cost, bound, and the current step."""


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Records of some nodes that may be placed anew, as a mixed-integer program."""

    chosen: LongArray  # the nodes
    free: LongArray  # present entries of the records
    records: LongArray  # that take each of these
    entries: LongArray  # that they may take
    model: RecountModel
    start: FloatArray  # the present places, as a point of the model


@dataclass(eq=False)
class Neighbourhoods:
    """Large neighbourhood search: improves an answer, with as many programs at a time as threads."""

    nodes: Nodes
    types: RowTypes
    backend: Backend
    prices: LongArray  # (T,): near-optimal ones
    within: int  # of the price, an entry may cost: dearer ones are left out
    unit: int  # that all costs are multiples of
    seed: int = 0

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)
        self.size = steering.FREE_RECORDS
        first = self.nodes.start[:-1]
        taken = self.nodes.pattern[first][:, None] >> np.arange(self.types.codes.shape[1]) & 1
        self._rows = np.where(taken == 1, -1, self.types.codes[self.nodes.row_type[first]])

    def improve(
        self, answer: Assignment, threads: int, until: Callable[[], bool], seconds: Callable[[], float]
    ) -> None:
        """Improve an assignment in place, until `until` is true; `seconds` gives the time left."""
        busy = np.zeros(len(self.nodes), dtype=np.bool_)
        running: dict[Future[BackendResult], Neighbourhood] = {}
        with ThreadPoolExecutor(threads) as pool:
            while running or not until():
                while len(running) < threads and not until() and (answer.inside[~busy] > 0).any():
                    around = self._next(answer, busy)
                    busy[around.chosen] = True
                    most = min(steering.NEIGHBOURHOOD_SECONDS, seconds())
                    running[pool.submit(self._solve, around, until, most)] = around
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    around = running.pop(done)
                    busy[around.chosen] = False
                    _take(answer, around, done.result())
                    self._adapt(done.result())

    def _solve(self, around: Neighbourhood, until: Callable[[], bool], seconds: float) -> BackendResult:
        options = SolveOptions(time_limit=max(seconds, 0.1), absolute_gap=CLOSED_GAP)
        program = around.model.program
        return self.backend.solve(program, options, starts=[around.start], watch=lambda _: until())

    def _next(self, answer: Assignment, busy: BoolArray) -> Neighbourhood:
        nodes, inside = self.nodes, answer.inside
        chosen = self._near(np.where(busy, 0, inside))
        free = nodes.of_nodes(chosen)
        free = np.sort(free[answer.records[free] > 0])
        available = np.bincount(nodes.row_type[free], answer.records[free], len(nodes.count)).astype(np.int64)
        opened = (inside > 0) & ~busy
        opened[chosen] = False
        entries = self._entries(free, available, opened, busy)
        model = recount_model(nodes, entries, available, self.unit, opened)
        start = np.zeros(model.program.shape[1])
        start[np.searchsorted(entries, free)] = answer.records[free]
        start[entries.size + np.searchsorted(model.nodes, chosen)] = 1.0
        return Neighbourhood(chosen, free, answer.records[free].copy(), entries, model, start)

    def _near(self, inside: LongArray) -> LongArray:
        """Draw a used node and its neighbours, with about as many records as are to be free."""
        used = np.flatnonzero(inside)
        rows = self._rows[used]
        centre = rows[self._random.integers(used.size)]
        both = (rows >= 0) & (centre >= 0)
        stars = ((rows >= 0) != (centre >= 0)).sum(axis=1)
        far = (both & (rows != centre)).sum(axis=1) + steering.STAR_DISTANCE * stars
        order = np.argsort(far + 0.5 * self._random.random(used.size))
        many = max(2, int((np.cumsum(inside[used[order]]) <= self.size).sum()))
        return np.sort(used[order[:many]]).astype(np.int64)

    def _entries(
        self, free: LongArray, available: LongArray, opened: BoolArray, busy: BoolArray
    ) -> LongArray:
        """Entries of the free records into nodes that they can fill or that others fill."""
        nodes = self.nodes
        entries = nodes.of_types(np.flatnonzero(available))
        owner = nodes.row_type[entries]
        entries = entries[
            (nodes.cost[entries] < self.prices[owner] + self.within) & ~busy[nodes.of_entry[entries]]
        ]
        entries = np.union1d(entries, free)
        places = nodes.of_entry[entries]
        room = np.bincount(places, available[nodes.row_type[entries]], len(nodes))
        return np.asarray(entries[opened[places] | (room[places] >= nodes.k)])

    def _adapt(self, found: BackendResult) -> None:
        """Enlarge neighbourhoods that are solved soon, and shrink those whose time runs out."""
        if found.solve_seconds < steering.SOON:
            larger = int(self.size * steering.FREE_GROWTH) + 1
            self.size = min(larger, steering.MOST_FREE_RECORDS)
        elif found.limit is not None:
            self.size = max(int(self.size * steering.FREE_SHRINKAGE), steering.LEAST_FREE_RECORDS)


def _take(answer: Assignment, around: Neighbourhood, found: BackendResult) -> None:
    """Place the records by the solution, if that is allowed and costs no more."""
    if found.values is None:
        return
    records = np.rint(found.values[: around.entries.size]).astype(np.int64)
    entries = np.concatenate([around.free, around.entries])
    by = np.concatenate([-around.records, records])
    if (records >= 0).all() and int(by @ answer.nodes.cost[entries]) <= 0:
        answer.move(entries, by)


@dataclass(eq=False)
class NodeSearch:
    """A search that can be continued."""

    nodes: Nodes
    types: RowTypes
    value: int  # mean cost of a value
    backend: Backend
    tell: Teller
    seed: int = 0  # of neighbourhoods
    proof: str = field(default=PRICES, init=False)  # of `bound`

    def __post_init__(self) -> None:
        self.unit = max(int(np.gcd.reduce(self.nodes.cost, initial=0)), 1)
        self.most = int(self.nodes.cost.max(initial=0))
        self.answer = greedy(self.nodes)
        self.volume = Volume(self.nodes, self.most)
        self._solved = 0  # bound proven by a backend
        self._priced = self._dived = False
        self._budget = steering.FIRST_WHOLE_SECONDS

    @property
    def bound(self) -> int:
        """The largest bound, a multiple of the unit as all costs are."""
        by_prices = -(-self.volume.bound // self.unit) * self.unit
        return min(max(by_prices, self._solved, 0), self.answer.cost)

    @property
    def proven(self) -> bool:
        """Whether the answer is optimal."""
        return self.bound >= self.answer.cost

    def run(self, clock: Clock, enough: int | None = None) -> None:
        """Continue until the answer is proven, the bound is `enough`, or the clock has expired."""
        self.clock, self._enough = clock, enough
        if not self._priced:
            self.raise_prices(clock, enough)
        if not self._over and not self._dived:
            stop = self._until(steering.DIVE_SHARE, steering.DIVE_SECONDS)
            self._better(dive(self.nodes, self.volume, self.most, stop))
            self._dived = not stop()  # cut short, it is worth another time
            if not self._over and self._left() <= steering.WHOLE_AT_ONCE:
                self._solve_whole(steering.FIRST_WHOLE_SECONDS)
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
        """Run the volume algorithm until the bound hardly rises any more."""
        self.clock, self._enough, self._priced = clock, enough, True
        stop = self._until(steering.PRICE_SHARE, steering.PRICE_SECONDS)
        long_enough = self._until(steering.PRICE_SHARE, steering.LEAST_PRICE_SECONDS)
        stalled, steps, before = 0, 0, self.volume.bound
        while not self._over and not stop():
            for _ in range(steering.PRICE_STEPS):
                self.volume.advance()
            steps += steering.PRICE_STEPS
            hardly = self.volume.bound <= before * (1 + steering.LEAST_RISE)
            stalled = stalled + 1 if hardly else 0
            before = self.volume.bound
            patient = steps >= steering.LEAST_PRICE_STEPS
            if stalled >= steering.STALLED_ROUNDS and (patient or long_enough()):
                break

    def _improve(self) -> None:
        """Alternate neighbourhoods and the rest of the program, if small enough, for longer each time."""
        around = Neighbourhoods(
            self.nodes,
            self.types,
            self.backend,
            self.volume.prices,
            int(steering.FURTHER_THAN_PRICE * self.value),
            self.unit,
            self.seed,
        )
        while not self._over:
            end = self.clock.now + steering.SEARCH_PER_WHOLE * self._budget

            def ended(end: float = end) -> bool:
                self._tell(f"{around.size} records at a time")
                return self._over or self.clock.now > end

            if steering.FREE_RECORDS:
                around.improve(self.answer, self.clock.threads, ended, lambda: self.clock.time_left)
            if not self._over and self._left() <= steering.WHOLE_AT_MOST:
                self._solve_whole(self._budget)
            elif not steering.FREE_RECORDS:
                return
            self._budget *= 2.0

    def _allowed(self) -> BoolArray:
        """Entries that a better answer may use: reduced cost fixing."""
        least = self.volume.bound + penalties(self.nodes, self.volume.prices)
        return np.asarray(least <= self._goal - self.unit)

    @property
    def _goal(self) -> int:
        """Answers must cost less to be of use; a multiple of the unit, as all costs are."""
        if self._enough is None:
            return self.answer.cost
        return min(self.answer.cost, -(-self._enough // self.unit) * self.unit)

    def _left(self) -> int:
        return int(self._allowed().sum())

    def _solve_whole(self, seconds: float) -> None:
        """Solve the rest of the program that the prices leave: no better answer is outside of it."""
        outside = self._goal
        left, kept = self.nodes.only(self._allowed())
        if np.unique(left.row_type).size < len(left.count):  # some record would have no place
            self._solved = outside
            return
        model = recount_model(left, np.arange(left.entries), left.count, self.unit)
        options = SolveOptions(
            time_limit=min(seconds, self.clock.time_left),
            absolute_gap=CLOSED_GAP,
            threads=self.clock.processors,
            seed=self.seed,
        )
        self._tell(f"{left.entries:,} ways left, solved together")
        found = self.backend.solve(model.program, options, watch=lambda _: self.clock.expired)
        if found.status is Status.INFEASIBLE:
            inside = outside
        else:
            slack = _BOUND_SLACK * (int(left.count.sum()) + len(left) + 100)
            inside = math.ceil(found.bound - slack) * self.unit if math.isfinite(found.bound) else 0
        if min(inside, outside) > self.bound:
            self._solved, self.proof = min(inside, outside), BRANCHING
        if found.values is not None:
            self._place(kept, np.rint(found.values[: left.entries]).astype(np.int64))

    def _place(self, entries: LongArray, records: LongArray) -> None:
        """Adopt a rounded solution if it is allowed and better."""
        every = np.zeros(self.nodes.entries, dtype=np.int64)
        every[entries] = records
        trial = Assignment(self.nodes, every)
        if trial.allowed:
            self._better(trial)
