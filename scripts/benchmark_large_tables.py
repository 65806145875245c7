"""Suppression of large hierarchical tables: cost, bound, and what the repair added.

python scripts/benchmark_large_tables.py [--cells 2500,10000,100000] [--method modular] [--time-limit 800]

Seeded tables of two variables with trees of three levels below the total, lognormal contributions, p % rule
with p = 10; cost is the value. Every pattern is audited: all levels, by witnesses.
"""

from __future__ import annotations

import argparse
import resource
import time
from itertools import count

import numpy as np
import pandas as pd
from scipy import sparse

from linkrisk.datasets.tables.code_trees import TOTAL, CodeTree
from linkrisk.datasets.tables.tabulating import Roles, tabulate
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.formulations.tables.primary_rules import Contributions, PPercentRule, sensitive
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.attackers.demands import unmet
from linkrisk.solver.tables.suppression.large_tables import suppress_large

_TABLES = {
    "2500": (((4, 3, 3), (4, 3, 3)), 9_000),
    "10000": (((5, 4, 4), (5, 4, 4)), 40_000),
    "100000": (((6, 7, 6), (5, 8, 7)), 400_000),
}


def main() -> None:
    """Print a line for each table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", default="2500,10000")
    parser.add_argument("--method", default="modular")
    parser.add_argument("--time-limit", type=float, default=800.0)
    arguments = parser.parse_args()
    print("cells sensitive secondary cost bound gap-% open added removed seconds cpu-seconds peak-MB")
    for name in arguments.cells.split(","):
        table = _table(*_TABLES[name])
        started, cpu = time.monotonic(), time.process_time()
        found = suppress_large(table, arguments.method, Clock(arguments.time_limit))
        seconds, cpu = time.monotonic() - started, time.process_time() - cpu
        assert unmet(table, found.suppressed).all
        gap = 100.0 * (found.cost - found.bound) / found.cost
        secondary = int((found.suppressed & table.free).sum())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        said = (len(table), int(table.primary.sum()), secondary, f"{found.cost:.0f}", f"{found.bound:.0f}")
        how = (f"{gap:.1f}", found.open, found.added, found.removed, f"{seconds:.0f}", f"{cpu:.0f}", peak)
        print(*said, *how, flush=True)


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
