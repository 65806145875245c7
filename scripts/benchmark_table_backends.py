"""Cell suppression, rounding and adjustment as a benchmark of optimisers: every backend on the same tables.

python scripts/benchmark_table_backends.py CELLS... [--problem suppress] [--time-limit 30] [--backends A,B]

Each CELLS is a file `NAME_cells.csv` with `NAME_equations.csv` (or `.csv.gz`) or `NAME_relations.csv` beside.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from linkrisk import compare_table
from linkrisk.datasets.tables.stored_table import StoredTable, read_cells_and_relations

_COLUMNS = (
    *("name", "status", "cost", "bound", "proven", "audit"),
    *("rows_added", "solve_seconds", "peak_memory_mb"),
)


def main() -> None:
    """Print a line for each table and backend, then how many optima each has proven."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cells", nargs="+", type=Path)
    parser.add_argument("--problem", default="suppress")
    parser.add_argument("--time-limit", type=float, default=30.0)
    parser.add_argument("--backends")
    arguments = parser.parse_args()
    names = arguments.backends.split(",") if arguments.backends else None
    proven: dict[str, int] = {}
    print("table", *_COLUMNS)
    for path in arguments.cells:
        found = compare_table(
            _table(path), problem=arguments.problem, backends=names, time_limit=arguments.time_limit
        )
        for row in found.rows:
            said = [_said(getattr(row, one)) for one in _COLUMNS]
            print(path.name.removesuffix("_cells.csv"), *said, flush=True)
            proven[row.name] = proven.get(row.name, 0) + row.proven
        for sentence in found.disagreements:
            print(f"DISAGREEMENT: {sentence}", flush=True)
    print("proven", *(f"{name}={count}" for name, count in proven.items()))


def _said(value: object) -> str:
    return f"{value:.10g}" if isinstance(value, float) else "-".join(str(value).split())


def _table(path: Path) -> StoredTable:
    name = path.name.removesuffix("_cells.csv")
    beside = [
        path.with_name(f"{one}_{end}")
        for one in (name, name.rpartition("_")[0])  # several rules of one table share its relations
        for end in ("relations.csv", "equations.csv", "equations.csv.gz")
    ]
    frame = pd.read_csv(path)
    if "status" not in frame.columns:
        frame["status"] = np.where(frame["sensitive"], "u", "s")
        frame = frame.fillna(0.0)
    return read_cells_and_relations(frame, pd.read_csv(next(one for one in beside if one.exists())))


if __name__ == "__main__":
    main()
