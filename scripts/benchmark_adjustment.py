"""Controlled tabular adjustment of the reference tables: cost, bound and seconds, linear and with squares.

python scripts/benchmark_adjustment.py FOLDER [--time-limit 60] [--tables TARGUS,TABLE8]

FOLDER holds `NAME_cells.csv`, `NAME_equations.csv.gz` and `cta_reference.csv`.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd

from linkrisk.datasets.tables.stored_table import read_cells_and_relations
from linkrisk.formulations.tables.tabular_adjustment import TabularAdjustment
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.operations.source import cell_table
from linkrisk.solver.tables.perturbation.adjustment import adjust_cells


def main() -> None:
    """Print a line for each table, weight, and kind of way and sum."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--tables")
    arguments = parser.parse_args()
    reference = pd.read_csv(arguments.folder / "cta_reference.csv")
    names = arguments.tables.split(",") if arguments.tables else list(dict.fromkeys(reference["instance"]))
    print("table weight up squares cost bound proven reference cpu_seconds")
    for name in names:
        for weight in ("1/value", "1"):
            for up in (True, False):
                _lines(arguments, reference, (name, weight, up))


def _lines(arguments: argparse.Namespace, reference: pd.DataFrame, case: tuple[str, str, bool]) -> None:
    name, weight, up = case
    directions = reference["directions"].str.startswith("all") == up
    known = reference[(reference["instance"] == name) & (reference["weight"] == weight) & directions]
    for squares in (False, True):
        started = time.process_time()
        problem = TabularAdjustment(**_table(arguments.folder, name, weight), up=up, quadratic=squares)
        backend = None if squares else get_backend("highs")
        found = adjust_cells(problem, backend, Clock(arguments.time_limit))
        seconds = time.process_time() - started
        said = "-" if squares or known.empty else f"{known['l1_objective'].iloc[0]:.10g}"
        print(
            *case,
            squares,
            f"{found.cost:.10g} {found.bound:.10g}",
            found.proven,
            said,
            f"{seconds:.1f}",
            flush=True,
        )


def _table(folder: Path, name: str, weight: str) -> dict[str, object]:
    frame = pd.read_csv(folder / f"{name}_cells.csv").fillna(0.0)
    frame["status"] = np.where(frame["sensitive"], "u", "s")
    stored = read_cells_and_relations(frame, pd.read_csv(folder / f"{name}_equations.csv.gz"))
    table = cell_table(stored, "unit")
    each = np.ones(len(table)) if weight == "1" else 1.0 / np.maximum(table.value, 1.0)
    return {"table": table, "weight": each}


if __name__ == "__main__":
    main()
