"""Audits a pattern against insiders, who contribute to cells and know their contributions.

Linear programs give the range of a cell, given what an attacker or a coalition knows. They are solved with a
warm start in the connected piece of the cell. Their answers are recomputed: deviations must satisfy all
relations, and multipliers must bound them.

The audit finds the range of each cell for each insider, without a program for every pair of them. Deviations
found feasible for one attacker are scaled to the bounds of all (`AttackerKnowledge.within`), which gives
lower bounds on their ranges. Programs are solved only for attackers whose lower bound is below the level: one
for all of them together, then one for the attacker with the tightest upper bound. The audit shares with the
search only the optimiser.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from scipy.sparse.csgraph import connected_components

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.programs import LinearModel
from linkrisk.formulations.tables.attacker_knowledge import OUTSIDER, AttackerKnowledge
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.formulations.tables.units import in_units
from linkrisk.solver.backends.linear.base import LinearOptions, linear_program
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.tables import steering, tolerances
from linkrisk.solver.tables.attackers.integer_audit import IntegerMet, integer_unmet


class AttackerPrograms:
    """Linear programs for the range of a cell, given what an attacker or a coalition knows."""

    def __init__(self, knowledge: AttackerKnowledge, suppressed: BoolArray) -> None:
        self.knowledge = knowledge
        self.of_pattern = knowledge.within(suppressed.astype(np.float64))
        relations = sparse.csr_array(knowledge.table.relations)
        rows, size = relations.shape
        part = sparse.csr_array(relations @ sparse.diags_array(suppressed.astype(np.float64)))
        part.eliminate_zeros()
        edges = part.tocoo()
        ends = (edges.row, edges.col + rows)
        graph = sparse.csr_array((np.ones(part.nnz), ends), shape=(rows + size, rows + size))
        label = connected_components(graph, directed=False)[1] if part.nnz else np.arange(rows + size)
        self._rows, self._cells, self._part = label[:rows], label[rows:], part
        self._suppressed = suppressed
        self._parts: dict[int, _Part] = {}

    def furthest(
        self, cell: int, sign: float, bounds: tuple[FloatArray, FloatArray]
    ) -> tuple[float, LongArray, FloatArray, FloatArray]:
        """Maximise a cell within bounds; return its range, deviations and the reduced costs that prove it."""
        part = self._part_of(cell)
        below, above = (side[part.cells] for side in bounds)
        place = int(np.searchsorted(part.cells, cell))
        for attempt in range(2):
            point, multipliers = part.solve(place, sign, below, above, anew=attempt > 0)
            reduced = -(part.by_cell @ multipliers)
            reduced[place] += sign
            most = float(np.maximum(reduced * above, -reduced * below).sum())
            reach = max(float(sign * point[place]), 0.0)
            if most <= reach + tolerances.RECOMPUTED * max(float(above[place]), float(below[place]), 1.0):
                return reach, part.cells, point, self._everywhere(part.cells, reduced)
        given: Any = {"A_eq": part.relations, "b_eq": np.zeros(part.relations.shape[0])}
        limits: Any = np.column_stack([-below, above])
        goal = np.where(np.arange(part.cells.size) == place, -sign, 0.0)
        found = linprog(goal, **given, bounds=limits, method="highs")  # the stubs lack sparse rows
        if found.status != 0 or found.x is None or found.fun is None:
            raise RuntimeError(f"the attacker's program could not be solved: {found.message}")
        point = part.counted(np.asarray(found.x, dtype=np.float64), below, above)
        return max(-float(found.fun), 0.0), part.cells, point, self._everywhere(part.cells, reduced)

    def _everywhere(self, cells: LongArray, reduced: FloatArray) -> FloatArray:
        whole = np.zeros(self._suppressed.size)
        whole[cells] = reduced
        return whole

    def _part_of(self, cell: int) -> _Part:
        label = int(self._cells[cell])
        if label not in self._parts:
            inside = np.flatnonzero((self._cells == label) & self._suppressed)
            rows = np.flatnonzero(self._rows == label)
            self._parts[label] = _Part(inside, sparse.csr_array(self._part[rows][:, inside]))
        return self._parts[label]


class _Part:
    """Program of a connected piece, solved with a warm start; its answers are recomputed."""

    def __init__(self, cells: LongArray, relations: sparse.csr_array) -> None:
        self.cells, self.relations = cells, relations
        self.by_cell = sparse.csr_array(relations.T)
        none = np.zeros(relations.shape[0])
        self._program = linear_program(
            LinearModel(
                objective=np.zeros(cells.size),
                matrix=relations,
                row_lower=none,
                row_upper=none,
                column_lower=np.zeros(cells.size),
                column_upper=np.zeros(cells.size),
            ),
            LinearOptions(feasibility=1e-9, optimality=1e-9),
        )
        self._everyone, self._goal = np.arange(cells.size), np.zeros(0, dtype=np.int64)

    def solve(
        self, place: int, sign: float, below: FloatArray, above: FloatArray, *, anew: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Move a cell as far as possible: deviations, or none, and multipliers of the relations."""
        program, at = self._program, np.array([place])
        if anew:
            program.forget_basis()
        program.change_column_bounds(self._everyone, -below, above)
        program.change_objective(self._goal, np.zeros(self._goal.size))
        program.change_objective(at, np.array([-sign]))
        self._goal = at
        found = program.solve()
        if not found.optimal:
            return np.zeros(self.cells.size), np.zeros(self.relations.shape[0])
        return self.counted(found.point, below, above), -found.duals

    def counted(self, point: FloatArray, below: FloatArray, above: FloatArray) -> FloatArray:
        """Return deviations that satisfy all relations and bounds; otherwise zeros."""
        point = np.clip(point, -below, above)
        scale = np.maximum(abs(self.relations) @ np.abs(point), 1.0)
        holds = (np.abs(self.relations @ point) <= tolerances.RECOMPUTED * scale).all()
        return np.asarray(point) if holds else np.zeros(point.size)


PHASE = "auditing by insiders"


@dataclass(frozen=True, eq=False)
class InsiderAudit:
    """Result of the audit against all attackers."""

    names: tuple[str, ...]  # of the attackers, the outsider first
    cells: LongArray  # (k,) the suppressed cells
    # `low`, `high`: (k,) narrowest interval over all attackers who do not know the cell beforehand; NaN if
    # not computed
    low: FloatArray
    high: FloatArray
    who: LongArray  # (k,) numbers of the attackers that find it; 0 is the outsider
    short: FloatArray  # (k,) largest shortfall of its levels; 0 if all are met
    short_of: LongArray  # (k,) attacker with this shortfall
    audited: bool = True  # whether all levels were decided

    def times(self, unit: float) -> InsiderAudit:
        """Convert results from scaled units to values."""
        return replace(self, low=self.low * unit, high=self.high * unit, short=self.short * unit)

    @property
    def passed(self) -> bool:
        """Tell whether all sensitive cells are protected against all attackers."""
        return self.audited and not (self.short > 0).any()

    @property
    def left(self) -> int:
        """Number of cells whose narrowest interval was not computed."""
        return int(np.isnan(self.low).sum())


def audit_by_everybody(
    table: CellTable,
    suppressed: BoolArray,
    clock: Clock | None = None,
    report: Reporter | None = None,
) -> InsiderAudit:
    """Find the narrowest interval of every suppressed cell, and the largest shortfall of every sensitive one.

    `table`: with its insiders. `suppressed` (n,). `clock`: when it has expired, the audit ends, and fails if
    levels are undecided. In its second half levels come before intervals.
    """
    table, unit = in_units(table)
    clock, knowledge = clock or Clock(None), AttackerKnowledge.of(table)
    patience = clock.part_of_left(steering.INSIDER_INTERVAL_SHARE)
    whole = integer_unmet(table, suppressed, clock, report) if table.counts else None
    cells = np.flatnonzero(suppressed)
    programs = AttackerPrograms(knowledge, suppressed)
    found = InsiderAudit(
        knowledge.names,
        cells,
        np.full(cells.size, np.nan),
        np.full(cells.size, np.nan),
        np.zeros(cells.size, dtype=np.int64),
        np.zeros(cells.size),
        np.zeros(cells.size, dtype=np.int64),
    )
    demands: dict[int, list[Demand]] = {}
    for demand in table.demands if whole is None else ():
        demands.setdefault(demand.cell, []).append(demand)
    for done, at in enumerate(np.argsort(~table.primary[cells], kind="stable")):  # levels come first
        cell = int(cells[at])
        if clock.expired:
            found = replace(found, audited=cell not in demands)
            break
        one = _Cell(programs, cell)
        for demand in demands.get(cell, ()):
            short, owner = one.shortfall(demand)
            if short > found.short[at]:
                found.short[at], found.short_of[at] = short, owner
        if cell not in demands or not patience.expired:
            found.who[at], down, up = one.narrowest()
            found.low[at], found.high[at] = table.value[cell] - down, table.value[cell] + up
        if report is not None and done % 50 == 0:
            report(Progress.uncounted(PHASE, f"{done:,} of {cells.size:,} cells", done=done / cells.size))
    return (found if whole is None else _in_whole_numbers(found, whole)).times(unit)


def _in_whole_numbers(found: InsiderAudit, whole: IntegerMet) -> InsiderAudit:
    """Audit counts: intervals end at integers, and levels need integral witnesses."""
    place = {int(cell): at for at, cell in enumerate(found.cells)}
    for owner, demand, reached in whole.unmet:
        at = place.get(demand.cell)
        if at is not None and demand.level - reached > found.short[at]:
            found.short[at], found.short_of[at] = demand.level - reached, owner
    low, high = np.ceil(found.low - tolerances.INTERVAL_END), np.floor(found.high + tolerances.INTERVAL_END)
    return replace(found, low=low, high=high, audited=found.audited and not whole.undecided)


class _Cell:
    """Ranges of one cell for all attackers."""

    def __init__(self, programs: AttackerPrograms, cell: int) -> None:
        self._programs, self._cell = programs, cell
        size = len(programs.knowledge)
        self._known = {1.0: np.zeros(size), -1.0: np.zeros(size)}
        self._solved = {1.0: np.zeros(size, dtype=np.bool_), -1.0: np.zeros(size, dtype=np.bool_)}
        for sign in (1.0, -1.0):
            self._solve(OUTSIDER, sign)

    def _solve(self, owner: int, sign: float) -> float:
        """Compute the range of an attacker, and record its deviations for all others."""
        known, solved = self._known[sign], self._solved[sign]
        if not solved[owner]:
            reach, _ = self._see(sign, self._programs.knowledge.bounds(owner))
            known[owner], solved[owner] = reach, True
        return float(known[owner])

    def _see(self, sign: float, bounds: tuple[FloatArray, FloatArray]) -> tuple[float, FloatArray]:
        """Maximise within bounds, record the deviations for all attackers; return range and reduced costs."""
        known, solved = self._known[sign], self._solved[sign]
        reach, cells, deviations, reduced = self._programs.furthest(self._cell, sign, bounds)
        seen = float(sign * deviations[np.searchsorted(cells, self._cell)])
        others = seen * self._programs.of_pattern.scales(cells, deviations)
        np.maximum(known, np.where(solved, known, others), out=known)
        return reach, reduced

    def _settle(
        self, ways: Sequence[float], left: Callable[[], BoolArray], settled: Callable[[int], None]
    ) -> None:
        """Decide all attackers of a group: together, then the one with the tightest bound, then by halves.

        `ways`: 1 for up, -1 for down. `left`: undecided attackers, shape (m,). `settled`: called with each
        attacker solved alone, who is then decided.
        """
        groups = [np.flatnonzero(left())]
        while groups:
            group = groups.pop()
            group = group[left()[group]]
            if group.size > 1:
                worst = self._together(group, ways)
                group = group[left()[group]]
            if not group.size:
                continue
            if group.size == 1 or worst not in group:
                worst = int(group[0])
            for sign in ways:
                self._solve(worst, sign)
            settled(worst)
            half = group.size // 2
            groups += [group[half:], group[:half]]

    def _together(self, group: LongArray, ways: Sequence[float]) -> int:
        """Seek deviations feasible for a group; return the attacker with the tightest bound, too."""
        of_pattern = self._programs.of_pattern
        bounds, most = of_pattern.together(group), np.zeros(len(self._programs.knowledge))
        for sign in ways:
            most += of_pattern.at_most(self._see(sign, bounds)[1])
        return int(group[np.argmin(most[group])])

    def shortfall(self, demand: Demand) -> tuple[float, int]:
        """Return the largest shortfall of a demand over all attackers, 0 if it holds, and the attacker."""
        levels = self._programs.knowledge.levels(demand)
        ways = [sign for wanted, sign in ((demand.up, 1.0), (demand.down, -1.0)) if wanted]
        worst, done = (0.0, OUTSIDER), levels <= 0

        def left() -> BoolArray:
            reach = np.sum([self._known[sign] for sign in ways], axis=0)
            found: BoolArray = (
                ~done & (reach < levels * (1.0 - tolerances.AUDITED)) & (levels - reach > worst[0])
            )
            return found

        def settled(owner: int) -> None:
            nonlocal worst
            done[owner] = True
            true = float(sum(self._known[sign][owner] for sign in ways))
            if true < levels[owner] * (1.0 - tolerances.AUDITED) and levels[owner] - true > worst[0]:
                worst = float(levels[owner] - true), owner

        self._settle(ways, left, settled)
        return worst

    def narrowest(self) -> tuple[int, float, float]:
        """Find the attacker with the narrowest interval, and its ends below and above the value."""
        best, done = OUTSIDER, self._programs.knowledge.knows(self._cell)
        up, down = self._known[1.0], self._known[-1.0]
        done[OUTSIDER] = True

        def less() -> float:
            width = float(up[best] + down[best])
            return width - tolerances.INTERVAL_END * max(width, 1.0)

        def left() -> BoolArray:
            return np.asarray(~done & (up + down < less()))

        def settled(owner: int) -> None:
            nonlocal best
            done[owner] = True
            if up[owner] + down[owner] < less():
                best = owner

        self._settle((1.0, -1.0), left, settled)
        return best, float(down[best]), float(up[best])
