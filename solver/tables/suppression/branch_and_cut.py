"""Branch and cut for cell suppression, with neighbourhood searches beside it.

One linear program serves the whole search. Backends begin their search anew whenever a pattern violates a
capacity constraint; here rows that were found once stay. Below a node its better branch is next; where there
is none, the open node of the least bound.

Neighbourhood searches fix most cells as in known patterns and search the few others. What the relaxation's
point and the best pattern agree on is decided (relaxation induced neighbourhoods, Danna, Rothberg and Le Pape
2005), or a random part of what the best pattern suppresses (Rothberg 2007). Cells that are dear by their
reduced costs are published. What is random follows a fixed seed, and effort is counted in solves of
relaxations, not in seconds: the same search goes the same way everywhere.

Destructive bounds close the last units of the gap one by one. Where costs are integers, few of which are
between cost and bound from the root on, the least cost that is not excluded is a search of its own: more
cells are decided there by their reduced costs, and branches that hold nothing of that cost are left early
(Klein and Scholl 1999, Computing lower bounds by destructive improvement). What excludes it are the same
bounds as everywhere, counted with all roundings on the safe side.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.programs import Cuts, Separator
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.formulations.tables.suppression_model import suppression_model
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.suppression.branching import PseudoCosts
from linkrisk.solver.tables.suppression.incumbent import Incumbent, Supports, Thinned
from linkrisk.solver.tables.suppression.relaxation import Relaxation, Solved, rounding_cuts

_WHOLE = 1e-5
_PATIENCE, _ROOT_PATIENCE = 3, 20
"""Rounds of rows without gain after which a node is branched on."""

_MANY = 10
"""Where so many rows are violated, none are made."""

_GAIN = 0.01
"""What is a gain, as a share of what is left to the best pattern."""

_SMALLER = 0.7
"""The relaxation is made anew where fewer of its cells are still open."""

_LONG_AGE = 200
"""Where bounds tell nothing, only the number of nodes counts, and what one branch needs, others do: rows are
looked for once, and kept longer."""

_FIRST_NODES, _THINNED = 24, 8
"""A pattern is made of a point that violates no row at the first nodes, then at one of so many."""

_TRIES = (2, 8, 25, 60, 120, 240)
"""Rounds at the root after which a pattern is made of the point."""

Improve = Callable[[FloatArray], BoolArray | None]
"""Makes a pattern that protects of a point of the relaxation, shape (n,)."""


@dataclass(order=True)
class _Node:
    bound: float
    number: int
    ones: LongArray = field(compare=False)
    zeros: LongArray = field(compare=False)


@dataclass(frozen=True, eq=False)
class Part:
    """Of all patterns, those that are searched, and what is shared with a search of others."""

    relaxation: Relaxation
    supports: Supports
    most_nodes: float = np.inf


class BranchAndCut:
    """A search for the pattern of least cost among those of a part.

    `separator`: knows what every pattern that protects keeps. `incumbent`: of this part. `bound`: that is
    known to hold already. `bound`: no pattern of the part that protects costs less. `nodes`, `solves`: nodes
    that were searched, and how often a relaxation was solved for it.
    """

    def __init__(
        self, table: CellTable, separator: Separator, part: Part, incumbent: Incumbent, bound: float
    ) -> None:
        self._table, self._separator = table, separator
        self._part, self._incumbent = part, incumbent
        self._objective, self._relaxation = incumbent.objective, part.relaxation
        free = self._objective[table.free & ~table.fixed]
        self._gains = PseudoCosts(len(table), alike=free.size == 0 or float(np.ptp(free)) == 0.0)
        self._root_bound, self._root_reduced = 0.0, np.zeros(len(table))
        self.bound = min(bound, self.cost)
        self.nodes, self.solves, self._count = 0, 0, 0
        self._root_point = np.zeros(len(table))
        self._loose, self._decided_at = np.inf, self.cost

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
                self._beside()
                if self.bound > self._cutoff:
                    return
                node = min(children, default=None)
                for other in children:
                    if other is not node:
                        heapq.heappush(heap, other)
                self._raise_bound([heap[0].bound] if heap else [], node)
        if not heap:
            self.bound = max(self.bound, self._proven(self._incumbent.limit))

    def _beside(self) -> None:
        """What is done between two nodes."""

    def _proven(self, bound: float) -> float:
        """A bound of the open nodes as one of all: less where a node was closed that it did not exclude."""
        return bound if self._loose > self._cutoff else min(bound, self._loose)

    @property
    def best(self) -> BoolArray:
        """The cheapest pattern so far that protects, shape (n,)."""
        return self._incumbent.best

    @property
    def cost(self) -> float:
        """Of its free cells."""
        return self._incumbent.cost

    @property
    def _cutoff(self) -> float:
        return self._incumbent.cutoff

    def _raise_bound(self, bounds: list[float], node: _Node | None) -> None:
        lowest = min([*bounds, *([] if node is None else [node.bound]), self._incumbent.limit])
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
        if solved is not None and solved.bound > self._cutoff:
            self._gains.contradictions.found(node.ones, node.zeros, self._reduced(solved))
            return []
        return None if solved is None else self._branches(node, solved)

    def _reduced(self, solved: Solved) -> FloatArray:
        """Reduced costs of all cells, 0 of those that are decided."""
        reduced = np.zeros(len(self._table))
        reduced[self._relaxation.cells] = solved.reduced
        return reduced

    def _cut(self, node: _Node) -> Solved | None:
        """Add rows until none are found or none help; None where time was up."""
        root, relaxation = node.number == 0, self._relaxation
        stale, turn, patience = 0, 0, _ROOT_PATIENCE if root else _PATIENCE
        if not root and self._incumbent.flat(node.bound):
            patience, relaxation.age = 1, _LONG_AGE
        while True:
            turn += 1
            if self._clock.expired or (root and self._tell()):
                return None
            solved = relaxation.solve()
            self.solves += 1
            before = node.bound
            node.bound = max(node.bound, solved.bound)
            if root:
                self.bound = max(self.bound, min(node.bound, self._incumbent.limit))
            if node.bound > self._cutoff:
                return solved if solved.bound > self._cutoff else _nothing(solved)
            gained = node.bound - before >= _GAIN * max(self.cost - node.bound, 1e-9)
            stale = 0 if gained else stale + 1
            if root and turn in _TRIES:
                self._incumbent.take(self._improve(relaxation.whole_point(solved.point)))
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
            self._incumbent.take(everywhere > 0.5)
            return False
        if not cuts.count and (self.nodes < _FIRST_NODES or self.nodes % _THINNED == 0):
            self._incumbent.take(self._part.supports(everywhere, self._objective, self._clock))
        found = [relaxation.open_part(cuts)] if cuts.count else []
        if cuts.count < _MANY and (root or not cuts.count):
            found.append(rounding_cuts(relaxation, point))
        for matrix, right in found:
            relaxation.add_open(matrix, right)
        return any(right.size for _, right in found)

    def _fix(self, solved: Solved) -> None:
        """Note the reduced costs of the root: cells that all better patterns publish, or all suppress."""
        relaxation = self._relaxation
        self._root_point = relaxation.whole_point(solved.point)
        if solved.bound > self._root_bound:
            self._root_bound, self._root_reduced = solved.bound, self._reduced(solved)
        left = self._cutoff - solved.bound
        relaxation.decide(solved.reduced > left, -solved.reduced > left)
        relaxation.restrict(relaxation.lower.copy(), relaxation.upper.copy())

    def _branches(self, node: _Node, solved: Solved) -> list[_Node]:
        chosen = self._gains.choose(
            self._relaxation, solved.point, node.bound, self._cutoff, flat=self._incumbent.flat(node.bound)
        )
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


_MOST_NODES = 40
_MOST_OPEN = (120, 200)
"""Cells left open that the best pattern publishes: for what is agreed on, and for random parts."""

_SHARE = 0.4
"""Solves for neighbourhoods, as a share of all of the search."""

_BEFORE, _FIRST_SOLVES = 60, 100
"""Nodes before the first one (easy tables are done by then), and solves that they have at once then."""

_LEAST_PART, _MOST_PART = 0.2, 0.9


class Neighbourhoods:
    """Chooses what is decided in each of them, and how much effort each is worth."""

    def __init__(self) -> None:
        self._generator = np.random.default_rng(0)
        self._part = 0.5
        self._turn, self._spent = 0, 0
        self.nodes = _MOST_NODES

    def affordable(self, nodes: int, solves: int) -> bool:
        """Whether another one may be searched after so many nodes and solves of the search itself."""
        return nodes >= _BEFORE and self._spent < _FIRST_SOLVES + _SHARE * solves

    def choose(self, best: BoolArray, point: FloatArray, reduced: FloatArray) -> tuple[BoolArray, BoolArray]:
        """Cells that are published, and cells that are suppressed, shape (n,) each.

        `best` (n,). `point`, `reduced` (n,): of the relaxation: 0 where cells are decided.
        """
        induced = self._turn % 3 == 0
        self._turn += 1
        other = np.flatnonzero(~best)
        dear = np.where(point[other] > _WHOLE, -1.0, reduced[other])
        zeros = np.zeros(best.size, dtype=np.bool_)
        zeros[other[np.argsort(dear, kind="stable")[_MOST_OPEN[0 if induced else 1] :]]] = True
        if induced:
            return zeros, best & (point > 1.0 - _WHOLE)
        return zeros, best & (self._generator.random(best.size) < self._part)

    def searched(self, solves: int, *, better: bool, whole: bool) -> None:
        """How many solves one took, whether it held a better pattern, and whether it was searched wholly."""
        self._spent += max(solves, 1)
        if better:
            return
        if whole:  # too small to hold one
            self._part = max(_LEAST_PART, self._part - 0.05)
        else:
            self._part = min(_MOST_PART, self._part + 0.05)


_FIRST, _UNITS = 100, 2.0
"""Nodes after which it is done, and how many units may be left."""

_LAST = 10
"""As many times as many nodes come before the last unit: a pattern of that cost is better found elsewhere."""

_EXCLUSION_SHARE = 0.05
"""A unit is at least so much of what the root left open: else the search itself is soon through."""

_NODES, _LONGER = 20_000, 10
"""Nodes of such a search; after one in vain the next comes after so many times as many, and has as many."""


class Exclusion:
    """Says when, and how hard.

    `nodes`: that the next search may have.
    """

    def __init__(self) -> None:
        self._first, self.nodes = _FIRST, _NODES

    def due(self, nodes: int, root: float, bound: float, cutoff: float) -> bool:
        """Whether it is time, after so many nodes of the search itself; nothing above `cutoff` counts."""
        if (cutoff - root) * _EXCLUSION_SHARE > 1.0:
            return False
        first = self._first if bound <= cutoff - 1.0 + 1e-9 else self._first * _LAST
        return nodes >= first and cutoff - _UNITS < bound <= cutoff

    def searched(self, *, excluded: bool) -> None:
        """Whether the last one had nodes enough."""
        if not excluded:
            self._first, self.nodes = self._first * _LONGER, self.nodes * _LONGER


class WholeSearch(BranchAndCut):
    """A search of all patterns; neighbourhoods of the best one, and the last units, are searched apart.

    `separator`: knows what every pattern that protects keeps. `start` (n,): a pattern that protects. `cost`
    (n,): of the cells, in units of which all costs are whole multiples where `whole`. `thinning`: makes a
    pattern smaller that protects. `rows`: to begin with. `bound`: that is known to hold already.
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
    ) -> None:
        objective = np.where(table.free, cost, 0.0)
        everything = Part(_relaxation(table, objective, rows), Supports(separator, thinning))
        super().__init__(table, separator, everything, Incumbent(start, objective, whole=whole), bound)
        self._near, self._exclusion = Neighbourhoods(), Exclusion()

    def _beside(self) -> None:
        self._look_near()
        if self._incumbent.whole:
            self._exclude()

    def _look_near(self) -> None:
        """Search neighbourhoods of the best pattern, as many as are affordable."""
        near, relaxation = self._near, self._relaxation
        while self._goes_on and near.affordable(self.nodes, self.solves):
            reduced = np.where(relaxation.open_ones(), self._root_reduced, np.inf)
            zeros, ones = near.choose(self.best, self._root_point, reduced)
            found = self._apart(zeros, ones, near.nodes)
            near.searched(found.solves, better=found.cost < self.cost, whole=found.bound > found._cutoff)
            self._incumbent.take(found.best)

    def _exclude(self) -> None:
        """Search for the least cost that is not excluded by itself, where few others are below the best."""
        exclusion, none = self._exclusion, np.zeros(len(self._table), dtype=np.bool_)
        while self._goes_on and exclusion.due(self.nodes, self._root_bound, self.bound, self._cutoff):
            least = float(np.ceil(self.bound - 1e-9))
            found = self._apart(none, none, exclusion.nodes, least)
            self._incumbent.take(found.best)
            self.bound = max(self.bound, min(found.bound, self.cost))
            exclusion.searched(excluded=found.bound > least or self.bound > self._cutoff)

    @property
    def _goes_on(self) -> bool:
        return self.bound <= self._cutoff and not self._clock.expired

    def _apart(
        self, zeros: BoolArray, ones: BoolArray, most_nodes: int, most: float = np.inf
    ) -> BranchAndCut:
        """A search of the patterns that publish some cells, suppress others, and cost no more than `most`."""
        within = self._relaxation.where(zeros, ones, self._objective)
        part = replace(self._part, relaxation=within, most_nodes=most_nodes)
        found = BranchAndCut(self._table, self._separator, part, self._incumbent.up_to(most), self.bound)
        found.run(self._clock, lambda _: None, self._tell)
        return found


def _relaxation(table: CellTable, objective: FloatArray, rows: Cuts | None) -> Relaxation:
    model = suppression_model(table, None)
    given = Cuts(model.matrix, model.row_lower, model.row_upper)
    relaxation = Relaxation(given, objective, model.column_lower, model.column_upper)
    if rows is not None:
        relaxation.add_open(*relaxation.open_part(rows))
    return relaxation
