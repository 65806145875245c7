"""Audits a pattern: the feasibility intervals of all cells, or protection levels alone.

It computes the interval that an attacker finds for each suppressed cell, and shares with the search only the
optimiser, whose answers it recomputes (`pieces.Furthest`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.formulations.tables.units import in_units
from linkrisk.formulations.tables.witnesses import Reach
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.run.workers import Processes, Sequential, Workers
from linkrisk.solver.tables import steering, tolerances
from linkrisk.solver.tables.attackers.demands import Met, unmet
from linkrisk.solver.tables.attackers.integer_audit import IntegerEnds, integer_ends, integer_unmet
from linkrisk.solver.tables.attackers.pieces import Ends, Furthest, Piece, known_exactly, pieces_of

Task = TypeVar("Task")
Answer = TypeVar("Answer")


@dataclass(eq=False)
class Work:
    """Data shared by all tasks; each process builds the programs of its own pieces."""

    pieces: list[Piece]
    _now: tuple[int, Furthest] | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, object]:
        """Drop the program of the optimiser."""
        return {"pieces": self.pieces, "_now": None}

    def program(self, number: int) -> Furthest:
        """Return the program of a piece; the last one is kept with its stored points."""
        if self._now is None or self._now[0] != number:
            self._now = (number, Furthest(self.pieces[number]))
        return self._now[1]


def answers(
    work: Work,
    do: Callable[[Work, tuple[int, Task], Clock], Answer],
    tasks: Sequence[Task],
    clock: Clock,
    workers: int | None,
) -> Iterator[tuple[Task, Answer]]:
    """Yield the answers to tasks in order of completion, as far as time allows.

    `do`: a function at the top level of a module, called with a number and its task. `workers`: processes
    beside this one.
    """
    pool: Workers[Work] = Sequential(work) if workers is None else Processes(work, workers, 1)
    try:
        for at, answer in pool.every(do, list(enumerate(tasks)), clock, lambda _: clock.remaining):
            yield tasks[at], answer
    finally:
        pool.close()


PHASE = "auditing"


_Task = tuple[int, LongArray]
"""A piece, and places in it."""


@dataclass(frozen=True, eq=False)
class Audit:
    """Result of an audit against one attacker."""

    cells: LongArray  # (k,) the suppressed cells, and sensitive cells that are not suppressed
    # `low`, `high`: (k,) feasibility intervals, or inner bounds on them where `audited` is False
    low: FloatArray
    high: FloatArray
    short: FloatArray  # (k,) largest shortfall of its levels; 0 if all are met
    exact: BoolArray  # (k,) cells that are known exactly
    # (k,) whether both ends are proven; False only if the audit ended early or a piece was left out
    audited: BoolArray
    undecided: BoolArray  # (k,) sensitive cells with a level that is undecided

    def times(self, unit: float) -> Audit:
        """Convert results from scaled units to values."""
        return replace(self, low=self.low * unit, high=self.high * unit, short=self.short * unit)

    @property
    def passed(self) -> bool:
        """Tell whether all sensitive cells are protected: a witness meets every level."""
        return not ((self.short > 0) | self.undecided).any()


def audit(
    table: CellTable,
    suppressed: BoolArray,
    clock: Clock | None = None,
    *,
    report: Reporter | None = None,
    workers: int | None = None,
    wanted: BoolArray | None = None,
) -> Audit:
    """Compute the feasibility interval of every suppressed cell.

    It solves up to two linear programs per cell with a warm start, each as large as the connected piece of
    the cell (`pieces`): about a millisecond for pieces of some hundred cells, ten for some thousand. Insiders
    are audited by ``table.seen_by(insider)``; for them only the pieces of the cells they know change, which
    `wanted` can select. Where levels matter and intervals do not, `demands.unmet` is cheaper.

    `suppressed` (n,): sensitive cells outside of it are known exactly, and so not protected. `clock`: when it
    has expired, remaining cells are not audited, and protected only if witnesses already meet their levels.
    `report`: called with the number of audited cells. `workers`: processes beside this one; useful from some
    thousand suppressed cells in one piece. Integral ends of counts are computed in this process. `wanted`
    (n,): cells whose intervals are computed, all by default; the others are not audited.
    """
    clock = clock or Clock(None)
    table, unit = in_units(table)
    known = known_exactly(table, suppressed)
    unknown = suppressed & ~known
    work = Work(list(pieces_of(table, unknown)))
    ends = Ends(np.zeros(len(table)), np.zeros(len(table)), ~unknown, ~unknown)
    tasks = list(_tasks(work.pieces, wanted))
    total, done = sum(at.size for _, at in tasks), 0
    for (number, at), part in answers(work, _find, tasks, clock, workers):
        cells = work.pieces[number].cells[at]
        ends.down[cells], ends.up[cells] = part.down, part.up
        ends.down_found[cells], ends.up_found[cells] = part.down_found, part.up_found
        done += cells.size
        if report is not None:
            report(Progress.uncounted(PHASE, f"{done:,} of {total:,} cells", done=done / total))
    if table.counts:
        asked = np.ones(len(table), dtype=np.bool_) if wanted is None else wanted
        ends = _in_whole_numbers(table, unknown, ends, asked, clock, report)
    return _judged(table, suppressed | table.primary, ends).times(unit)


def _in_whole_numbers(
    table: CellTable,
    unknown: BoolArray,
    ends: Ends,
    wanted: BoolArray,
    clock: Clock,
    report: Reporter | None,
) -> Ends:
    """Return the integral ends of the intervals of counts."""
    outer = IntegerEnds(ends.down, ends.up, ends.down_found, ends.up_found)
    found = integer_ends(table, unknown, outer, unknown & wanted, clock, report)
    settled = ~unknown
    return Ends(
        found.down,
        found.up,
        settled | (found.down_found & wanted),
        settled | (found.up_found & wanted),
    )


def _tasks(pieces: Sequence[Piece], wanted: BoolArray | None) -> Iterator[_Task]:
    for number, piece in enumerate(pieces):
        at = np.arange(piece.cells.size) if wanted is None else np.flatnonzero(wanted[piece.cells])
        for start in range(0, at.size, steering.CELLS_PER_TASK):
            yield number, at[start : start + steering.CELLS_PER_TASK]


def _find(work: Work, task: tuple[int, _Task], clock: Clock) -> Ends:
    """Run a task, in any process."""
    number, at = task[1]
    return work.program(number).find(at, clock)


def _judged(table: CellTable, shown: BoolArray, ends: Ends) -> Audit:
    """Compare the intervals with the levels."""
    cells = np.flatnonzero(shown)
    own = ends.of(cells)
    audited = own.down_found & own.up_found
    short, undecided = np.zeros(cells.size), np.zeros(cells.size, dtype=np.bool_)
    for level, reach, certain in (
        (table.upper_level[cells], own.up, own.up_found),
        (table.lower_level[cells], own.down, own.down_found),
        (table.sliding_level[cells], own.up + own.down, audited),
    ):
        missed = reach < level * (1.0 - tolerances.AUDITED)
        short = np.where(missed & certain, np.maximum(short, level - reach), short)
        undecided |= missed & ~certain
    value = table.value[cells]
    exact = audited & (own.up + own.down <= 1e-6 * np.maximum(np.abs(value), 1.0))
    return Audit(cells, value - own.down, value + own.up, short, exact, audited, undecided & ~(short > 0))


def audit_levels(
    table: CellTable, suppressed: BoolArray, clock: Clock | None = None, report: Reporter | None = None
) -> Audit:
    """Decide the levels, and compute intervals only as far as needed for that.

    `suppressed` (n,). `clock`: when it has expired, cells without witnesses are undecided. Returns: its
    intervals are the ranges that witnesses prove, and count as not audited, except for cells that a relation
    discloses.
    """
    table, unit = in_units(table)
    found = _met(table, suppressed, clock, report)
    cells = np.flatnonzero(suppressed | table.primary)
    up, down = found.reach.up[cells], found.reach.down[cells]
    place = {int(cell): at for at, cell in enumerate(cells)}
    short, undecided = np.zeros(cells.size), np.zeros(cells.size, dtype=np.bool_)
    for demand in found.unmet:
        at = place[demand.cell]
        short[at] = max(short[at], demand.level - _reached(demand, float(up[at]), float(down[at])))
    undecided[[place[demand.cell] for demand in found.undecided]] = True
    exact = (known_exactly(table, suppressed) | ~suppressed)[cells]
    return Audit(
        cells=cells,
        low=table.value[cells] - down,
        high=table.value[cells] + up,
        short=short,
        exact=exact,
        audited=exact.copy(),
        undecided=undecided & ~(short > 0),
    ).times(unit)


def _met(table: CellTable, suppressed: BoolArray, clock: Clock | None, report: Reporter | None) -> Met:
    """Decide the levels; those of counts by integral witnesses."""
    if not table.counts:
        return unmet(table, suppressed, clock, report=report)
    found = integer_unmet(replace(table, insiders=()), suppressed, clock, report)
    missed = tuple(one for _, one, _ in found.unmet)
    open_ = tuple(one for _, one in found.undecided)
    return Met(missed, open_, Reach(found.down, found.up), ())


def _reached(demand: Demand, up: float, down: float) -> float:
    return up * demand.up + down * demand.down
