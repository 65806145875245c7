"""Audits tables of counts: intervals with integral ends, each attained by an integral witness.

Linear programs give an outer interval. Its end is exact if an integral witness attains it; otherwise an
integer program finds the end. If that takes too long, the level is met only if an integral witness reaches
it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.formulations.tables.integer_witnesses import reach_of
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.tables import tolerances
from linkrisk.solver.tables.attackers.insider_attacks import OutOfTimeError
from linkrisk.solver.tables.attackers.integer_attacks import IntegerAttacks, of_level

PHASE = "auditing in whole numbers"


@dataclass(frozen=True, eq=False)
class IntegerEnds:
    """Integral ranges of cells: lower bounds, and whether they are exact."""

    # `down`, `up`: (k,)
    down: FloatArray
    up: FloatArray
    # `down_found`, `up_found`: (k,)
    down_found: BoolArray
    up_found: BoolArray


def integer_ends(
    table: CellTable,
    suppressed: BoolArray,
    outer: IntegerEnds,
    wanted: BoolArray,
    clock: Clock,
    report: Reporter | None = None,
) -> IntegerEnds:
    """Compute the integral ranges of cells.

    `table`: of counts. `suppressed` (n,). `outer`: fractional ranges, shape (n,), and whether they are exact.
    `wanted` (n,): cells to compute; sensitive ones come first. `clock`: when it has expired, ranges stay
    lower bounds. `report`: called with the number of cells done.
    """
    attacks = IntegerAttacks(replace(table, insiders=()), clock)
    attacks.move_many(suppressed)
    most = {
        1: np.floor(np.where(outer.up_found, outer.up + tolerances.INTERVAL_END, table.above)),
        -1: np.floor(np.where(outer.down_found, outer.down + tolerances.INTERVAL_END, table.below)),
    }
    found = {sign: ~wanted | (most[sign] <= 0) for sign in (1, -1)}
    cells = np.flatnonzero(wanted)
    cells = cells[np.argsort(~table.primary[cells], kind="stable")]
    down, up = reach_of(attacks.seen.within(suppressed))
    reach, known = {1: up, -1: down}, len(attacks.seen)
    for done, cell in enumerate(cells.tolist()):
        for sign in (1, -1):
            if found[sign][cell] or reach[sign][cell] >= most[sign][cell]:
                found[sign][cell] = True
                continue
            found[sign][cell] = _settled(attacks, suppressed, cell, sign, float(most[sign][cell]))
            for one in map(attacks.seen.__getitem__, range(max(known, attacks.seen.gone), len(attacks.seen))):
                np.maximum.at(up, one.cells, one.deviations)
                np.maximum.at(down, one.cells, -one.deviations)
            known = len(attacks.seen)
        if report is not None and done % 20 == 0:
            report(Progress.uncounted(PHASE, f"{done:,} of {cells.size:,} cells", done=done / cells.size))
    return IntegerEnds(down, up, found[-1], found[1])


def _settled(attacks: IntegerAttacks, suppressed: BoolArray, cell: int, sign: int, most: float) -> bool:
    """Compute a range by an integer program and store its witness; tell whether it is exact."""
    try:
        attacks.furthest(0, cell, sign, suppressed, most)
    except OutOfTimeError:
        return False
    return True


@dataclass(frozen=True, eq=False)
class IntegerMet:
    """Result: the demands that hold against integral attacks."""

    # `down`, `up`: (n,) lower bounds on the outsider's integral ranges
    down: FloatArray
    up: FloatArray
    # unmet demands, with the number of the attacker and the range of the cell
    unmet: tuple[tuple[int, Demand, float], ...]
    undecided: tuple[tuple[int, Demand], ...]  # undecided demands


def integer_unmet(
    table: CellTable, suppressed: BoolArray, clock: Clock | None = None, report: Reporter | None = None
) -> IntegerMet:
    """Find the demands that no integral witness meets, against the outsider and all insiders.

    `suppressed` (n,). `clock`: when it has expired, demands without witnesses are undecided.
    """
    attacks = IntegerAttacks(table, clock)
    attacks.move_many(suppressed)
    unmet, undecided = [], []
    for done, (group, demand, levels) in enumerate(attacks.unseen(suppressed)):
        try:
            for owner in attacks.unmet_by(group, demand, levels, suppressed):
                missed = of_level(demand, levels[owner])
                reached = attacks.reached(owner, missed, suppressed) if suppressed[demand.cell] else 0.0
                unmet.append((owner, missed, reached))
        except OutOfTimeError:
            undecided.append((int(group[0]), demand))
        if report is not None and done % 20 == 0:
            report(Progress.uncounted(PHASE, f"{done:,} levels"))
    down, up = reach_of(attacks.seen.within(suppressed))
    return IntegerMet(down, up, tuple(unmet), tuple(undecided))


def whole_witnesses(
    table: CellTable, suppressed: BoolArray, clock: Clock | None = None
) -> tuple[list[tuple[LongArray, FloatArray]], set[Demand]]:
    """Return integral witnesses of the outsider's demands, and the demands without one."""
    attacks = IntegerAttacks(replace(table, insiders=()), clock)
    left: set[Demand] = set()
    for group, demand, levels in attacks.unseen(suppressed):
        try:
            if next(attacks.unmet_by(group, demand, levels, suppressed), None) is not None:
                left.add(demand)
        except OutOfTimeError:
            left.add(demand)
    vectors = attacks.seen.within(suppressed)
    rows = zip(vectors.indptr[:-1].tolist(), vectors.indptr[1:].tolist(), strict=True)
    return [(vectors.indices[a:b].astype(np.int64), vectors.data[a:b]) for a, b in rows], left
