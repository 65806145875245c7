"""An audit of levels alone: for tables with more suppressed cells than there is time for their intervals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linkrisk.arrays import BoolArray
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.formulations.tables.units import in_units
from linkrisk.formulations.tables.witnesses import Reach
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.progress import Reporter
from linkrisk.solver.tables.attackers.audit import Audit
from linkrisk.solver.tables.attackers.demands import Met, unmet
from linkrisk.solver.tables.attackers.integer_audit import integer_unmet
from linkrisk.solver.tables.attackers.pieces import known_exactly


def audit_levels(
    table: CellTable, suppressed: BoolArray, clock: Clock | None = None, report: Reporter | None = None
) -> Audit:
    """Find out which levels hold; of the intervals only what is needed for that.

    `suppressed` (n,). `clock`: when it has run out, cells that were not seen to be protected are undecided.
    Returns: its intervals are what witnesses prove at least, and count as not audited, but for cells that a
    relation gives away.
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
    """Which levels hold; of counts in whole numbers."""
    if not table.counts:
        return unmet(table, suppressed, clock, report=report)
    found = integer_unmet(replace(table, insiders=()), suppressed, clock, report)
    missed = tuple(one for _, one, _ in found.unmet)
    open_ = tuple(one for _, one in found.undecided)
    return Met(missed, open_, Reach(found.down, found.up), ())


def _reached(demand: Demand, up: float, down: float) -> float:
    return up * demand.up + down * demand.down
