"""Solve the minimum-weight hitting set by branch and cut with reliability branching.

Cores that a fractional hitting set misses are cutting planes (Codato and Fischetti 2006). When they no longer
raise the bound, the node is split: one child gives a block up and the other keeps it, which shrinks the other
cores. The block is chosen by pseudo-costs, with strong branching for blocks of which little is known
(Achterberg, Koch and Martin 2005).
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
"""Gain recorded for an infeasible child; larger gains are cut to this, so that products stay comparable."""


class Gains:
    """Pseudo-costs: the gain of branching on each block, per unit of its share."""

    def __init__(self, blocks: int) -> None:
        self._sum = np.zeros((2, blocks))
        self._times = np.zeros((2, blocks), dtype=np.intp)

    def learn(self, block: int, given_up: bool, share: float, gain: float) -> None:
        """Record the gain of giving up or keeping a block whose share was fractional."""
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
        """Choose the branching block of largest expected gain.

        `point` (blocks,): the fractional hitting set. `fixed`: blocks given up or kept at the node. `value`:
        bound of the node.
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
        """Estimate the product of both children's gains by pseudo-costs; unknown blocks have the mean."""
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
        """Compute the product of both children's gains by strong branching."""
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
    """A node of the branch-and-cut tree."""

    parent: Node | None = None
    given_up: bool = False  # whether the parent's branching block is given up here, or kept
    value: float = 0.0  # dual bound: no hitting set within this node is lighter
    split: int = -1  # the branching block; -1 if not yet chosen, or if there is none
    share: float = 0.0  # share to which the fractional hitting set gives that block up
    children: list[Node] = field(default_factory=list)  # the child that gives up `split` comes first

    def fixed(self) -> dict[int, bool]:
        """Collect the blocks that are given up (True) or kept (False) at this node."""
        found: dict[int, bool] = {}
        node = self
        while node.parent is not None:
            found[node.parent.split] = node.given_up
            node = node.parent
        return found


class Worker(NamedTuple):
    """The covering program and callbacks of one thread."""

    program: CoveringProgram
    separate: Callable[[FloatArray], bool]  # separates cores that a point misses; True if one was new
    # runs a primal heuristic after a node; the argument says whether no other node is open
    spare: Callable[[bool], None]


class BranchAndCut:
    """Branch and cut for the hitting set; it may be stopped and continued.

    `workers`: one for each thread. `enough`: whether hitting sets of this weight or more can be pruned,
    because they leave no better attack. `nodes`: nodes solved.
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
        """Return the dual bound on hitting sets lighter than `enough`; infinite when none are left."""
        running = [node.value for node, _ in self._running.values() if node is not None]
        return min([self._stuck, *running, *(value for value, _, _ in self._waiting[:1])])

    def splits(self) -> tuple[int, ...]:
        """List the tree in preorder: the branching block of each node, -1 at leaves."""
        found, pending = [], [self.root]
        while pending:
            node = pending.pop()
            found.append(node.split if node.children else -1)
            pending.extend(reversed(node.children))
        return tuple(found)

    def run(self, over: Callable[[], bool], tell: Callable[[], None]) -> None:
        """Search until the tree is complete or `over`; `tell` is called after each node."""
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
        """Give each idle worker the open node of smallest bound, or else time for a heuristic."""
        while self._idle:
            node = self._pop()
            if node is None and not self._running:
                return
            worker = self._idle.pop()
            task = pool.submit(self._spare, worker) if node is None else pool.submit(self._look, node, worker)
            self._running[task] = (node, worker)

    def _pop(self) -> Node | None:
        """Take the open node of smallest bound, unless it can be pruned."""
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
        """Solve a node: raise its bound and choose the branching block; False when time ran out."""
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
        """Separate cores as long as that raises the bound; returns a point that misses no known core."""
        most, least_rise = (_STALLED_AT_ROOT, _RISE_AT_ROOT) if node.parent is None else (_STALLED, _RISE)
        stalled = 0
        while True:
            point, value = worker.program.solve()
            stalled = stalled + 1 if value < node.value + least_rise else 0
            node.value = max(node.value, value)
            # An integral point that misses no core is an attack, so separation is run to the end for it.
            fractional = (np.minimum(point, 1.0 - point) > _WHOLE).any()
            if self._enough(node.value) or self._over() or (stalled >= most and fractional):
                return point
            if not worker.separate(point):
                return point
