"""Cell suppression beside the optima of the reference program, table by table, on this machine.

    python scripts/benchmark_tables.py --folder ../shared/bench/tables [--parts ref,random,csplib]
        [--most-cells 3000] [--time-limit 150] [--reference PYTHON] [--only WORD]

Processor seconds of the search, from a table in memory to a pattern, apart from those of the audit. With
`--reference`, an interpreter that has the package `pytauargus`, its engine protects the same tables (as JJ
files, which it reads within its time); the least of two calls counts, here as there. A bound that is below
the cost is printed with the gap; the geometric mean is over tables that both prove.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from linkrisk.datasets.tables.argus.jj_files import jj_text
from linkrisk.datasets.tables.stored_table import StoredTable, read_cells_and_relations
from linkrisk.solver.compiling.ahead import TABLES, compile_once
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.attackers.audit import audit
from linkrisk.solver.tables.operations.source import cell_table
from linkrisk.solver.tables.suppression.cell_suppression import suppress_cells

_RULES = {"P(10,1)": "P10-1", "NK(2,75)": "NK2-75"}
_COSTS = {"OPTvalue": "value", "OPTunit": "unit"}
_LONG = 4.0
"""Seconds from which a call is not repeated."""

_REFERENCE = """
import json, sys, time
import pytauargus
jj, folder, limit = sys.argv[1:]
control, least = pytauargus.HiTaSCtrl(), float("inf")
for _ in range(2):
    before = time.process_time()
    code = control.full_jj(in_file_jj=jj, out_file=jj + ".out", max_time=int(limit), out_dir=folder)
    least = min(least, time.process_time() - before)
    if least > 4:
        break
print(json.dumps([code, least, [int(line.split()[0]) for line in open(jj + ".out") if line.strip()]]))
"""


@dataclass(frozen=True)
class Case:
    """A table with a way of counting costs, and what is known of it."""

    name: str
    cost: str
    cells: Path
    relations: Path
    known: float
    proven: bool


def main() -> None:
    """Print a line for each table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--parts", default="ref")
    parser.add_argument("--most-cells", type=int, default=3000)
    parser.add_argument("--time-limit", type=float, default=150.0)
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    compile_once(TABLES)
    print("table cost cells sensitive known ours bound gap-percent seconds audit-seconds reference ratio")
    ratios = []
    for part in arguments.parts.split(","):
        for case in cases(arguments.folder / part, arguments.most_cells):
            if arguments.only in f"{case.name} {case.cost}":
                ratios += _line(case, arguments.time_limit, arguments.reference)
    if ratios:
        print(f"geometric mean of the ratios: {np.exp(np.mean(np.log(ratios))):.3f} ({len(ratios)} tables)")


def cases(folder: Path, most: int) -> Iterator[Case]:
    """The tables of a folder with at most so many cells."""
    if folder.name == "ref":
        wanted = pd.read_csv(folder / "reference.csv")
        wanted = wanted[wanted["method"].isin(_COSTS) & (wanted["cells"] <= most)]
        for row in wanted.itertuples():
            name = f"{row.table}_{_RULES[row.rule]}"
            relations = folder / f"{row.table}_equations.csv.gz"
            known, proven = row.objective_secondaries, row.status == "proven optimal"
            yield Case(name, _COSTS[row.method], folder / f"{name}_cells.csv", relations, known, proven)
        return
    known = pd.read_csv(folder / "suppression_reference.csv").set_index(["instance", "cost"])
    for row in pd.read_csv(folder / "instances.csv").itertuples():
        for cost in _COSTS.values() if row.cells <= most else ():
            there = (row.instance, cost) in known.index
            best = known.loc[(row.instance, cost), "objective_secondaries"] if there else np.nan
            proven = there and known.loc[(row.instance, cost), "status"] == "proven optimal"
            yield Case(row.instance, cost, folder / row.cells_file, folder / row.equations_file, best, proven)


def stored(case: Case) -> StoredTable:
    """Cells whose bounds leave nothing open are always published; costs are whole, as the reference's."""
    cells = pd.read_csv(case.cells)
    if "status" not in cells:
        sensitive, decided = cells["sensitive"] == 1, cells["lower_bound"] == cells["upper_bound"]
        cells["status"] = np.where(sensitive, "u", np.where(decided, "z", "s"))
        for side, room in (
            ("lower", cells["value"] - cells["lower_bound"]),
            ("upper", cells["upper_bound"] - cells["value"]),
        ):
            cells[f"{side}_protection"] = np.minimum(cells[f"{side}_protection"], room)
    whole = np.maximum(1.0, np.round(np.abs(cells["value"])))
    cells["cost"] = whole if case.cost == "value" else 1.0
    wanted = ["value", "status", "lower_protection", "upper_protection", "lower_bound", "upper_bound", "cost"]
    relations = pd.read_csv(case.relations)
    return read_cells_and_relations(cells[[name for name in wanted if name in cells]], relations)


def _line(case: Case, limit: float, reference: Path | None) -> list[float]:
    """Protect a table and print what was found; the ratio to the reference, where both prove."""
    made = stored(case)
    table, least = cell_table(made, "given"), np.inf
    for _ in range(2):
        before = time.process_time()
        found = suppress_cells(table, None, Clock(limit))
        least = min(least, time.process_time() - before)
        if least > _LONG:
            break
    before = time.process_time()
    assert audit(table, found.suppressed).passed, f"{case.name}: the pattern does not protect"
    audited = time.process_time() - before
    gap = 100.0 * (found.cost - found.bound) / max(found.cost, 1.0)
    said = [case.name, case.cost, len(table), int(table.primary.sum()), f"{case.known:g}"]
    said += [f"{found.cost:g}", f"{found.bound:g}", f"{gap:.2f}", f"{least:.3f}", f"{audited:.3f}"]
    other = None if reference is None else _reference(made, reference, limit)
    ratio = [] if other is None or not (found.proven and case.proven) else [least / other]
    print(*said, "-" if other is None else f"{other:.3f}", *[f"{one:.2f}" for one in ratio], flush=True)
    return ratio


def _reference(made: StoredTable, python: Path, limit: float) -> float | None:
    """Processor seconds of the reference program; None where it does not end in time."""
    with tempfile.TemporaryDirectory() as folder:
        jj = Path(folder) / "table.jj"
        jj.write_text(jj_text(made))
        command = [str(python), "-c", _REFERENCE, str(jj), folder, str(int(limit))]
        try:
            ended = subprocess.run(
                command, capture_output=True, text=True, timeout=4 * limit, cwd=folder, check=True
            )
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
            return None
        return float(json.loads(ended.stdout.strip().splitlines()[-1])[1])


if __name__ == "__main__":
    main()
