"""`audit_table`: what attackers find out of suppressed cells."""

from __future__ import annotations

from pathlib import Path

from linkrisk.datasets.tables.cells_and_relations import (
    SECONDARY,
    read_cells_and_relations,
)
from linkrisk.solver.api.keywords import checked_keywords
from linkrisk.solver.api.tables.result import TableResult, table_result
from linkrisk.solver.api.tables.source import cell_table
from linkrisk.solver.tables.attackers.audit import audit


@checked_keywords
def audit_table(cells: str | Path, relations: str | Path) -> TableResult:
    """Find the interval of every suppressed cell, by whatever means it was chosen.

    Parameters
    ----------
    cells, relations : path
        See `protect_table`; the suppressed cells have the status ``u`` or ``m``.

    Returns
    -------
    TableResult

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the table cannot be read, or does not add up.
    """
    stored = read_cells_and_relations(cells, relations)
    table = cell_table(stored, "unit")
    suppressed = table.primary | (stored.status == SECONDARY)
    return table_result(stored, table, suppressed, audit(table, suppressed), None, (None, None), {})
