"""Solves the joint problem: recoding levels and suppression with the least total loss.

Branch and bound splits boxes of the lattice of levels. Records of a box are at most as alike as at its
coarsest point, and lose at least as much as at its finest: the recount problem with both gives a dual bound,
and so does the least loss of each record alone. At a single point it is the suppression problem itself. The
best points are searched further as time allows.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count

import numpy as np

from linkrisk.arrays import BoolArray, LongArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.suppression.key_table import RowTypes, numbered_rows
from linkrisk.formulations.suppression.nodes import Box, BoxProblem, Levels, Recodings, check_size
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.suppression import steering
from linkrisk.solver.suppression.answer import Recoded, SearchTask
from linkrisk.solver.suppression.node_search import NodeSearch

PROOF = "branch and bound of levels"


@dataclass(frozen=True, eq=False)
class WholeRecords:
    """Point of the lattice, and the row types that lose all values."""

    levels: Levels
    cost: int  # total loss
    gone: BoolArray  # (T,)


def best_with_whole_records(
    recodings: Recodings, types: RowTypes, k: int, stop: Callable[[], bool]
) -> WholeRecords | None:
    """Find the best point if all records are suppressed that are alike with fewer than k, as ARX does.

    Prasser, Kohlmayer, Lautenschlaeger and Kuhn (2014) search the lattice so. The joint problem starts from
    this answer. None is found if there are too many points. Records without any value are alike, so that it
    is none or k of them that go.
    """
    best: WholeRecords | None = None
    there = types.codes >= 0
    for base, levels in _points_by_loss(recodings, types):
        if (best is not None and base >= best.cost) or stop():
            break
        group, firsts = numbered_rows(recodings.recoded(types.codes, levels))
        alike = np.bincount(group, types.count, len(firsts))[group]
        gone = alike < k
        if 0 < types.count[gone].sum() < k:
            continue
        more = np.where(there[gone], recodings.suppressed - recodings.lost(types.codes[gone], levels), 0)
        cost = base + int(more.sum(axis=1) @ types.count[gone])
        if best is None or cost < best.cost:
            best = WholeRecords(levels, cost, gone)
    return best


def _points_by_loss(recodings: Recodings, types: RowTypes) -> Iterator[tuple[int, Levels]]:
    """Points in the order of their loss without suppression."""
    shape = tuple(level + 1 for level in recodings.top)
    if np.prod([float(size) for size in shape]) > steering.LATTICE_POINTS:
        return
    total = np.zeros(1, dtype=np.int64)
    for at, loss in enumerate(recodings.losses):
        codes = types.codes[:, at]
        there = codes >= 0
        by_level = loss[:, codes[there]] @ types.count[there]
        total = np.add.outer(total, by_level.astype(np.int64)).ravel()
    for place in np.argsort(total, kind="stable"):
        yield int(total[place]), tuple(int(level) for level in np.unravel_index(place, shape))


def joint(task: SearchTask, recodings: Recodings) -> Recoded:
    """Find levels and a suppression after which every row has k like it, at the least loss."""
    problem = task.problem
    check_size(problem.table.types, problem.allowed)
    search = _LevelSearch(task, recodings)
    search.run()
    if search.best is None:
        raise FormulationError(
            f"no level of recoding leaves every record {problem.k} like it: let more variables be touched, "
            "or lower k"
        )
    return replace(search.best, bound=min(search.bound, search.best.cost), open_points=search.open_points)


@dataclass(eq=False)
class _Point:
    """Point that its bound by prices does not exclude."""

    levels: Levels
    problem: BoxProblem
    bound: int
    cost: int
    seconds: float = 0.0
    search: NodeSearch | None = field(default=None, repr=False)


class _LevelSearch:
    """Branch and bound on boxes of levels."""

    def __init__(self, task: SearchTask, recodings: Recodings) -> None:
        self.task, self.recodings = task, recodings
        self.problem, self.clock = task.problem, task.clock
        self.best: Recoded | None = None
        self.types = self.problem.table.types
        self.boxes: list[tuple[int, int, Box]] = []
        self.points: list[_Point] = []
        self._number = count()
        self._value = int(self.recodings.suppressed.mean())

    @property
    def cost(self) -> int:
        return np.iinfo(np.int64).max if self.best is None else self.best.cost

    @property
    def bound(self) -> int:
        """The dual bound: the least of open boxes and points."""
        open_ones = [box[0] for box in self.boxes[:1]] + [point.bound for point in self.points]
        return min([self.cost, *open_ones])

    @property
    def open_points(self) -> int:
        """Number of points not excluded."""
        boxes = [box for bound, _, box in self.boxes if bound < self.cost]
        inside = [
            math.prod(high - low + 1 for low, high in zip(box.low, box.high, strict=True)) for box in boxes
        ]
        return sum(inside) + sum(point.bound < min(point.cost, self.cost) for point in self.points)

    def run(self) -> None:
        """Split boxes and search points, whichever has the least bound."""
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
        """Start with the best point at which all values of records are suppressed."""
        end = self.clock.share(steering.START_SHARE, steering.START_SECONDS)
        found = best_with_whole_records(
            self.recodings, self.types, self.problem.k, lambda: self.clock.expired or self.clock.now > end
        )
        if found is None:
            return
        bits = 1 << np.arange(self.types.codes.shape[1], dtype=np.int64)
        there = ((self.types.codes >= 0) @ bits).astype(np.int64)
        taken = np.where(found.gone, there, 0)[self.types.of]
        base = int(self.recodings.lost(self.types.codes, found.levels).sum(axis=1) @ self.types.count)
        self.best = self._recoded(found.levels, taken, found.cost, base)

    def _recoded(self, levels: Levels, taken: LongArray, cost: int, by_recoding: int) -> Recoded:
        points = math.prod(level + 1 for level in self.recodings.top)
        return Recoded(
            taken=taken,
            cost=cost,
            bound=0,
            proof=PROOF,
            levels=levels,
            by_recoding=by_recoding,
            points=points,
            open_points=points,
        )

    def _tell(self, work: str) -> None:
        if self.task.report is not None and self.best is not None:
            left = f"{self.open_points:,} points left"
            self.task.tell_answer(self.cost, self.bound, f"{left}; {work}" if work else left)

    def _push(self, box: Box, at_least: int) -> None:
        """Keep a box if it may hold a better answer."""
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
        search.raise_prices(self._part(steering.PRICED_SECONDS), self.cost - problem.base)
        self._better(box.low, problem, search)
        least = max(bound, problem.base + search.bound)
        if least < min(self.cost, problem.base + search.answer.cost):
            self.points.append(
                _Point(box.low, problem, least, problem.base + search.answer.cost, 0.0, search)
            )
            self._forget()

    def _part(self, seconds: float) -> Clock:
        return self.clock.part(self.clock.share(1.0, seconds) - self.clock.now)

    def _new(self, problem: BoxProblem) -> NodeSearch:
        nodes = problem.nodes(self.problem.allowed, self.problem.k)
        return NodeSearch(
            nodes, problem.types, self._value, self.task.backend, lambda *_: None, self.task.seed
        )

    def _search_on(self, fresh: list[_Point]) -> None:
        """Continue with the point of least bound that was not searched yet, or else with the best one."""
        point = min(fresh, key=lambda one: one.bound) if fresh else min(self.points, key=lambda one: one.cost)
        if point.search is None:
            point.search = self._new(point.problem)
        base, search = point.problem.base, point.search
        share = 0.0 if self.clock.remaining is None else steering.POINT_SHARE * self.clock.remaining
        seconds = max(steering.POINT_SECONDS, 2.0 * point.seconds, share)
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
            self.best = self._recoded(levels, taken, cost, problem.base)

    def _forget(self) -> None:
        """Drop the searches of the worst points if they take too much memory."""
        kept = sorted((point for point in self.points if point.search), key=lambda one: one.bound)
        total = 0
        for point in kept:
            assert point.search is not None
            total += point.search.nodes.entries
            if total > steering.KEPT_ENTRIES:
                point.search = None
