"""A table with those who attack it: what protection and audit start from, of values and counts alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from linkrisk.datasets.tables.beside import split_beside, with_thresholds
from linkrisk.datasets.tables.cells_and_relations import StoredTable
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.operations.counts import Counting, in_reach
from linkrisk.solver.tables.operations.insiders import Attacked, Attackers, with_insiders
from linkrisk.solver.tables.operations.source import cell_table, check_adds_up


@dataclass(frozen=True, eq=False)
class AttackedTable:
    """A table and its attackers.

    Attributes
    ----------
    stored : StoredTable
    table : CellTable
        With insiders; levels are those that can be reached.
    counting : Counting or None
        What is known of it because its values are counts.
    who : Attacked
    """

    stored: StoredTable
    table: CellTable
    counting: Counting | None
    who: Attacked

    @classmethod
    def of(
        cls,
        stored: StoredTable,
        table: CellTable,
        attackers: Attackers,
        clock: Clock | None,
        reach: tuple[Clock, bool],
    ) -> Self:
        """With insiders, and levels that can be reached.

        Parameters
        ----------
        stored : StoredTable
        table : CellTable
        attackers : Attackers
        clock : Clock or None
            For what can be kept from insiders.
        reach : tuple of Clock, bool
            For what can be reached in whole numbers, and whether anything else is refused.
        """
        stored, table, counting = in_reach(stored, table, reach[0], refuse=reach[1])
        who = with_insiders(table, stored, attackers, clock)
        return cls(stored, who.table, counting, who)


def opened_system(stored: StoredTable, cost: str) -> list[tuple[StoredTable, CellTable]]:
    """The table of the values, and where they are published beside them that of numbers of respondents.

    What a cell costs in one it costs in the other.

    Raises
    ------
    UsageError, DataError, FormulationError
        If one is none, or does not add up.
    """
    values, counts = split_beside(stored)
    table = cell_table(values, cost)
    if counts is None:
        return [(values, table)]
    check_adds_up(counts)

    def title(cell: int) -> str:
        return f"the number of respondents of {values.named(cell)}"

    return [(values, table), (counts, replace(cell_table(counts, "unit"), cost=table.cost, title=title))]


def attacked_system(
    system: list[tuple[StoredTable, CellTable]],
    attackers: Attackers,
    clock: Clock | None,
    reach: tuple[Clock, bool],
) -> list[AttackedTable]:
    """The tables of a system with those who attack them (`AttackedTable.of`)."""
    found = [
        AttackedTable.of(stored, table, replace(attackers, beside=at > 0), clock, reach)
        for at, (stored, table) in enumerate(system)
    ]
    if len(found) > 1:
        found[0] = replace(found[0], stored=with_thresholds(found[0].stored, found[1].stored))
    return found
