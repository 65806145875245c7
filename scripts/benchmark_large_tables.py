"""Suppression of large tables: cost, bound, and what it takes.

    python scripts/benchmark_large_tables.py [--cells 2500,10000,100000] [--method modular] [--time-limit 800]
    python scripts/benchmark_large_tables.py --folder ../shared/bench/tables/csplib [--only NINENEW,HIER16]

Seeded tables of two variables with trees of three levels below the total, lognormal contributions, p % rule
with p = 10; or those of a folder with 2,000 cells and more. Cost is the value. Every pattern is audited: all
levels, by witnesses. Each table has a process of its own, so that its memory is its own.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import count
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
from benchmark_tables import Case, cases, stored
from scipy import sparse

from linkrisk.datasets.tables.code_trees import TOTAL, CodeTree
from linkrisk.datasets.tables.tabulating import Roles, tabulate
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.formulations.tables.contributions import Contributions
from linkrisk.formulations.tables.primary_rules import PPercentRule, sensitive
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.attackers.demands import unmet
from linkrisk.solver.tables.operations.source import cell_table
from linkrisk.solver.tables.suppression.large_tables import suppress_large

_TABLES = {
    "2500": (((4, 3, 3), (4, 3, 3)), 9_000),
    "10000": (((5, 4, 4), (5, 4, 4)), 40_000),
    "100000": (((6, 7, 6), (5, 8, 7)), 400_000),
}


_LEAST_CELLS = 2000
"""Of the tables of a folder."""


def main() -> None:
    """Print a line for each table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", default="2500,10000")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--method", default="modular")
    parser.add_argument("--time-limit", type=float, default=800.0)
    arguments = parser.parse_args()
    names = arguments.cells.split(",")
    if arguments.folder is not None:
        names = arguments.only.split(",") if arguments.only else list(_cases(arguments.folder))
    print("table cells sensitive secondary cost of-all-% bound gap-% seconds cpu-seconds peak-MB")
    for name in names:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
            said = (name, arguments.folder, arguments.method, arguments.time_limit)
            print(alone.submit(_line, *said).result(), flush=True)


def _line(name: str, folder: Path | None, method: str, limit: float) -> str:
    """Protect a table, and what there is to say of it."""
    table = _table(*_TABLES[name]) if folder is None else cell_table(stored(_cases(folder)[name]), "given")
    started, cpu = time.monotonic(), time.process_time()
    found = suppress_large(table, method, Clock(limit))
    seconds, cpu = time.monotonic() - started, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    assert unmet(table, found.suppressed).all
    gap = 100.0 * (found.cost - found.bound) / max(found.cost, 1.0)
    share = 100.0 * found.cost / table.cost_of(~table.fixed)
    secondary = int((found.suppressed & table.free).sum())
    counted = (name, len(table), int(table.primary.sum()), secondary, f"{found.cost:.0f}", f"{share:.1f}")
    how = (f"{found.bound:.0f}", f"{gap:.1f}", f"{seconds:.0f}", f"{cpu:.0f}", peak)
    return " ".join(str(one) for one in (*counted, *how))


def _cases(folder: Path) -> dict[str, Case]:
    """The large tables of a folder by name."""
    kept = (one for one in cases(folder, sys.maxsize) if one.cost == "value")
    return {one.name: one for one in kept if len(one.cells.read_text().splitlines()) > _LEAST_CELLS}


def _tree(variable: str, branches: tuple[int, ...]) -> tuple[CodeTree, list[str]]:
    """A tree with so many codes below each one, level by level, and its leaves."""
    numbers, codes, parents, level = count(1), [TOTAL], [-1], [0]
    for many in branches:
        above, level = level, []
        for parent in above:
            for _ in range(many):
                level.append(len(codes))
                codes.append(f"{variable}{next(numbers)}")
                parents.append(parent)
    tree = CodeTree(variable, tuple(codes), np.array(parents, dtype=np.int64))
    return tree, [codes[at] for at in level]


def _table(branches: tuple[tuple[int, ...], ...], records: int) -> CellTable:
    generator = np.random.default_rng(1)
    trees, leaves = zip(*(_tree(f"v{at}", one) for at, one in enumerate(branches)), strict=True)
    columns = {}
    for tree, codes in zip(trees, leaves, strict=True):
        weight = generator.lognormal(0.0, 0.7, len(codes))
        drawn = generator.choice(len(codes), records, p=weight / weight.sum())
        columns[tree.variable] = np.array(codes)[drawn]
    frame = pd.DataFrame(columns)
    frame["value"] = np.maximum(1.0, np.round(generator.lognormal(4.0, 1.2, records)))
    made = tabulate(frame, trees, Roles(response="value"), 2)
    seen = Contributions(made.seen.total, made.seen.largest, made.respondents)
    found = sensitive((PPercentRule(10.0),), seen)
    terms = made.terms()
    places = (terms["coefficient"].to_numpy(dtype=float), (terms["relation"], terms["cell"]))
    cells = made.total.size
    return CellTable(
        value=made.total,
        relations=sparse.csr_array(places, shape=(int(terms["relation"].max()) + 1, cells)),
        lower=np.zeros(cells),
        upper=np.full(cells, made.total.max()),
        primary=found.unsafe,
        fixed=made.respondents == 0,
        cost=np.maximum(made.total, 1.0),
        lower_level=found.lower,
        upper_level=found.upper,
        sliding_level=np.zeros(cells),
    )


if __name__ == "__main__":
    main()
