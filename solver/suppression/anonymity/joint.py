"""Joint: a level of recoding for each variable together with suppression, at the least loss of both.

Branch and bound on boxes of the lattice of levels. In a box, records are alike at most as they are at its
coarsest point, and lose at least what they lose at its finest: the recount problem of both together is a
bound, and so is what each record would need by itself. At a point the two are one, and the problem is that
of suppression alone. The best points are searched on as long as there is time.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from linkrisk.arrays import LongArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.suppression.nodes import check_size
from linkrisk.formulations.suppression.recodings import Box, BoxProblem, Levels, Recodings
from linkrisk.solver.backends.base import Backend
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.suppression.anonymity.node_search import NodeSearch
from linkrisk.solver.suppression.anonymity.whole_records import best_with_whole_records
from linkrisk.solver.suppression.answer import PHASE, Answer, said_of
from linkrisk.solver.suppression.problem import Problem

PROOF = "branch and bound of levels"

_START_SHARE, _START_SECONDS = 0.1, 60.0
_PRICED_SECONDS = 20.0
_FIRST_SECONDS, _FIRST_SHARE = 10.0, 0.15
_MOST_ENTRIES = 15_000_000
"""Of searches that are kept to be gone on with."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Recoded(Answer):
    """An answer to the joint problem; its cost is all that is lost.

    Attributes
    ----------
    levels : tuple of int
        Of each key variable.
    by_recoding : int
        What is lost by that alone.
    points : int
        Points of the lattice, of which all but `open_points` are known not to be better.
    open_points : int
    """

    levels: Levels
    by_recoding: int
    points: int
    open_points: int


def joint(
    problem: Problem,
    recodings: Recodings,
    backend: Backend,
    clock: Clock,
    report: Reporter | None = None,
    seed: int = 0,
) -> Recoded:
    """Find levels and a suppression after which every row has k like it, at the least loss.

    Parameters
    ----------
    problem : Problem
        Its table, untouched variables and k.
    recodings : Recodings
        Levels and losses, the costs of the variables in them.
    backend : Backend
    clock : Clock
        When it has expired, the best answer so far is returned, with its bound.
    report : callable, optional
        Told the best answer and bound.
    seed : int
        Of the choice of neighbourhoods.

    Raises
    ------
    FormulationError
        If there are too many rows and patterns to go through, or none is k-anonymous.
    """
    check_size(problem.table.types, problem.allowed)
    search = _Search(problem, recodings, backend, clock, report, seed)
    search.run()
    best = search.best
    if best is None:
        raise FormulationError(
            f"no level of recoding leaves every record {problem.k} like it: let more variables be touched, "
            "or lower k"
        )
    return Recoded(
        taken=best.taken,
        cost=best.cost,
        bound=min(search.bound, best.cost),
        proof=PROOF,
        levels=best.levels,
        by_recoding=best.by_recoding,
        points=math.prod(level + 1 for level in recodings.top),
        open_points=search.open_points,
    )


@dataclass(frozen=True, eq=False)
class _Best:
    levels: Levels
    taken: LongArray
    cost: int
    by_recoding: int


@dataclass(eq=False)
class _Point:
    """A point whose bound by prices does not rule it out."""

    levels: Levels
    problem: BoxProblem
    bound: int
    cost: int
    seconds: float = 0.0
    search: NodeSearch | None = field(default=None, repr=False)


@dataclass
class _Search:
    problem: Problem
    recodings: Recodings
    backend: Backend
    clock: Clock
    report: Reporter | None
    seed: int

    def __post_init__(self) -> None:
        self.best: _Best | None = None
        self.types = self.problem.table.types
        self.boxes: list[tuple[int, int, Box]] = []
        self.points: list[_Point] = []
        self._number = count()
        self._value = int(self.recodings.whole.mean())

    @property
    def cost(self) -> int:
        return np.iinfo(np.int64).max if self.best is None else self.best.cost

    @property
    def bound(self) -> int:
        """The least that a box or a point could still have."""
        open_ones = [box[0] for box in self.boxes[:1]] + [point.bound for point in self.points]
        return min([self.cost, *open_ones])

    @property
    def open_points(self) -> int:
        """How many points are not ruled out."""
        boxes = [box for bound, _, box in self.boxes if bound < self.cost]
        inside = [
            math.prod(high - low + 1 for low, high in zip(box.low, box.high, strict=True)) for box in boxes
        ]
        return sum(inside) + sum(point.bound < min(point.cost, self.cost) for point in self.points)

    def run(self) -> None:
        """Split boxes and search points, whichever is in the way of the bound."""
        if not self.problem.untouched:
            self._start()
        self._push(Box((0,) * len(self.recodings.top), self.recodings.top), 0)
        while not self.clock.expired or self.best is None:
            self.points = [point for point in self.points if point.bound < self.cost]
            if self.boxes and self.boxes[0][0] >= self.cost:
                self.boxes = []
            fresh = [point for point in self.points if not point.seconds]
            if self.boxes and self.boxes[0][0] <= min([point.bound for point in fresh], default=self.cost):
                self._open(*heapq.heappop(self.boxes))
            elif self.points:
                self._search_on(fresh)
            else:
                return
            self._tell("")

    def _start(self) -> None:
        """Begin with the best point at which whole records are taken out."""
        end = self.clock.share(_START_SHARE, _START_SECONDS)
        found = best_with_whole_records(
            self.recodings, self.types, self.problem.k, lambda: self.clock.expired or self.clock.now > end
        )
        if found is None:
            return
        bits = 1 << np.arange(self.types.codes.shape[1], dtype=np.int64)
        there = ((self.types.codes >= 0) @ bits).astype(np.int64)
        taken = np.where(found.gone, there, 0)[self.types.of]
        base = int(self.recodings.lost(self.types.codes, found.levels).sum(axis=1) @ self.types.count)
        self.best = _Best(found.levels, taken, found.cost, base)

    def _tell(self, work: str) -> None:
        if self.report is not None and self.best is not None:
            left = f"{self.open_points:,} points left"
            said = said_of(self.cost, self.bound, f"{left}; {work}" if work else left)
            self.report(Progress.uncounted(PHASE, said))

    def _push(self, box: Box, at_least: int) -> None:
        """Keep a box, if some answer in it may be better."""
        problem = BoxProblem.of(self.recodings, self.types, box)
        least = problem.least(self.problem.allowed, self.problem.k)
        if least is not None and max(least, at_least) < self.cost:
            heapq.heappush(self.boxes, (max(least, at_least), next(self._number), box))

    def _open(self, bound: int, _number: int, box: Box) -> None:
        if not box.is_point:
            for half in box.halves(self.recodings):
                self._push(half, bound)
            return
        problem = BoxProblem.of(self.recodings, self.types, box)
        search = self._new(problem)
        search.raise_prices(self._part(_PRICED_SECONDS), self.cost - problem.base)
        self._better(box.low, problem, search)
        least = max(bound, problem.base + search.bound)
        if least < min(self.cost, problem.base + search.answer.cost):
            self.points.append(
                _Point(box.low, problem, least, problem.base + search.answer.cost, 0.0, search)
            )
            self._forget()

    def _share(self, part: float) -> float:
        return 0.0 if self.clock.remaining is None else part * self.clock.remaining

    def _part(self, seconds: float) -> Clock:
        return self.clock.part(self.clock.share(1.0, seconds) - self.clock.now)

    def _new(self, problem: BoxProblem) -> NodeSearch:
        nodes = problem.nodes(self.problem.allowed, self.problem.k)
        return NodeSearch(nodes, problem.types, self._value, self.backend, lambda *_: None, self.seed)

    def _search_on(self, fresh: list[_Point]) -> None:
        """Go on with the point of least bound that was not searched yet, or else with the best one."""
        point = min(fresh, key=lambda one: one.bound) if fresh else min(self.points, key=lambda one: one.cost)
        if point.search is None:
            point.search = self._new(point.problem)
        base, search = point.problem.base, point.search
        seconds = max(_FIRST_SECONDS, 2.0 * point.seconds, self._share(_FIRST_SHARE))
        search.tell = lambda _cost, _bound, work: self._tell(work)
        search.run(self._part(seconds), self.cost - base)
        point.seconds += seconds
        point.bound = max(point.bound, base + search.bound)
        point.cost = min(point.cost, base + search.answer.cost)
        self._better(point.levels, point.problem, search)

    def _better(self, levels: Levels, problem: BoxProblem, search: NodeSearch) -> None:
        cost = problem.base + search.answer.cost
        if cost < self.cost:
            taken = search.answer.taken(problem.types.of)
            self.best = _Best(levels, taken, cost, problem.base)

    def _forget(self) -> None:
        """Let go of the searches of the worst points when there are too many."""
        kept = sorted((point for point in self.points if point.search), key=lambda one: one.bound)
        total = 0
        for point in kept:
            assert point.search is not None
            total += point.search.nodes.entries
            if total > _MOST_ENTRIES:
                point.search = None
