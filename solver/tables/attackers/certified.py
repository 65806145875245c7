"""Levels decided in rational numbers, by witnesses and multipliers made exact.

What is found in floating point is made exact (`formulations.tables.exact`). Each demand ends as met, by
witnesses of few cells; as missed, by multipliers of the relations that bound its cell, or because the cell is
known exactly; or as undecided, where neither could be made exact.
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
from linkrisk.solver.tables.attackers.demands import unmet
from linkrisk.solver.tables.attackers.integer_audit import whole_witnesses
from linkrisk.solver.tables.attackers.pieces import Furthest, Piece, known_exactly, pieces_of, unit_of


class Nearest:
    """The program of a piece: ways up and down, ``d = u - v``, at the least sum of both."""

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
        """Move a cell, by its place in the piece; deviations, shape (k,); None where it cannot go so far."""
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

_DIGITS = (0, 2, 4, 7, 10)
"""After the point, of what is rounded: as few as serve."""

_DENOMINATORS = (1, 60, 10_000, 10**9)
"""Of multipliers, which are small whole numbers or simple fractions in most tables."""


@dataclass(frozen=True, eq=False)
class Bound:
    """A cell goes one way no further than multipliers of relations allow."""

    cell: int
    sign: int  # 1 up, -1 down
    multipliers: Exact  # by relation
    most: Fraction  # what they allow


@dataclass(eq=False)
class Certified:
    """What was made exact."""

    witnesses: list[Exact] = field(default_factory=list)  # deviations, by cell
    bounds: list[Bound] = field(default_factory=list)
    # `missed`, `undecided`: all others are met
    missed: list[Demand] = field(default_factory=list)
    undecided: list[Demand] = field(default_factory=list)
    whole: bool = False  # whether witnesses have to be whole numbers, as those of counts have

    @property
    def protected(self) -> bool:
        """Whether every demand is met."""
        return not self.missed and not self.undecided


def certify(
    table: CellTable, suppressed: BoolArray, clock: Clock | None = None, report: Reporter | None = None
) -> Certified:
    """Decide every demand in rational numbers; of counts in whole numbers.

    A demand of counts that fractions meet and no whole table that was found does is undecided: no bound says
    that there is none.

    It costs what `demands.unmet` does, and for each demand that no witness meets yet a linear program and an
    elimination over fractions; for a demand that is met just so, or not at all, one or two programs more.

    `table`: its numbers stand for their shortest decimal texts. `suppressed` (n,). `clock`: when it has run
    out, demands that are not met by then are undecided.
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
        """Piece by piece, demand by demand."""
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
        """Move the cell by just as much as is asked for, and the others as little as can be."""
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
        """How far each way; a sliding demand is shared between both ways as far as these go."""
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
        """Make a point exact in as few digits as serve all demands that it serves nearly."""
        near = dict(zip(cells.tolist(), deviations.tolist(), strict=True))
        wanted = [one for cell in near for one in self._open(cell) if _nearly(near[cell], one)]
        best: tuple[int, Exact] | None = None
        for digits in _DIGITS:
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
        """Move the cell of a demand as far as it goes: it is met by that, or bounded by multipliers."""
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
        """The least bound of multipliers that are rounded one way or another; any are valid."""
        piece, tried = program.piece, []
        for largest in _DENOMINATORS:
            rounded = {
                int(row): Fraction(one).limit_denominator(largest)
                for row, one in zip(piece.rows.tolist(), multipliers.tolist(), strict=True)
            }
            kept = {row: one for row, one in rounded.items() if one}
            most = self._relations.most(cell, sign, kept, piece.cells.tolist())
            tried.append(Bound(cell, sign, kept, most))
        return min(tried, key=lambda one: one.most)


def needed(demands: Sequence[Demand], witnesses: Sequence[Exact]) -> list[Exact]:
    """The witnesses that a demand needs: the first that goes far enough, or else the furthest."""
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
    """Whether a point goes about as far as a demand asks, or some way for a sliding one."""
    ways = _ways(demand)
    return moved != 0 if len(ways) == 2 else ways[0] * moved >= demand.level * (1.0 - 1e-6)


def _serves(made: Exact, near: dict[int, float], demand: Demand) -> bool:
    """Whether an exact witness goes as far as a demand asks, or as the point does for a sliding one."""
    moved, approximate = made.get(demand.cell, Fraction(0)), near[demand.cell]
    ways = _ways(demand)
    if len(ways) == 2:
        return abs(float(moved) - approximate) <= 1e-9 * max(1.0, abs(approximate))
    return ways[0] * moved >= exact(demand.level)
