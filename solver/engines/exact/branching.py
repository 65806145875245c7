"""Branch and cut for the lightest hitting set, with reliability branching.

Cores that a fractional hitting set misses raise its weight (Codato and Fischetti 2006). Where they no longer
do, one child gives a block up and the other keeps it. What is kept makes the other cores smaller. The block
is chosen by pseudo-costs, with the linear programs of both children solved for blocks of which little is
known (Achterberg, Koch and Martin 2005).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.solver.engines.exact.hitting_set import CoveringProgram

_TRIED = 8
_RELIABLE = 4
_LEAST = 1e-6
_MOST = 5.0
"""Gain of a child in which nothing is left; larger gains count as this one."""


class Gains:
    """What branching on each block gained for a whole unit of its share."""

    def __init__(self, blocks: int) -> None:
        self._sum = np.zeros((2, blocks))
        self._times = np.zeros((2, blocks), dtype=np.intp)

    def learn(self, block: int, given_up: bool, share: float, gain: float) -> None:
        """Note what giving up or keeping a block gained, which had been given up to a share."""
        distance = 1.0 - share if given_up else share
        self._sum[int(given_up), block] += min(max(gain, 0.0), _MOST) / max(distance, _LEAST)
        self._times[int(given_up), block] += 1

    def best(
        self,
        point: FloatArray,
        blocks: IndexArray,
        fixed: Mapping[int, bool],
        value: float,
        program: CoveringProgram,
    ) -> int:
        """The block among these that promises most.

        `point` (blocks,): the fractional hitting set. `fixed`: blocks given up or kept at the node. `value`:
        of the node.
        """
        expected = self._expected(point)[blocks]
        order = np.argsort(-expected, kind="stable")[:_TRIED]
        best, most = int(blocks[order[0]]), -1.0
        for at in order:
            block = int(blocks[at])
            gain = float(expected[at])
            if self._times[:, block].min() < _RELIABLE:
                gain = self._tried(block, float(point[block]), value, fixed, program)
            if gain > most:
                best, most = block, gain
        return best

    def _expected(self, point: FloatArray) -> FloatArray:
        """Product of the gains of both children, from what is known; of unknown blocks the mean."""
        product = np.ones(point.size)
        for given_up, distance in ((0, point), (1, 1.0 - point)):
            total, times = self._sum[given_up], self._times[given_up]
            mean = total.sum() / times.sum() if times.any() else 1.0
            each = np.where(times > 0, total / np.maximum(times, 1), mean)
            product *= np.maximum(each * distance, _LEAST)
        return product

    def _tried(
        self, block: int, share: float, value: float, fixed: Mapping[int, bool], program: CoveringProgram
    ) -> float:
        """The same product from the programs of both children."""
        product = 1.0
        for given_up in (False, True):
            program.fix({**fixed, block: given_up})
            gain = program.resolve()[1] - value
            self.learn(block, given_up, share, gain)
            product *= min(max(gain, _LEAST), _MOST)
        return product


_WHOLE = 1e-6
_STALLED, _RISE = 1, 0.2
_STALLED_AT_ROOT, _RISE_AT_ROOT = 3, 0.05


@dataclass(eq=False)
class Node:
    """A node of the tree."""

    parent: Node | None = None
    given_up: bool = False  # whether the block on which the parent is split is given up here, or kept
    value: float = 0.0  # no hitting set that agrees with all blocks given up or kept is lighter
    split: int = -1  # the block to branch on; -1 before it is chosen, or when there is none
    share: float = 0.0  # how much of that block the fractional hitting set gives up
    children: list[Node] = field(default_factory=list)  # first the one in which `split` is given up

    def fixed(self) -> dict[int, bool]:
        """Blocks that are given up (True) or kept (False) here."""
        found: dict[int, bool] = {}
        node = self
        while node.parent is not None:
            found[node.parent.split] = node.given_up
            node = node.parent
        return found


class Worker(NamedTuple):
    """What one thread works with."""

    program: CoveringProgram
    separate: Callable[[FloatArray], bool]  # collect cores that a point misses; True when there was a new one
    # what to do with a moment after a node; told whether there is no other node
    spare: Callable[[bool], None]


class BranchAndCut:
    """The search; it may be stopped and continued.

    `workers`: one for each thread. `enough`: whether hitting sets of this weight or more need no search: they
    leave no better attack. `nodes`: nodes looked at.
    """

    def __init__(self, workers: Sequence[Worker], blocks: int, enough: Callable[[float], bool]) -> None:
        self._idle = list(workers)
        self._enough = enough
        self._gains = Gains(blocks)
        self._over: Callable[[], bool] = lambda: False
        self._waiting: list[tuple[float, int, Node]] = []
        self._running: dict[Future[bool], tuple[Node | None, Worker]] = {}
        self._stuck = np.inf
        self._pushed = 0
        self.root = Node()
        self.nodes = 0
        self._push(self.root)

    @property
    def bound(self) -> float:
        """No hitting set is lighter, except for those that are `enough`; infinite when all are searched."""
        running = [node.value for node, _ in self._running.values() if node is not None]
        return min([self._stuck, *running, *(value for value, _, _ in self._waiting[:1])])

    def splits(self) -> tuple[int, ...]:
        """The tree in preorder: the block on which each node is split, -1 at leaves."""
        found, pending = [], [self.root]
        while pending:
            node = pending.pop()
            found.append(node.split if node.children else -1)
            pending.extend(reversed(node.children))
        return tuple(found)

    def run(self, over: Callable[[], bool], tell: Callable[[], None]) -> None:
        """Search until it is complete or `over`; `tell` is called when a node has been looked at."""
        self._over = over
        with ThreadPoolExecutor(len(self._idle)) as pool:
            while not over():
                self._start(pool)
                if all(node is None for node, _ in self._running.values()):
                    break
                self._collect(wait(self._running, return_when=FIRST_COMPLETED).done)
                tell()
            self._collect(wait(self._running).done)
            tell()

    def _start(self, pool: ThreadPoolExecutor) -> None:
        """Give every idle worker the open node of smallest value, or a moment to spare while others work."""
        while self._idle:
            node = self._pop()
            if node is None and not self._running:
                return
            worker = self._idle.pop()
            task = pool.submit(self._spare, worker) if node is None else pool.submit(self._look, node, worker)
            self._running[task] = (node, worker)

    def _pop(self) -> Node | None:
        """The open node of smallest value, unless no bound can come of it."""
        if not self._waiting or self._waiting[0][0] >= self._stuck:
            return None
        node = heapq.heappop(self._waiting)[2]
        return None if self._enough(node.value) else node

    def _push(self, node: Node) -> None:
        if not self._enough(node.value):
            self._pushed += 1
            heapq.heappush(self._waiting, (node.value, self._pushed, node))

    def _collect(self, done: Iterable[Future[bool]]) -> None:
        for task in done:
            node, worker = self._running.pop(task)
            self._idle.append(worker)
            complete = task.result()
            if node is None:
                continue
            self.nodes += 1
            if not complete:
                self._push(node)
            elif node.split >= 0:
                node.children = [Node(node, given_up, node.value) for given_up in (True, False)]
                for child in node.children:
                    self._push(child)
            elif not self._enough(node.value):
                self._stuck = min(self._stuck, node.value)

    @staticmethod
    def _spare(worker: Worker) -> bool:
        worker.spare(True)
        return True

    # ---- one node

    def _look(self, node: Node, worker: Worker) -> bool:
        """Raise the value of a node, and choose the block to branch on; False when there was no time to."""
        worker.spare(False)
        program, fixed = worker.program, node.fixed()
        program.fix(fixed)
        point = self._cut(node, worker)
        if node.parent is not None:
            self._gains.learn(
                node.parent.split, node.given_up, node.parent.share, node.value - node.parent.value
            )
        if self._enough(node.value):
            return True
        if self._over():
            return False
        shares = np.minimum(point, 1.0 - point)
        if shares.max(initial=0.0) > _WHOLE:
            fractional = np.flatnonzero(shares > _WHOLE)
            block = self._gains.best(point, fractional, fixed, node.value, program)
            node.split, node.share = block, float(point[block])
        return True

    def _cut(self, node: Node, worker: Worker) -> FloatArray:
        """Collect cores as long as that raises the value; a point that misses none that were found."""
        most, least_rise = (_STALLED_AT_ROOT, _RISE_AT_ROOT) if node.parent is None else (_STALLED, _RISE)
        stalled = 0
        while True:
            point, value = worker.program.solve()
            stalled = stalled + 1 if value < node.value + least_rise else 0
            node.value = max(node.value, value)
            # A whole point that misses no core is an attack, so its cores are looked for to the end.
            fractional = (np.minimum(point, 1.0 - point) > _WHOLE).any()
            if self._enough(node.value) or self._over() or (stalled >= most and fractional):
                return point
            if not worker.separate(point):
                return point
