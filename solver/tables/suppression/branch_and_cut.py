"""Branch and cut for cell suppression, with large neighbourhood search and destructive bounds.

One linear relaxation serves the search: backends restart whenever a pattern violates a capacity constraint,
this search keeps the cutting planes it has found. It dives into the better child of a node and otherwise
takes the open node with the lowest bound.

Large neighbourhood search fixes most cells and searches the rest: cells on which the relaxation and the
incumbent agree (relaxation induced neighbourhoods, Danna, Rothberg and Le Pape 2005), or a random part of the
incumbent (Rothberg 2007). Cells with a large reduced cost are published. The seed is fixed and effort is
counted in relaxations solved, not in seconds, so that the search takes the same course on every machine.

Destructive bounds close the last units of the gap one by one. With integer costs and a gap of few units, a
search restricted to the lowest cost not yet excluded fixes more cells by reduced cost and prunes more nodes
(Klein and Scholl 1999, Computing lower bounds by destructive improvement). Its bounds are rounded safely,
like all others.
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
from linkrisk.solver.tables import steering, tolerances
from linkrisk.solver.tables.suppression.branching import PseudoCosts
from linkrisk.solver.tables.suppression.incumbent import Incumbent, Supports, Thinned
from linkrisk.solver.tables.suppression.relaxation import Relaxation, Solved, rounding_cuts

Improve = Callable[[FloatArray], BoolArray | None]
"""Primal heuristic that turns a point of the relaxation, shape (n,), into a protecting pattern."""


@dataclass(order=True)
class _Node:
    bound: float
    number: int
    ones: LongArray = field(compare=False)
    zeros: LongArray = field(compare=False)


@dataclass(frozen=True, eq=False)
class Part:
    """Restricts a search to some patterns and holds what it shares with other searches."""

    relaxation: Relaxation
    supports: Supports
    most_nodes: float = np.inf


class BranchAndCut:
    """Searches a part of the patterns for one of least cost.

    `separator`: finds violated cuts. `incumbent`: of this part. `bound`: a dual bound known beforehand, then
    the best dual bound of the part. `nodes`, `solves`: nodes processed and relaxations solved.
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
        """Search until the incumbent is proven optimal, the clock has expired, or `tell` returns true."""
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
        """Run other searches between two nodes."""

    def _proven(self, bound: float) -> float:
        """Return a bound on open nodes as a global bound: lower if a closed node was not proven worse."""
        return bound if self._loose > self._cutoff else min(bound, self._loose)

    @property
    def best(self) -> BoolArray:
        """Cheapest protecting pattern found so far, shape (n,)."""
        return self._incumbent.best

    @property
    def cost(self) -> float:
        """Cost of its free cells."""
        return self._incumbent.cost

    @property
    def _cutoff(self) -> float:
        return self._incumbent.cutoff

    def _raise_bound(self, bounds: list[float], node: _Node | None) -> None:
        lowest = min([*bounds, *([] if node is None else [node.bound]), self._incumbent.limit])
        self.bound = max(self.bound, self._proven(lowest))

    def _root(self) -> list[_Node]:
        """Return the children of the root, or the root itself if the clock has expired."""
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
        """Fix cells by the reduced costs of the root; rebuild the relaxation if few stay open."""
        relaxation = self._relaxation
        left, reduced = self._cutoff - self._root_bound, self._root_reduced[relaxation.cells]
        relaxation.decide(reduced > left, -reduced > left)
        if (relaxation.upper > relaxation.lower).sum() < steering.REBUILT_SHARE * relaxation.cells.size:
            self._relaxation = relaxation.smaller(self._objective)
        self._decided_at = self.cost

    def _process(self, node: _Node) -> list[_Node] | None:
        """Return the children of a node: none if it is pruned, None if the clock has expired."""
        if self.cost < self._decided_at:
            self._decide()
        bounds = self._relaxation.bounds_where(node.ones, node.zeros)
        if node.bound > self._cutoff or bounds is None:
            return []
        self._relaxation.restrict(*bounds)
        solved = self._cut(node)
        if solved is not None and solved.bound > self._cutoff:
            self._gains.conflicts.found(node.ones, node.zeros, self._reduced(solved))
            return []
        return None if solved is None else self._branches(node, solved)

    def _reduced(self, solved: Solved) -> FloatArray:
        """Return the reduced costs of all cells, 0 for fixed ones."""
        reduced = np.zeros(len(self._table))
        reduced[self._relaxation.cells] = solved.reduced
        return reduced

    def _cut(self, node: _Node) -> Solved | None:
        """Add cutting planes until none is found or none helps; None if the clock has expired."""
        root, relaxation = node.number == 0, self._relaxation
        stale, turn, patience = 0, 0, steering.ROOT_CUT_ROUNDS if root else steering.CUT_ROUNDS
        if not root and self._incumbent.flat(node.bound):
            patience, relaxation.age = 1, steering.LONG_ROW_AGE
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
            gained = node.bound - before >= steering.LEAST_CUT_GAIN * max(self.cost - node.bound, 1e-9)
            stale = 0 if gained else stale + 1
            if root and turn in steering.ROOT_HEURISTIC_ROUNDS:
                self._incumbent.take(self._improve(relaxation.whole_point(solved.point)))
            more = self._separated(solved, patience - stale, root=root)
            if root:
                self._fix(solved)
            if not more:
                return solved

    def _separated(self, solved: Solved, patience: int, *, root: bool) -> bool:
        """Add violated rows and tell whether there were any."""
        relaxation, point = self._relaxation, solved.point
        whole = bool((np.abs(point - np.round(point)) < tolerances.INTEGRAL).all())
        if patience <= 0 and not whole:
            return False
        everywhere = relaxation.whole_point(np.round(point) if whole else point)
        cuts = self._separator(everywhere)
        if whole and not cuts.count:
            self._incumbent.take(everywhere > 0.5)
            return False
        if not cuts.count and (
            self.nodes < steering.THINNED_FIRST_NODES or self.nodes % steering.THINNED_EVERY == 0
        ):
            self._incumbent.take(self._part.supports(everywhere, self._objective, self._clock))
        found = [relaxation.open_part(cuts)] if cuts.count else []
        if cuts.count < steering.FEW_VIOLATED and (root or not cuts.count):
            found.append(rounding_cuts(relaxation, point))
        for matrix, right in found:
            relaxation.add_open(matrix, right)
        return any(right.size for _, right in found)

    def _fix(self, solved: Solved) -> None:
        """Fix cells by reduced cost at the root and store the reduced costs."""
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
        if chosen is None:  # integral: nothing below is cheaper, as far as the optimiser can tell
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


class Neighbourhoods:
    """Chooses the fixed cells of each neighbourhood and adapts their share."""

    def __init__(self) -> None:
        self._generator = np.random.default_rng(0)
        self._part = 0.5
        self._turn, self._spent = 0, 0
        self.nodes = steering.NEIGHBOURHOOD_NODES

    def affordable(self, nodes: int, solves: int) -> bool:
        """Tell whether another neighbourhood is affordable after this effort of the main search."""
        return (
            nodes >= steering.NODES_BEFORE_NEIGHBOURHOODS
            and self._spent < steering.NEIGHBOURHOOD_FIRST_SOLVES + steering.NEIGHBOURHOOD_SHARE * solves
        )

    def choose(self, best: BoolArray, point: FloatArray, reduced: FloatArray) -> tuple[BoolArray, BoolArray]:
        """Return the cells fixed as published and those fixed as suppressed, shape (n,) each.

        `best` (n,). `point`, `reduced` (n,): of the relaxation; 0 for fixed cells.
        """
        induced = self._turn % 3 == 0
        self._turn += 1
        other = np.flatnonzero(~best)
        dear = np.where(point[other] > tolerances.INTEGRAL, -1.0, reduced[other])
        zeros = np.zeros(best.size, dtype=np.bool_)
        zeros[other[np.argsort(dear, kind="stable")[steering.NEIGHBOURHOOD_CELLS[0 if induced else 1] :]]] = (
            True
        )
        if induced:
            return zeros, best & (point > 1.0 - tolerances.INTEGRAL)
        return zeros, best & (self._generator.random(best.size) < self._part)

    def searched(self, solves: int, *, better: bool, whole: bool) -> None:
        """Record the effort of a neighbourhood, and whether it was improving or exhausted."""
        self._spent += max(solves, 1)
        if better:
            return
        if whole:  # too small to hold a better pattern
            self._part = max(steering.NEIGHBOURHOOD_LEAST_PART, self._part - 0.05)
        else:
            self._part = min(steering.NEIGHBOURHOOD_MOST_PART, self._part + 0.05)


class Exclusion:
    """Decides when destructive bounds are tried, and with how many nodes.

    `nodes`: node limit of the next search.
    """

    def __init__(self) -> None:
        self._first, self.nodes = steering.NODES_BEFORE_EXCLUSION, steering.EXCLUSION_NODES

    def due(self, nodes: int, root: float, bound: float, cutoff: float) -> bool:
        """Tell whether a search is due after so many nodes; `cutoff` is the largest cost of interest."""
        if (cutoff - root) * steering.EXCLUSION_GAP_SHARE > 1.0:
            return False
        first = self._first if bound <= cutoff - 1.0 + 1e-9 else self._first * steering.EXCLUSION_LAST_UNIT
        return nodes >= first and cutoff - steering.EXCLUSION_UNITS < bound <= cutoff

    def searched(self, *, excluded: bool) -> None:
        """Adapt the limits after a search that did or did not exclude its cost."""
        if not excluded:
            self._first, self.nodes = (
                self._first * steering.EXCLUSION_GROWTH,
                self.nodes * steering.EXCLUSION_GROWTH,
            )


class WholeSearch(BranchAndCut):
    """Searches all patterns by branch and cut, with large neighbourhood search and destructive bounds.

    `separator`: finds violated cuts. `start` (n,): a protecting pattern. `cost` (n,): of the cells, integral
    where `whole`. `thinning`: drops redundant cells from a protecting pattern. `rows`: initial cuts. `bound`:
    a dual bound known beforehand.
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
        self._search_neighbourhoods()
        if self._incumbent.whole:
            self._exclude()

    def _search_neighbourhoods(self) -> None:
        """Search neighbourhoods of the incumbent, as many as are affordable."""
        near, relaxation = self._near, self._relaxation
        while self._goes_on and near.affordable(self.nodes, self.solves):
            reduced = np.where(relaxation.open_ones(), self._root_reduced, np.inf)
            zeros, ones = near.choose(self.best, self._root_point, reduced)
            found = self._apart(zeros, ones, near.nodes)
            near.searched(found.solves, better=found.cost < self.cost, whole=found.bound > found._cutoff)
            self._incumbent.take(found.best)

    def _exclude(self) -> None:
        """Search for a pattern of the lowest cost not yet excluded, where the gap is a few units."""
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
        """Search the patterns that agree with these fixed cells and cost at most `most`."""
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
