"""What `compare` prints: the exact engine and every backend, side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from linkrisk.solver.commands.contest_verdict import wrong
from linkrisk.solver.commands.wording import heading, table
from linkrisk.solver.run.results import is_bound
from linkrisk.solver.worst_case.contest import EXACT, BackendRow
from linkrisk.solver.worst_case.operations.compare import ComparisonResult

_COLUMNS = {
    "engine": "engine",
    "backend": "backend",
    "status": "status",
    "limit": "limit",
    "linked": "linked",
    "linked_upper_bound": "at most",
    "gap": "gap",
    "build_seconds": "build s",
    "solve_seconds": "solve s",
    "peak_memory_mb": "peak MB",
    "version": "version",
}


def summary(result: ComparisonResult) -> str:
    """The comparison as a table."""
    lines = heading(result.details, result.details["records"])
    size = next((row for row in result.rows if row.rows is not None), None)
    if size is not None:
        lines.append(f"model: {size.rows} rows, {size.columns} columns, {size.nonzeros} non-zeros")
    total = result.details.get("total_weight", result.details["records"])
    rows = [
        [getattr(row, field) for field in _COLUMNS] for row in (_shown(row, total) for row in result.rows)
    ]
    notes = [f"note: {note}" for note in result.details["notes"]]
    return (
        "\n".join([*lines, "", *table(list(_COLUMNS.values()), rows), "", *notes, *_verdict(result)]) + "\n"
    )


def _shown(row: BackendRow, total: float) -> BackendRow:
    """The same without a bound that says no more than that all can be linked, and its gap."""
    most = row.linked_upper_bound
    says = most is None or row.status == "optimal" or is_bound(row.linked or 0.0, most, total)
    return row if says else replace(row, linked_upper_bound=None, gap=None)


def _verdict(result: ComparisonResult) -> list[str]:
    if lines := wrong(result):
        return lines
    claims = sum(row.status == "optimal" for row in result.rows)
    lines = [f"{claims} of {len(result.rows)} claim a proof; no two contradict each other"]
    if max((row.linked or 0.0 for row in result.rows), default=0.0) > _least_bound(result.rows):
        lines.append(
            f"note: bounds of backends hold for parameters that keep the margin of "
            f"{result.details['margin']:g}; some records are linked by less; a smaller --margin counts them"
        )
    return lines


def _least_bound(rows: Sequence[BackendRow]) -> float:
    """The smallest bound of a backend; the exact engine's speaks about links of any margin."""
    bounds = [row.linked_upper_bound for row in rows if row.engine != EXACT]
    return min((bound for bound in bounds if bound is not None), default=math.inf)
