"""Finds demands that cannot be met, whatever is suppressed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linkrisk.formulations.tables.attacker_knowledge import AttackerKnowledge
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.formulations.tables.units import in_units
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.attackers.insider_attacks import InsiderAttacks, Unmet
from linkrisk.solver.tables.attackers.insiders import InsiderAudit
from linkrisk.solver.tables.attackers.integer_attacks import unreachable_in_whole_numbers

_SHOWN = 3
_ADVICE = "lower their levels, let more cells be suppressed, or go as far as possible"


def unreachable(table: CellTable, clock: Clock | None = None) -> list[Unmet]:
    """List the demands that cannot be met if all free cells are suppressed.

    `table`: with its insiders. Raises OutOfTimeError if the clock expires before all demands are decided.
    """
    if table.counts:
        return unreachable_in_whole_numbers(table, clock)
    seen, unit = in_units(table)
    attacks = InsiderAttacks(AttackerKnowledge.of(seen), clock)
    attacks.knows((~table.fixed).astype(np.float64))
    found = [one for demand in seen.demands for one in attacks.unmet(demand, everybody=True)]
    return [
        replace(one, found=one.found * unit, demand=replace(one.demand, level=one.demand.level * unit))
        for one in found
    ]


def short_of_its_level(table: CellTable, cell: int, short: float) -> str:
    """Describe a cell that misses its level whatever is suppressed."""
    return (
        f"{table.title(cell)} cannot be protected: with all cells suppressed it is still short of its level "
        f"by {short:g}; lower its level, or let more cells be suppressed"
    )


def kept_from_nobody(table: CellTable) -> str:
    """Describe the demands that cannot be met, with their attackers."""
    found = unreachable(table)
    names = ("the outsider", *(one.name for one in table.insiders))
    shown = "; ".join(
        f"{table.title(one.demand.cell)} from {names[one.owner]}, by {one.demand.level - one.found:g}"
        for one in found[:_SHOWN]
    )
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f"not protected, whatever is suppressed: {shown}{more}; {_ADVICE}"


def found_by_the_audit(table: CellTable, audit: InsiderAudit) -> str:
    """Return the worst unmet demand of each cell, from an audit with all free cells suppressed."""
    wrong = (audit.short > 0).nonzero()[0]
    shown = "; ".join(
        f"{table.title(int(audit.cells[at]))} from {audit.names[audit.short_of[at]]}, by {audit.short[at]:g}"
        for at in wrong[:_SHOWN]
    )
    more = f" and {wrong.size - _SHOWN} more cells" if wrong.size > _SHOWN else ""
    return f"not protected, whatever is suppressed: {shown}{more}; {_ADVICE}"
