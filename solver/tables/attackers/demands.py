"""Decides which protection levels hold: by linear programs for many cells at once, then one by one.

One program meets as many demands as it can (`Together`). The movement of a cell is split, ``d = t + s``: t is
worth 1 / level per unit up to the level, s beyond it is worth nothing. The sum is concave, so that a linear
program maximises it and serves no demand beyond its level at the cost of others.

Demands are met by witnesses, without intervals. Large pieces start with least-energy movements for all
demands (`least_energy`); a few programs for many demands follow, then one program for each demand left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.programs import LinearModel
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.formulations.tables.witnesses import Reach, Witness, counted_reach, valid
from linkrisk.solver.backends.linear.base import LinearOptions, linear_program, solved_by
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.tables import steering, tolerances
from linkrisk.solver.tables.attackers.least_energy import farthest
from linkrisk.solver.tables.attackers.pieces import Furthest, Piece, known_exactly, pieces_of, unit_of


class Together:
    """Linear program of a piece that serves many demands.

    `at` (j,): places of the cells with demands.
    """

    def __init__(self, piece: Piece, at: LongArray) -> None:
        self._piece, self._at = piece, at
        self._unit = unit_of(piece)
        none = np.zeros(piece.relations.shape[0])
        self._program = linear_program(
            LinearModel(
                objective=np.zeros(piece.cells.size + at.size),
                matrix=sparse.csr_array(
                    sparse.hstack([piece.relations, piece.relations[:, at]], format="csr")
                ),
                row_lower=none,
                row_upper=none,
                column_lower=np.concatenate([-piece.below / self._unit, np.zeros(at.size)]),
                column_upper=np.concatenate([piece.above / self._unit, np.zeros(at.size)]),
            ),
            LinearOptions(feasibility=1e-9, optimality=1e-9),
        )
        self._columns = np.concatenate([at, piece.cells.size + np.arange(at.size)])

    def move(self, level: FloatArray, clock: Clock) -> FloatArray | None:
        """Find deviations that serve as many demands as possible.

        `level` (j,): required movement of each cell, up if positive, down if negative. Returns (k,): None if
        the program failed or the clock expired.
        """
        at, piece = self._at, self._piece
        below, above = piece.below[at], piece.above[at]
        up, down = level > 0, level < 0
        lower = [np.where(down, level, -below), np.where(down, -(below + level), 0.0)]
        upper = [np.where(up, level, above), np.where(up, above - level, 0.0)]
        worth = np.where(level == 0, 0.0, self._unit / np.where(level == 0, 1.0, level))
        self._program.change_objective(self._columns, np.concatenate([-worth, np.zeros(at.size)]))
        self._program.change_column_bounds(
            self._columns, np.concatenate(lower) / self._unit, np.concatenate(upper) / self._unit
        )
        self._program.forget_basis()
        solution = solved_by(self._program, clock)
        if not solution.optimal:
            return None
        point = solution.point * self._unit
        moved: FloatArray = point[: piece.cells.size].copy()
        moved[at] += point[piece.cells.size :]
        return moved


PHASE = "auditing levels"


@dataclass(frozen=True, eq=False)
class Met:
    """Result: the demands that hold."""

    unmet: tuple[Demand, ...]  # demands proven unmet
    undecided: tuple[Demand, ...]  # demands undecided for want of time
    reach: Reach  # lower bounds on how far cells go; exact for unmet demands
    witnesses: tuple[Witness, ...]  # recomputed; they prove all demands that are neither unmet nor undecided

    @property
    def all(self) -> bool:
        """Tell whether every demand is met."""
        return not self.unmet and not self.undecided


def unmet(
    table: CellTable,
    suppressed: BoolArray,
    clock: Clock | None = None,
    *,
    demands: Sequence[Demand] | None = None,
    known: Iterable[Witness] = (),
    report: Reporter | None = None,
) -> Met:
    """Find the demands that a pattern does not meet.

    It solves a few linear programs for each connected piece (`pieces`) if most demands are met, and two for
    each demand that is not.

    `table`: also as seen by an insider (`CellTable.seen_by`). `suppressed` (n,). `clock`: when it has
    expired, demands without witnesses are undecided. `demands`: those of the table by default. `known`:
    witnesses from another pattern or attacker, used if they are still valid. `report`: called with the number
    of demands met.
    """
    clock = clock or Clock(None)
    asked = tuple(table.demands if demands is None else demands)
    witnesses = valid(table, suppressed, list(known))
    reach = counted_reach(table, suppressed, witnesses)
    unknown = suppressed & ~known_exactly(table, suppressed)
    undecided: set[Demand] = set()
    open_ = [one for one in asked if not reach.meets(one, tolerances.ANSWERED)]
    if not open_:
        return Met((), (), reach, tuple(witnesses))
    total, done = len(asked), len(asked) - len(open_)
    by_cell: dict[int, list[Demand]] = {}
    for one in open_:
        by_cell.setdefault(one.cell, []).append(one)
    for piece in pieces_of(table, unknown):
        own = [one for cell in piece.cells.tolist() for one in by_cell.get(cell, ())]
        if not own:
            continue
        if clock.expired:
            undecided.update(own)
            continue
        search = _Search(piece, own, clock)
        undecided.update(search.run())
        witnesses += search.witnesses()
        done += len(own)
        if report is not None:
            report(Progress.uncounted(PHASE, f"{done:,} of {total:,} levels", done=done / total))
    reach = counted_reach(table, suppressed, witnesses)
    left = [one for one in open_ if not reach.meets(one, tolerances.ANSWERED)]
    return Met(
        tuple(one for one in left if one not in undecided),
        tuple(one for one in left if one in undecided),
        reach,
        tuple(witnesses),
    )


@dataclass(eq=False)
class _Search:
    """Search for the demands of a piece."""

    piece: Piece
    demands: list[Demand]
    clock: Clock
    _kept: dict[int, FloatArray] = field(default_factory=dict, init=False)
    _points: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        size = self.piece.cells.size
        self._place = np.searchsorted(self.piece.cells, [one.cell for one in self.demands])
        self._up = np.array([one.up for one in self.demands])
        self._down = np.array([one.down for one in self.demands])
        self._level = np.array([one.level for one in self.demands])
        self._program = Furthest(self.piece)
        self._program.on_point = self._keep
        # Limit of each movement: the level, or none for the two directions of a sliding demand.
        enough = np.where(self._up & self._down, np.inf, self._level)
        self._enough = {1: np.zeros(size), -1: np.zeros(size)}
        np.maximum.at(self._enough[1], self._place[self._up], enough[self._up])
        np.maximum.at(self._enough[-1], self._place[self._down], enough[self._down])
        self._owner = {1: np.full(size, -1), -1: np.full(size, -1)}

    def run(self) -> list[Demand]:
        """Search for witnesses; return the undecided demands."""
        if len(self.demands) >= steering.DEMANDS_TOGETHER:
            if self.piece.cells.size >= steering.LEAST_ENERGY_CELLS:
                for moved in farthest(self.piece, np.unique(self._place), self.clock):
                    self._program.count(moved)
            self._together()
        for at in np.flatnonzero(self._open()).tolist():
            if self.clock.expired:
                break
            place, one = int(self._place[at]), np.array([at])
            for sign, wanted, found in (
                (1.0, self._up[at], self._program.seen.up_found),
                (-1.0, self._down[at], self._program.seen.down_found),
            ):
                if wanted and not found[place] and self._open(one)[0]:
                    self._program.settle(place, sign, self.clock)
        seen = self._program.seen
        certain = (seen.up_found[self._place] | ~self._up) & (seen.down_found[self._place] | ~self._down)
        return [self.demands[at] for at in np.flatnonzero(self._open() & ~certain).tolist()]

    def witnesses(self) -> Iterator[Witness]:
        """Return the witnesses of met demands, and the farthest ones of others."""
        for number in np.unique(np.concatenate(list(self._owner.values()))).tolist():
            if number >= 0:
                point = self._kept[number]
                at = np.flatnonzero(point)
                yield Witness(self.piece.cells[at], point[at])

    def _open(self, at: LongArray | slice = slice(None)) -> BoolArray:
        """Tell which demands, or which of some, have no witness."""
        seen, place = self._program.seen, self._place[at]
        reached = seen.up[place] * self._up[at] + seen.down[place] * self._down[at]
        return np.asarray(reached < self._level[at] * (1.0 - tolerances.ANSWERED), dtype=np.bool_)

    def _together(self) -> None:
        """Serve all open demands together, some up and some down, as long as a round meets enough of them."""
        at = np.unique(self._place)
        program, generator = Together(self.piece, at), np.random.default_rng(0)
        for _ in range(steering.ROUNDS_TOGETHER):
            before = np.flatnonzero(self._open())
            if before.size < steering.DEMANDS_TOGETHER or self.clock.expired:
                return
            moved = program.move(self._goals(at, before, generator), self.clock)
            if moved is not None:
                self._program.count(moved)
                self._program.count(_opposite(self.piece, moved))
            if before.size - int(self._open().sum()) < max(1.0, steering.LEAST_YIELD * before.size):
                return

    def _goals(self, at: LongArray, open_: LongArray, generator: np.random.Generator) -> FloatArray:
        """Choose the goal of each cell in a round: up or down, at random if either is open."""
        seen, goals = self._program.seen, np.zeros(at.size)
        for number in generator.permutation(open_).tolist():
            place, level = int(self._place[number]), float(self._level[number])
            both = self._up[number] and self._down[number]
            up = self._up[number] and not (both and generator.random() < 0.5)
            if both:
                level -= float(seen.down[place] if up else seen.up[place])
            limit = float(self.piece.above[place] if up else self.piece.below[place])
            goals[np.searchsorted(at, place)] = min(level, limit) * (1.0 if up else -1.0)
        return goals

    def _keep(self, point: FloatArray) -> None:
        """Keep a point that moves a cell with an open demand farther than those before."""
        seen, better = self._program.seen, False
        for sign, so_far in ((1, seen.up), (-1, seen.down)):
            further = (sign * point > so_far) & (so_far < self._enough[sign] * (1.0 - tolerances.ANSWERED))
            if further.any():
                self._owner[sign][further], better = self._points, True
        if better:
            self._kept[self._points] = point
            self._points += 1
            if len(self._kept) % 64 == 0:
                alive = set(np.concatenate(list(self._owner.values())).tolist())
                self._kept = {number: one for number, one in self._kept.items() if number in alive}


def _opposite(piece: Piece, moved: FloatArray) -> FloatArray:
    """Reverse a movement, scaled to the bounds of all cells."""
    room, wanted = np.where(moved > 0, piece.below, piece.above), np.abs(moved)
    going = wanted > 0
    share = float(np.min(room[going] / wanted[going], initial=1.0))
    return -share * moved
