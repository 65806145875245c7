"""Our own branch and cut for cell suppression: one linear program for the whole search.

Backends begin their search anew whenever a pattern violates a capacity constraint; here rows that were found
once stay. Below a node its better branch is next; where there is none, the open node of the least bound.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from linkrisk.formulations.programs.separation import Cuts, Separator
from linkrisk.formulations.tables.cell_table import BoolArray, CellTable, FloatArray, IntArray
from linkrisk.formulations.tables.suppression_model import suppression_model
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.suppression.last_unit import cheaper
from linkrisk.solver.tables.suppression.neighbourhoods import Neighbourhoods
from linkrisk.solver.tables.suppression.pseudo_costs import PseudoCosts
from linkrisk.solver.tables.suppression.relaxation import Relaxation, Solved
from linkrisk.solver.tables.suppression.rounding_cuts import rounding_cuts
from linkrisk.solver.tables.suppression.thinning import protection

_WHOLE = 1e-5
_PATIENCE, _ROOT_PATIENCE = 3, 20
"""Rounds of rows without gain after which a node is branched on."""

_MANY = 10
"""Where so many rows are violated, none are made."""

_GAIN = 0.01
"""What is a gain, as a share of what is left to the best pattern."""

_SMALLER = 0.7
"""The relaxation is made anew where fewer of its cells are still open."""

_LEVEL, _UNITS, _SHARE = 100, 2.0, 0.2
"""Nodes after which the last units, where so few are left, are a question for others, and for how much of the
time that is left each."""

_CLOSE = 1e-9
"""Costs that are no whole numbers are the same when they differ by less, relatively."""

_FIRST_NODES, _THINNED = 24, 8
"""A pattern is made of a point that violates no row at the first nodes, then at one of so many."""

_TRIES = (2, 8, 25, 60, 120, 240)
"""Rounds at the root after which a pattern is made of the point."""

Thinned = Callable[[BoolArray, FloatArray, Clock], BoolArray]
"""Leaves out of a pattern what is not needed, the largest in an order first."""

Improve = Callable[[FloatArray], BoolArray | None]
"""Makes a pattern that protects of a point of the relaxation, shape (n,)."""


@dataclass(order=True)
class _Node:
    bound: float
    number: int
    ones: IntArray = field(compare=False)
    zeros: IntArray = field(compare=False)


@dataclass(frozen=True, eq=False)
class Part:
    """Of all patterns, those that are searched, and what is shared with a search of others.

    Attributes
    ----------
    relaxation : Relaxation
    thinning : callable
    tried : set of bytes
        Points that were thinned.
    most_nodes : float
    """

    relaxation: Relaxation
    thinning: Thinned
    tried: set[bytes]
    most_nodes: float


class BranchAndCut:
    """A search for the pattern of least cost.

    Parameters
    ----------
    table : CellTable
    separator : Separator
        Knows what every pattern that protects keeps.
    start : ndarray of bool, shape (n,)
        A pattern that protects.
    cost : ndarray of float64, shape (n,)
        Of the cells, in units of which all costs are whole multiples where `whole`.
    thinning : callable
        Makes a pattern smaller that protects.
    whole : bool
    rows : Cuts, optional
        To begin with.
    bound : float
        That is known to hold already.
    part : Part, optional
        Where absent, all patterns are searched.

    Attributes
    ----------
    best : ndarray of bool, shape (n,)
        The cheapest pattern so far that protects.
    cost : float
        Of its free cells.
    bound : float
        No pattern that protects costs less.
    nodes, solves : int
        Nodes that were searched, and how often a relaxation was solved for it.
    """

    def __init__(
        self,
        table: CellTable,
        separator: Separator,
        start: BoolArray,
        cost: FloatArray,
        thinning: Thinned,
        *,
        whole: bool,
        rows: Cuts | None = None,
        bound: float = 0.0,
        part: Part | None = None,
    ) -> None:
        self._table, self._separator, self._whole = table, separator, whole
        self._objective = np.where(table.free, cost, 0.0)
        self._part = part or self._everything(table, thinning, rows)
        self._relaxation = self._part.relaxation
        free = self._objective[table.free & ~table.fixed]
        self._gains = PseudoCosts(len(table), alike=free.size == 0 or float(np.ptp(free)) == 0.0)
        self._root_bound, self._root_reduced = 0.0, np.zeros(len(table))
        self.best, self.cost = start, float(self._objective[start].sum())
        self.bound = min(bound, self.cost)
        self.nodes, self.solves, self._count = 0, 0, 0
        self._near = Neighbourhoods() if part is None else None
        self._root_point = np.zeros(len(table))
        self._loose, self._decided_at, self._asked = np.inf, self.cost, -np.inf

    def _everything(self, table: CellTable, thinning: Thinned, rows: Cuts | None) -> Part:
        model = suppression_model(table, None)
        given = Cuts(model.matrix, model.row_lower, model.row_upper)
        relaxation = Relaxation(given, self._objective, model.column_lower, model.column_upper)
        if rows is not None:
            relaxation.add_open(*relaxation.open_part(rows))
        return Part(relaxation, thinning, set(), np.inf)

    def run(self, clock: Clock, improve: Improve, tell: Callable[[], bool]) -> None:
        """Search until the best pattern is proven, the clock is out, or `tell` says so."""
        self._clock, self._improve, self._tell = clock, improve, tell
        heap = self._root()
        while heap and self.bound <= self._cutoff:
            node: _Node | None = heapq.heappop(heap)
            while node is not None:
                if clock.expired or self.nodes >= self._part.most_nodes or (self.nodes % 8 == 0 and tell()):
                    heapq.heappush(heap, node)
                    return
                children = self._process(node)
                if children is None:  # out of time: the node stays open
                    heapq.heappush(heap, node)
                    return
                self.nodes += 1
                self._look_near()
                if self.nodes % _LEVEL == 0 and self._settled():
                    return
                node = min(children, default=None)
                for other in children:
                    if other is not node:
                        heapq.heappush(heap, other)
                self._raise_bound([heap[0].bound] if heap else [], node)
        if not heap:
            self.bound = max(self.bound, self._proven(self.cost))

    def _settled(self) -> bool:
        """Whether the last units are decided: an optimiser is asked once for a pattern at the bound."""
        while self._near and self._whole and self._cutoff - _UNITS < self.bound <= self._cutoff:
            least = float(np.ceil(self.bound - 1e-9))
            if least == self._asked:
                return False
            self._asked = least
            left = least + 1e-9 - self._root_bound
            limits = self._relaxation.limits(self._root_reduced > left, -self._root_reduced > left)
            rows = self._relaxation.rows()
            part = self._clock.part_of_left(_SHARE)
            found = cheaper(rows, limits, self._objective, least, self._separator, part, self._tell)
            if found.pattern is not None and protection(self._separator)(found.pattern):
                self._take(found.pattern)
            elif found.none:
                self.bound = least + 1.0
        return self.bound > self._cutoff

    def _proven(self, bound: float) -> float:
        """A bound of the open nodes as one of all: less where a node was closed that it did not exclude."""
        return bound if self._loose > self._cutoff else min(bound, self._loose)

    @property
    def _cutoff(self) -> float:
        """Nothing above it is better than the best pattern."""
        return self.cost - 1.0 + 1e-9 if self._whole else self.cost * (1.0 - _CLOSE)

    def _raise_bound(self, bounds: list[float], node: _Node | None) -> None:
        lowest = min([*bounds, *([] if node is None else [node.bound]), self.cost])
        self.bound = max(self.bound, self._proven(lowest))

    def _root(self) -> list[_Node]:
        """The branches of the root; the root itself where time was up."""
        none = np.zeros(0, dtype=np.int64)
        root = _Node(0.0, 0, none, none)
        while True:
            before = self._relaxation
            children = self._process(root)
            if not children:
                return [root] if children is None else []
            self._decide()
            if self._relaxation is before:
                return children

    def _decide(self) -> None:
        """Decide cells by the reduced costs of the root; where few stay open, hold only these."""
        relaxation = self._relaxation
        left, reduced = self._cutoff - self._root_bound, self._root_reduced[relaxation.cells]
        relaxation.decide(reduced > left, -reduced > left)
        if (relaxation.upper > relaxation.lower).sum() < _SMALLER * relaxation.cells.size:
            self._relaxation = relaxation.smaller(self._objective)
        self._decided_at = self.cost

    def _process(self, node: _Node) -> list[_Node] | None:
        """Branches of a node: none where it holds nothing better; None where time was up."""
        if self.cost < self._decided_at:
            self._decide()
        bounds = self._relaxation.bounds_where(node.ones, node.zeros)
        if node.bound > self._cutoff or bounds is None:
            return []
        self._relaxation.restrict(*bounds)
        solved = self._cut(node)
        if solved is None or solved.bound > self._cutoff:
            return None if solved is None else []
        return self._branches(node, solved)

    def _cut(self, node: _Node) -> Solved | None:
        """Add rows until none are found or none help; None where time was up."""
        root, relaxation = node.number == 0, self._relaxation
        stale, turn, patience = 0, 0, _ROOT_PATIENCE if root else _PATIENCE
        while True:
            turn += 1
            if self._clock.expired or (root and self._tell()):
                return None
            solved = relaxation.solve()
            self.solves += 1
            before = node.bound
            node.bound = max(node.bound, solved.bound)
            if root:
                self.bound = max(self.bound, min(node.bound, self.cost))
            if node.bound > self._cutoff:
                return solved if solved.bound > self._cutoff else _nothing(solved)
            gained = node.bound - before >= _GAIN * max(self.cost - node.bound, 1e-9)
            stale = 0 if gained else stale + 1
            if root and turn in _TRIES:
                self._better(self._improve(relaxation.whole_point(solved.point)))
            more = self._separated(solved, patience - stale, root=root)
            if root:
                self._fix(solved)
            if not more:
                return solved

    def _separated(self, solved: Solved, patience: int, *, root: bool) -> bool:
        """Whether rows were added that the point violates."""
        relaxation, point = self._relaxation, solved.point
        whole = bool((np.abs(point - np.round(point)) < _WHOLE).all())
        if patience <= 0 and not whole:
            return False
        everywhere = relaxation.whole_point(np.round(point) if whole else point)
        cuts = self._separator(everywhere)
        if whole and not cuts.count:
            self._take(everywhere > 0.5)
            return False
        if not cuts.count and (self.nodes < _FIRST_NODES or self.nodes % _THINNED == 0):
            self._thin(everywhere)
        found = [relaxation.open_part(cuts)] if cuts.count else []
        if cuts.count < _MANY and (root or not cuts.count):
            found.append(rounding_cuts(relaxation, point))
        for matrix, right in found:
            relaxation.add_open(matrix, right)
        return any(right.size for _, right in found)

    def _thin(self, everywhere: FloatArray) -> None:
        """A pattern of a point that violates no row: all its cells, suppressed wholly, if these protect.

        Mostly they do, though not always: rows count a cell for its level, and what follows from its moving
        by so much may be less.
        """
        support = everywhere > _WHOLE
        key = np.packbits(support).tobytes()
        if key not in self._part.tried and len(self._part.tried) < 100_000:
            self._part.tried.add(key)
            if protection(self._separator)(support):
                order = self._objective * (1.0 - everywhere)
                self._take(self._part.thinning(support, order, self._clock))

    def _look_near(self) -> None:
        """Search neighbourhoods of the best pattern, as many as are affordable."""
        near, relaxation = self._near, self._relaxation
        while (
            near
            and self.bound <= self._cutoff
            and near.affordable(self.nodes, self.solves)
            and not self._clock.expired
        ):
            reduced = np.where(relaxation.open_ones(), self._root_reduced, np.inf)
            zeros, ones = near.choose(self.best, self._root_point, reduced)
            part = replace(
                self._part, relaxation=relaxation.where(zeros, ones, self._objective), most_nodes=near.nodes
            )
            found = BranchAndCut(
                self._table,
                self._separator,
                self.best,
                self._objective,
                self._part.thinning,
                whole=self._whole,
                part=part,
            )
            found.run(self._clock, lambda _: None, self._tell)
            near.searched(found.solves, better=found.cost < self.cost, whole=found.bound > found._cutoff)
            self._take(found.best)

    def _better(self, pattern: BoolArray | None) -> None:
        if pattern is not None:
            self._take(pattern)

    def _take(self, pattern: BoolArray) -> None:
        cost = float(self._objective[pattern].sum())
        if cost < self.cost:
            self.best, self.cost = pattern.copy(), cost

    def _fix(self, solved: Solved) -> None:
        """Note the reduced costs of the root: cells that all better patterns publish, or all suppress."""
        relaxation = self._relaxation
        self._root_point = relaxation.whole_point(solved.point)
        if solved.bound > self._root_bound:
            self._root_bound = solved.bound
            self._root_reduced[:] = 0.0
            self._root_reduced[relaxation.cells] = solved.reduced
        left = self._cutoff - solved.bound
        relaxation.decide(solved.reduced > left, -solved.reduced > left)
        relaxation.restrict(relaxation.lower.copy(), relaxation.upper.copy())

    def _branches(self, node: _Node, solved: Solved) -> list[_Node]:
        chosen = self._gains.choose(self._relaxation, solved.point, node.bound, self._cutoff)
        if chosen is None:  # whole: nothing below is cheaper, as far as the optimiser can tell
            self._loose = min(self._loose, node.bound)
            return []
        place, bounds = chosen
        cell = self._relaxation.cells[place]
        down, up = np.append(node.zeros, cell), np.append(node.ones, cell)
        found = []
        for bound, ones, zeros in ((bounds[0], node.ones, down), (bounds[1], up, node.zeros)):
            if bound <= self._cutoff:
                self._count += 1
                found.append(_Node(bound, self._count, ones, zeros))
        return found


def _nothing(solved: Solved) -> Solved:
    return Solved(solved.point, np.inf, solved.reduced, solved.optimal)
