"""Summarise the answer of `compare`: one line per optimiser, and conflicts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from linkrisk.errors import called
from linkrisk.solver.charts.chart import Column, Of, Table
from linkrisk.solver.documents.document import Document
from linkrisk.solver.documents.short import short
from linkrisk.solver.documents.wording import agreement, conflicts, heading
from linkrisk.solver.run.clock import Status
from linkrisk.solver.schemas.intervals import is_bound
from linkrisk.solver.schemas.keys import Json

_COLUMNS = (
    *(Column(name, name) for name in ("engine", "backend", "status", "limit")),
    *(Column("linked", "linked", Of.NUMBER), Column("linked_upper_bound", "at most", Of.NUMBER)),
    *(Column("gap", "gap", Of.NUMBER), Column("build_seconds", "build s", Of.NUMBER)),
    *(Column("solve_seconds", "solve s", Of.NUMBER), Column("peak_memory_mb", "peak MB", Of.NUMBER)),
    Column("version", "version"),
)


def comparison(result: Json) -> Document:
    """Summarise the JSON of `compare`."""
    rows = result["backends"]
    total = result.get("total_weight", result["records"])
    claims = sum(row["status"] == Status.OPTIMAL for row in rows)
    wrong = conflicts(result)
    return short(
        [Table(_COLUMNS, [_row(row, total) for row in rows])],
        said=agreement(wrong, f"{claims} of {len(rows)} claim a proof"),
        asked=[*heading(result), *_model(rows)],
        notes=[*result["notes"], *([] if wrong else _beyond_margin(result))],
    )


def _model(rows: Sequence[Json]) -> Iterator[str]:
    """Describe the size of the big-C model, which the exact engine does not build."""
    for row in rows:
        if row["rows"] is not None:
            yield f"model: {row['rows']} rows, {row['columns']} columns, {row['nonzeros']} non-zeros"
            return


def _row(row: Json, total: float) -> list[Any]:
    """Make a line of the table, without a trivial bound and its gap."""
    most = row["linked_upper_bound"]
    says = most is None or row["status"] == Status.OPTIMAL or is_bound(row["linked"] or 0.0, most, total)
    left_out = () if says else ("linked_upper_bound", "gap")
    return [None if one.name in left_out else row[one.name] for one in _COLUMNS]


def _beyond_margin(result: Json) -> Iterator[str]:
    """Explain why links may exceed a backend's bound; the exact engine's covers links of any margin."""
    bounds = [row["linked_upper_bound"] for row in result["backends"] if row["backend"] is not None]
    least = min((bound for bound in bounds if bound is not None), default=math.inf)
    if max((row["linked"] or 0.0 for row in result["backends"]), default=0.0) > least:
        yield (
            f"bounds of backends hold for parameters that keep the margin of {result['margin']:g}; some "
            f"records are linked by less; a smaller {called('margin')} counts them"
        )
