"""The audit by everybody: what each insider finds out, and who finds out most of each cell.

It is exact without a program for every insider and cell. Deviations that somebody was found to think
possible, and that are counted again here, are looked at through the eyes of all (`Crowd.within`): what they
prove is a lower bound on how far others must think a cell could go. Only for those whose bound is below what
counts, their own program is solved, by scipy. This file shares nothing with what chooses patterns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from scipy.sparse.csgraph import connected_components

from linkrisk.formulations.tables.cell_table import BoolArray, CellTable, Demand, FloatArray, IntArray
from linkrisk.formulations.tables.crowd import OUTSIDER, Crowd
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.progress import Progress, Reporter

SHORT = 1e-5
"""By how much of its level a cell may be short and still count as protected: what optimisers cannot tell."""

PHASE = "auditing by insiders"
_NARROWER = 1e-6
_SAFE = 1e-7


@dataclass(frozen=True, eq=False)
class CrowdAudit:
    """What everybody finds out.

    Attributes
    ----------
    names : tuple of str
        Of the attackers, the outsider first.
    cells : ndarray of int64, shape (k,)
        The suppressed cells.
    low, high : ndarray of float64, shape (k,)
        The narrowest interval that somebody finds who does not know the cell beforehand.
    who : ndarray of int64, shape (k,)
        Their numbers; 0 is the outsider.
    short : ndarray of float64, shape (k,)
        By how much the worst of its levels is missed; 0 where none is.
    short_of : ndarray of int64, shape (k,)
        Against whom.
    audited : bool
        Whether it was done to the end.
    """

    names: tuple[str, ...]
    cells: IntArray
    low: FloatArray
    high: FloatArray
    who: IntArray
    short: FloatArray
    short_of: IntArray
    audited: bool = True

    @property
    def passed(self) -> bool:
        """Whether all sensitive cells are protected from everybody."""
        return self.audited and not (self.short > 0).any()


def audit_by_everybody(
    table: CellTable, suppressed: BoolArray, clock: Clock | None = None, report: Reporter | None = None
) -> CrowdAudit:
    """Find the narrowest interval of every suppressed cell, and the worst shortfall of every sensitive one.

    Parameters
    ----------
    table : CellTable
        With its insiders.
    suppressed : ndarray of bool, shape (n,)
    clock : Clock, optional
        When it has run out, the audit ends, and has not passed.
    report : callable, optional
    """
    clock, crowd = clock or Clock(None), Crowd.of(table)
    cells = np.flatnonzero(suppressed)
    eyes = _Eyes(crowd, suppressed)
    found = CrowdAudit(
        crowd.names,
        cells,
        table.value[cells].copy(),
        table.value[cells].copy(),
        np.zeros(cells.size, dtype=np.int64),
        np.zeros(cells.size),
        np.zeros(cells.size, dtype=np.int64),
    )
    demands: dict[int, list[Demand]] = {}
    for demand in table.demands:
        demands.setdefault(demand.cell, []).append(demand)
    for at, cell in enumerate(cells):
        if clock.expired:
            return replace(found, audited=False)
        one = _Cell(eyes, int(cell))
        for demand in demands.get(int(cell), ()):
            short, owner = one.shortfall(demand)
            if short > found.short[at]:
                found.short[at], found.short_of[at] = short, owner
        found.who[at], down, up = one.narrowest()
        found.low[at], found.high[at] = table.value[cell] - down, table.value[cell] + up
        if report is not None and at % 50 == 0:
            report(Progress.uncounted(PHASE, f"{at:,} of {cells.size:,} cells", done=at / cells.size))
    return found


class _Eyes:
    """The programs of all attackers, each in the part of the table that a cell hangs together with."""

    def __init__(self, crowd: Crowd, suppressed: BoolArray) -> None:
        self.crowd = crowd
        self.onlookers = crowd.within(suppressed.astype(np.float64))
        relations = sparse.csr_array(crowd.table.relations)
        rows, size = relations.shape
        part = sparse.csr_array(relations @ sparse.diags_array(suppressed.astype(np.float64)))
        part.eliminate_zeros()
        edges = part.tocoo()
        ends = (edges.row, edges.col + rows)
        graph = sparse.csr_array((np.ones(part.nnz), ends), shape=(rows + size, rows + size))
        label = connected_components(graph, directed=False)[1] if part.nnz else np.arange(rows + size)
        self._rows, self._cells, self._part = label[:rows], label[rows:], part
        self._suppressed = suppressed

    def furthest(self, owner: int, cell: int, sign: float) -> tuple[float, IntArray, FloatArray]:
        """How far an attacker must think that a cell could go, and deviations that show it."""
        inside = np.flatnonzero((self._cells == self._cells[cell]) & self._suppressed)
        rows = np.flatnonzero(self._rows == self._cells[cell])
        below, above = self.crowd.bounds(owner)
        goal = np.where(inside == cell, -sign, 0.0)
        given: Any = {
            "A_eq": self._part[rows][:, inside],
            "b_eq": np.zeros(rows.size),
            "bounds": np.column_stack([-below[inside], above[inside]]),
        }  # the stubs of scipy know no sparse rows
        found = linprog(goal, **given, method="highs")
        if found.status != 0 or found.x is None or found.fun is None:
            raise RuntimeError(f"the attacker's program could not be solved: {found.message}")
        moved = np.asarray(found.x, dtype=np.float64)
        return max(-float(found.fun), 0.0), inside, self._possible(inside, moved, rows)

    def _possible(self, inside: IntArray, moved: FloatArray, rows: IntArray) -> FloatArray:
        """The deviations if they satisfy the relations, else none: they are counted, not believed."""
        part = self._part[rows][:, inside]
        scale = np.maximum(abs(part) @ np.abs(moved), 1.0)
        holds = (np.abs(part @ moved) <= _SAFE * scale).all()
        return moved if holds else np.zeros(moved.size)


class _Cell:
    """What everybody finds out of one cell."""

    def __init__(self, eyes: _Eyes, cell: int) -> None:
        self._eyes, self._cell = eyes, cell
        size = len(eyes.crowd)
        self._known = {1.0: np.zeros(size), -1.0: np.zeros(size)}
        self._solved = {1.0: np.zeros(size, dtype=np.bool_), -1.0: np.zeros(size, dtype=np.bool_)}
        for sign in (1.0, -1.0):
            self._solve(OUTSIDER, sign)

    def _solve(self, owner: int, sign: float) -> float:
        """The reach of an attacker, and what it shows of all others."""
        known, solved = self._known[sign], self._solved[sign]
        if not solved[owner]:
            reach, cells, deviations = self._eyes.furthest(owner, self._cell, sign)
            seen = float(sign * deviations[np.searchsorted(cells, self._cell)])
            others = seen * self._eyes.onlookers.scales(cells, deviations)
            np.maximum(known, np.where(solved, known, others), out=known)
            known[owner], solved[owner] = reach, True
        return float(known[owner])

    def shortfall(self, demand: Demand) -> tuple[float, int]:
        """By how much a demand is missed against whom it is missed most; 0 where it holds."""
        levels = self._eyes.crowd.levels(demand)
        ways = [sign for wanted, sign in ((demand.up, 1.0), (demand.down, -1.0)) if wanted]
        worst, owner_of = 0.0, OUTSIDER
        done = levels <= 0
        while True:
            reach = np.sum([self._known[sign] for sign in ways], axis=0)
            missing = np.where(done | (reach >= levels * (1.0 - SHORT)), 0.0, levels - reach)
            owner = int(np.argmax(missing))
            if missing[owner] <= worst:
                return worst, owner_of
            done[owner] = True
            true = sum(self._solve(owner, sign) for sign in ways)
            if true < levels[owner] * (1.0 - SHORT) and levels[owner] - true > worst:
                worst, owner_of = float(levels[owner] - true), owner

    def narrowest(self) -> tuple[int, float, float]:
        """Who finds the narrowest interval, and how far it goes below and above the value."""
        best, done = OUTSIDER, self._eyes.crowd.knows(self._cell)
        up, down = self._known[1.0], self._known[-1.0]
        width = up[OUTSIDER] + down[OUTSIDER]
        done[OUTSIDER] = True
        while True:
            least = np.where(done, np.inf, up + down)
            owner = int(np.argmin(least))
            if least[owner] >= width - _NARROWER * max(width, 1.0):
                return best, float(down[best]), float(up[best])
            done[owner] = True
            own = self._solve(owner, 1.0) + self._solve(owner, -1.0)
            if own < width - _NARROWER * max(width, 1.0):
                best, width = owner, own
