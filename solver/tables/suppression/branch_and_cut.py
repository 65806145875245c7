"""Our own branch and cut for cell suppression: one linear program for the whole search.

Backends begin their search anew whenever a pattern violates a capacity constraint; here rows that were found
once stay. The relaxation is solved from its last basis, node by node, the one of the least bound first.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from linkrisk.formulations.programs.separation import Cuts
from linkrisk.formulations.tables.cell_table import BoolArray, CellTable, FloatArray, IntArray
from linkrisk.formulations.tables.suppression_model import suppression_model
from linkrisk.solver.backends.linear.base import LinearOptions, LinearSolution
from linkrisk.solver.backends.linear.registry import linear_program
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.suppression.capacity import CapacityCuts

_WHOLE = 1e-5
_ROUNDS, _ROOT_ROUNDS = 30, 300
_TAIL = 4
"""Rounds of separation without gain after which a node is branched on."""

_GAIN = 1e-3
_CANDIDATES = 8
_LOOK = 30
"""Iterations of the simplex method for a look at a branch."""

_AGE = 12
_FEW_ROWS = 300

Improve = Callable[[FloatArray], BoolArray | None]
"""Makes a pattern that protects of a point of the relaxation, shape (n,)."""

_Branch = tuple[float, IntArray, IntArray]
"""A bound, the cells that are suppressed, and those that are not."""


@dataclass(order=True)
class _Node:
    bound: float
    number: int
    ones: IntArray = field(compare=False)
    zeros: IntArray = field(compare=False)


class BranchAndCut:
    """A search for the pattern of least cost.

    Parameters
    ----------
    table : CellTable
    separator : CapacityCuts
    start : ndarray of bool, shape (n,)
        A pattern that protects.
    unit : float
        What all costs are whole multiples of; 0 where there is no such number.

    Attributes
    ----------
    best : ndarray of bool, shape (n,)
        The cheapest pattern so far that protects.
    cost : float
        Of its free cells.
    bound : float
        No pattern that protects costs less.
    nodes : int
    """

    def __init__(self, table: CellTable, separator: CapacityCuts, start: BoolArray, unit: float) -> None:
        self._table, self._separator, self._unit = table, separator, unit
        self._objective = np.where(table.free, table.cost, 0.0)
        self._lower, self._upper = table.primary.astype(np.float64), (~table.fixed).astype(np.float64)
        model = suppression_model(table, None)
        self._program = linear_program(model, LinearOptions(own={"presolve": "off"}))
        self._all = np.arange(len(table))
        self._kept = model.shape[0]
        self._matrix, self._right, self._age = model.matrix, model.row_lower, np.zeros(model.shape[0])
        self.best, self.cost = start, float(self._objective[start].sum())
        self.bound, self.nodes = 0.0, 0

    def run(self, clock: Clock, improve: Improve, tell: Callable[[], bool]) -> None:
        """Search until the best pattern is proven, the clock is out, or `tell` says so."""
        none = np.zeros(0, dtype=np.int64)
        heap, count = [_Node(0.0, 0, none, none)], 1
        while heap and self.bound < self._cutoff and not clock.expired:
            node = heapq.heappop(heap)
            children = self._process(node, clock, improve, tell)
            if children is None:  # out of time: the node stays open
                heapq.heappush(heap, node)
                break
            for bound, ones, zeros in children:
                heapq.heappush(heap, _Node(bound, count, ones, zeros))
                count += 1
            self.nodes += 1
            self.bound = max(self.bound, min(heap[0].bound if heap else self.cost, self.cost))
            if tell():
                break
        if not heap:
            self.bound = self.cost

    @property
    def _cutoff(self) -> float:
        """A node of this bound cannot hold anything better."""
        slack = 1e-6 * max(1.0, self.cost)
        return self.cost - self._unit + slack if self._unit else self.cost - slack

    def _process(
        self, node: _Node, clock: Clock, improve: Improve, tell: Callable[[], bool]
    ) -> list[_Branch] | None:
        """Branches of a node: none where it holds nothing better; None where time was up."""
        if node.bound >= self._cutoff:
            return []
        lower, upper = self._lower.copy(), self._upper.copy()
        lower[node.ones], upper[node.zeros] = 1.0, 0.0
        self._program.change_column_bounds(self._all, lower, upper)
        root = node.number == 0
        bound, stale, most = node.bound, 0, _ROOT_ROUNDS if root else _ROUNDS
        for turn in range(most):
            if clock.expired or (root and tell()):
                return None
            solution = self._program.solve()
            if self._holds_nothing(solution):
                return []
            bound, before = max(bound, self._safe(solution)), bound
            self.bound = max(self.bound, bound) if root else self.bound
            stale = stale + 1 if bound - before < _GAIN * max(1.0, self.cost - bound) else 0
            if root and turn % 10 == 0:
                self._better(improve(solution.point))
            more = self._separated(solution.point, stale)
            if more is None:
                return []
            if not more:
                break
        if self._holds_nothing(solution):
            return []
        if self.nodes % 25 == 0:  # the root, which is the node 0, among them
            self._better(improve(solution.point))
            self._fix(solution, bound, root=root)
        return self._branches(node, solution, bound, lower, upper)

    def _holds_nothing(self, solution: LinearSolution) -> bool:
        """Whether a relaxation shows that nothing better is in its node."""
        return not solution.optimal or self._safe(solution) >= self._cutoff

    def _separated(self, point: FloatArray, stale: int) -> bool | None:
        """Whether rows were added; None where the point is a pattern that protects."""
        whole = bool((np.abs(point - np.round(point)) < _WHOLE).all())
        if stale >= _TAIL and not whole:
            return False
        cuts = self._separator(np.round(point) if whole else point)
        if cuts.count:
            self._add(cuts, point)
        elif whole:
            self._take(point > 0.5)
            return None
        return cuts.count > 0

    def _safe(self, solution: LinearSolution) -> float:
        """A bound by the duals, which holds whatever the optimiser's tolerance."""
        assert solution.objective is not None
        return float(solution.objective) - 1e-7 * max(1.0, abs(solution.objective))

    def _better(self, pattern: BoolArray | None) -> None:
        if pattern is not None:
            self._take(pattern)

    def _take(self, pattern: BoolArray) -> None:
        cost = float(self._objective[pattern].sum())
        if cost < self.cost:
            self.best, self.cost = pattern.copy(), cost

    def _fix(self, solution: LinearSolution, bound: float, *, root: bool) -> None:
        """Cells that no better pattern suppresses, by their reduced costs at the root."""
        if not root:
            return
        gone = self._table.free & (solution.point < _WHOLE) & (bound + solution.reduced_costs > self._cutoff)
        self._upper[gone] = 0.0

    def _add(self, cuts: Cuts, point: FloatArray) -> None:
        """Add rows, and take away those that have long been slack."""
        slack = self._matrix @ point - self._right
        self._age = np.where(slack > 1e-6, self._age + 1, 0)
        old = np.flatnonzero(self._age > _AGE)
        old = old[old >= self._kept]
        if old.size > _FEW_ROWS:
            self._program.delete_rows(old)
            stays = np.ones(self._right.size, dtype=np.bool_)
            stays[old] = False
            self._matrix, self._right = self._matrix[stays], self._right[stays]
            self._age = self._age[stays]
        self._program.add_rows(cuts.matrix, cuts.lower, cuts.upper)
        self._matrix = sparse.csr_array(sparse.vstack([self._matrix, cuts.matrix], format="csr"))
        self._right = np.concatenate([self._right, cuts.lower])
        self._age = np.concatenate([self._age, np.zeros(cuts.count)])

    def _branches(
        self, node: _Node, solution: LinearSolution, bound: float, lower: FloatArray, upper: FloatArray
    ) -> list[_Branch]:
        point = solution.point
        part = np.minimum(point, 1.0 - point)
        tried = np.flatnonzero((part > _WHOLE) & (upper > lower))
        if not tried.size:
            return []
        tried = tried[np.argsort(-part[tried] * np.sqrt(self._objective[tried] + 1e-9), kind="stable")]
        chosen, most, found = int(tried[0]), -1.0, (bound, bound)
        for cell in tried[:_CANDIDATES]:
            gains = (self._look(cell, 0.0, bound, lower, upper), self._look(cell, 1.0, bound, lower, upper))
            score = max(gains[0] - bound, 1e-6) * max(gains[1] - bound, 1e-6)
            if score > most:
                chosen, most, found = int(cell), score, gains
        down, up = np.append(node.zeros, chosen), np.append(node.ones, chosen)
        sides = [(found[0], node.ones, down), (found[1], up, node.zeros)]
        return [one for one in sides if one[0] < self._cutoff]

    def _look(self, cell: int, value: float, bound: float, lower: FloatArray, upper: FloatArray) -> float:
        """A bound of a branch, after few iterations."""
        at = np.array([cell])
        self._program.change_column_bounds(at, np.array([value]), np.array([value]))
        solution = self._program.solve(iterations=_LOOK)
        self._program.change_column_bounds(at, lower[at], upper[at])
        if solution.optimal:
            return max(bound, self._safe(solution))
        return np.inf if solution.status == "infeasible" else bound
