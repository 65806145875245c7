"""Decides levels in rational arithmetic, by exact witnesses and multipliers.

Floating-point results are made exact (`formulations.tables.exact`). Each demand ends as met, by witnesses of
few cells; as missed, by multipliers of relations that bound its cell, or because the cell is known exactly;
or as undecided, if neither could be made exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.programs import LinearModel
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.formulations.tables.exact import Exact, ExactRelations, exact, exact_witness
from linkrisk.formulations.tables.witnesses import Reach
from linkrisk.solver.backends.linear.base import LinearOptions, linear_program
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.tables import steering
from linkrisk.solver.tables.attackers.demands import unmet
from linkrisk.solver.tables.attackers.integer_audit import whole_witnesses
from linkrisk.solver.tables.attackers.pieces import Furthest, Piece, known_exactly, pieces_of, unit_of


class Nearest:
    """Program of a piece that minimises the total movement, ``d = u - v``."""

    def __init__(self, piece: Piece) -> None:
        self._count, self._unit = piece.cells.size, unit_of(piece)
        rows = piece.relations.shape[0]
        self._upper = np.concatenate([piece.above, piece.below]) / self._unit
        self._program = linear_program(
            LinearModel(
                objective=np.ones(2 * self._count),
                matrix=sparse.csr_array(sparse.hstack([piece.relations, -piece.relations], format="csr")),
                row_lower=np.zeros(rows),
                row_upper=np.zeros(rows),
                column_lower=np.zeros(2 * self._count),
                column_upper=self._upper,
            ),
            LinearOptions(feasibility=1e-9, optimality=1e-9),
        )

    def move(self, place: int, by: float) -> FloatArray | None:
        """Return deviations that move the cell at this place, shape (k,), or None if it cannot go so far."""
        ways = np.array([place, place + self._count])
        if by < 0:
            ways = ways[::-1]
        there = np.array([abs(by) / self._unit, 0.0])
        self._program.change_column_bounds(ways, there, there)
        solution = self._program.solve()
        self._program.change_column_bounds(ways, np.zeros(2), self._upper[ways])
        if not solution.optimal:
            return None
        point = solution.point * self._unit
        return np.asarray(point[: self._count] - point[self._count :])


PHASE = "certifying"


@dataclass(frozen=True, eq=False)
class Bound:
    """Upper bound on the movement of a cell in one direction, by multipliers of relations."""

    cell: int
    sign: int  # 1 up, -1 down
    multipliers: Exact  # by relation
    most: Fraction  # the bound that they prove


@dataclass(eq=False)
class Certified:
    """Result of the certification."""

    witnesses: list[Exact] = field(default_factory=list)  # deviations, by cell
    bounds: list[Bound] = field(default_factory=list)
    # `missed`, `undecided`: all others are met
    missed: list[Demand] = field(default_factory=list)
    undecided: list[Demand] = field(default_factory=list)
    whole: bool = False  # whether witnesses have to be integral, as for counts

    @property
    def protected(self) -> bool:
        """Tell whether every demand is met."""
        return not self.missed and not self.undecided


def certify(
    table: CellTable, suppressed: BoolArray, clock: Clock | None = None, report: Reporter | None = None
) -> Certified:
    """Decide every demand in rational arithmetic; those of counts by integral witnesses.

    A demand of counts that only fractional witnesses meet is undecided: nothing proves that no integral
    witness exists.

    It costs as much as `demands.unmet`; each demand that no witness meets yet adds a linear program and an
    elimination over fractions, and each tight or unmet one another program or two.

    `table`: its numbers are read as their shortest decimal texts. `suppressed` (n,). `clock`: when it has
    expired, demands not met by then are undecided.
    """
    if not table.counts:
        return _in_fractions(table, suppressed, clock, report)
    vectors, left = whole_witnesses(table, suppressed, clock)
    found = Certified(whole=True)
    if left:
        fractions = _in_fractions(table, suppressed, clock, report)
        found.bounds = fractions.bounds
        found.missed = [one for one in fractions.missed if one in left]
    found.undecided = [one for one in table.demands if one in left and one not in found.missed]
    found.witnesses = [
        {cell: Fraction(int(moved)) for cell, moved in zip(cells.tolist(), by.tolist(), strict=True)}
        for cells, by in vectors
    ]
    found.witnesses = needed(table.demands, found.witnesses)
    return found


def _in_fractions(
    table: CellTable, suppressed: BoolArray, clock: Clock | None, report: Reporter | None
) -> Certified:
    work = _Certifying(table, suppressed, clock or Clock(None), report)
    work.run()
    return work.found


@dataclass(eq=False)
class _Certifying:
    table: CellTable
    suppressed: BoolArray
    clock: Clock
    report: Reporter | None
    found: Certified = field(default_factory=Certified, init=False)

    def __post_init__(self) -> None:
        self._relations = ExactRelations(self.table)
        self._reach: dict[tuple[int, int], Fraction] = {}
        self._failed: set[Demand] = set()
        self._seen = Reach(np.zeros(0), np.zeros(0))
        self._of_cell: dict[int, list[Demand]] = {}
        for one in self.table.demands:
            self._of_cell.setdefault(one.cell, []).append(one)

    def run(self) -> None:
        """Certify demand by demand, piece by piece."""
        met = unmet(self.table, self.suppressed, self.clock, report=self.report)
        self._failed = set(met.unmet)
        self._seen = met.reach
        known = known_exactly(self.table, self.suppressed) | ~self.suppressed
        done, total = 0, len(self.table.demands)
        for piece in pieces_of(self.table, ~known):
            asked = [one for cell in piece.cells.tolist() for one in self._of_cell.get(cell, ())]
            nearest, furthest = (Nearest(piece), Furthest(piece)) if asked else (None, None)
            for demand in asked:
                if nearest is not None and not self._met(demand):
                    self._approach(nearest, piece, demand)
                if furthest is not None and not self._met(demand):
                    self._settle(furthest, demand)
                done += 1
                if self.report is not None:
                    self.report(Progress.uncounted(PHASE, f"{done:,} of {total:,} levels", done=done / total))
        self.found.missed += [one for one in self.table.demands if known[one.cell]]
        self.found.witnesses = needed(self.table.demands, self.found.witnesses)

    def _approach(self, nearest: Nearest, piece: Piece, demand: Demand) -> None:
        """Move the cell to its level, and the others as little as possible."""
        if demand in self._failed:
            return
        for sign, by in self._shares(demand):
            if by <= 0 or self.clock.expired:
                continue
            moved = nearest.move(int(np.searchsorted(piece.cells, demand.cell)), sign * float(by))
            if moved is not None:
                at = np.flatnonzero(moved)
                self._add(piece.cells[at], moved[at], {demand.cell: sign * by})

    def _shares(self, demand: Demand) -> list[tuple[int, Fraction]]:
        """Split a demand into directions; a sliding one is shared between both as far as they go."""
        level, ways = exact(demand.level), _ways(demand)
        if len(ways) == 1:
            return [(ways[0], level)]
        up, down = (float(way[demand.cell]) for way in (self._seen.up, self._seen.down))
        part = min(Fraction(round(level * 1000 * Fraction(up / (up + down)))) / 1000, level)
        return [(1, part), (-1, level - part)]

    def _open(self, cell: int) -> Iterator[Demand]:
        return (one for one in self._of_cell.get(cell, ()) if not self._met(one))

    def _met(self, demand: Demand) -> bool:
        return sum(
            (self._reach.get((demand.cell, sign), Fraction(0)) for sign in _ways(demand)), Fraction(0)
        ) >= (exact(demand.level))

    def _add(self, cells: LongArray, deviations: FloatArray, fixed: Exact | None = None) -> None:
        """Make a point exact with the fewest decimals that serve all demands it nearly meets."""
        near = dict(zip(cells.tolist(), deviations.tolist(), strict=True))
        wanted = [one for cell in near for one in self._open(cell) if _nearly(near[cell], one)]
        best: tuple[int, Exact] | None = None
        for digits in steering.CERTIFICATE_DECIMALS:
            made = exact_witness(self._relations, cells, deviations, digits, fixed) if wanted else None
            if not made:
                break
            served = sum(_serves(made, near, one) for one in wanted)
            if served and (best is None or served > best[0]):
                best = (served, made)
            if served == len(wanted):
                break
        if best is not None:
            self.found.witnesses.append(best[1])
            for cell, moved in best[1].items():
                key = (cell, 1 if moved > 0 else -1)
                self._reach[key] = max(self._reach.get(key, Fraction(0)), abs(moved))

    def _settle(self, program: Furthest, demand: Demand) -> None:
        """Move the cell of a demand as far as possible: it is then met, or bounded by multipliers."""
        place = int(np.searchsorted(program.piece.cells, demand.cell))
        bounds = []
        for sign in _ways(demand):
            if self.clock.expired:
                break
            solution = program.settle(place, float(sign))
            if not solution.optimal:
                break
            self._add(program.piece.cells, program.deviations(solution))
            bounds.append(self._bound(program, demand.cell, sign, -solution.duals))
        if self._met(demand):
            return
        if len(bounds) == len(_ways(demand)) and sum(one.most for one in bounds) < exact(demand.level):
            self.found.bounds += bounds
            self.found.missed.append(demand)
        else:
            self.found.undecided.append(demand)

    def _bound(self, program: Furthest, cell: int, sign: int, multipliers: FloatArray) -> Bound:
        """Return the least bound over several roundings of the multipliers; any multipliers are valid."""
        piece, tried = program.piece, []
        for largest in steering.CERTIFICATE_DENOMINATORS:
            rounded = {
                int(row): Fraction(one).limit_denominator(largest)
                for row, one in zip(piece.rows.tolist(), multipliers.tolist(), strict=True)
            }
            kept = {row: one for row, one in rounded.items() if one}
            most = self._relations.most(cell, sign, kept, piece.cells.tolist())
            tried.append(Bound(cell, sign, kept, most))
        return min(tried, key=lambda one: one.most)


def needed(demands: Sequence[Demand], witnesses: Sequence[Exact]) -> list[Exact]:
    """Return the witnesses of a demand: the first that goes far enough, or else the farthest."""
    best: dict[tuple[int, int], tuple[Fraction, int]] = {}
    enough = {
        (one.cell, sign): exact(one.level) for one in demands for sign in _ways(one) if len(_ways(one)) == 1
    }
    sliding = {one.cell for one in demands if len(_ways(one)) == 2}
    asked = {one.cell for one in demands}
    for number, witness in enumerate(witnesses):
        for cell, moved in witness.items():
            key = (cell, 1 if moved > 0 else -1)
            so_far = best.get(key, (Fraction(0), -1))[0]
            far = cell not in sliding and key in enough and so_far >= enough[key]
            if cell in asked and not far and abs(moved) > so_far:
                best[key] = (abs(moved), number)
    used = {number for _, number in best.values()}
    return [one for at, one in enumerate(witnesses) if at in used]


def _ways(demand: Demand) -> tuple[int, ...]:
    return tuple(sign for wanted, sign in ((demand.up, 1), (demand.down, -1)) if wanted)


def _nearly(moved: float, demand: Demand) -> bool:
    """Tell whether a point nearly meets a demand, or moves its cell if it is sliding."""
    ways = _ways(demand)
    return moved != 0 if len(ways) == 2 else ways[0] * moved >= demand.level * (1.0 - 1e-6)


def _serves(made: Exact, near: dict[int, float], demand: Demand) -> bool:
    """Tell whether an exact witness meets a demand, or goes as far as the point if it is sliding."""
    moved, approximate = made.get(demand.cell, Fraction(0)), near[demand.cell]
    ways = _ways(demand)
    if len(ways) == 2:
        return abs(float(moved) - approximate) <= 1e-9 * max(1.0, abs(approximate))
    return ways[0] * moved >= exact(demand.level)
