"""`audit_table`: what attackers find out of suppressed cells."""

from __future__ import annotations

from linkrisk.datasets.tables.cells_and_relations import SECONDARY
from linkrisk.solver.api.keywords import checked_keywords
from linkrisk.solver.api.tables.result import TableResult, table_result
from linkrisk.solver.api.tables.source import Frame, TableSource, cell_table, table_from
from linkrisk.solver.tables.attackers.audit import audit


@checked_keywords
def audit_table(cells: TableSource, relations: Frame | None = None) -> TableResult:
    """Find the interval of every suppressed cell, by whatever means it was chosen.

    Parameters
    ----------
    cells, relations : path, frame or StoredTable
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
    stored = table_from(cells, relations)
    table = cell_table(stored, "unit")
    suppressed = table.primary | (stored.status == SECONDARY)
    return table_result(stored, table, suppressed, audit(table, suppressed), None, (None, None), {})
