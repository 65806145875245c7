"""Controlled rounding of tables of 150,000 cells: seconds, and whether it is proven.

python scripts/benchmark_rounding.py [--time-limit 300]
"""

from __future__ import annotations

import argparse
import time
from itertools import product

import numpy as np
import pandas as pd
from scipy import sparse

from linkrisk.datasets.tables.code_trees import CodeTree
from linkrisk.datasets.tables.tabulating import Roles, tabulate
from linkrisk.formulations.tables.controlled_rounding import ControlledRounding
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.perturbation.rounding import round_cells

_SHAPES = (
    ((300, 500), (0, 0)),
    ((300, 500), (20, 0)),
    ((290, 480), (20, 25)),
    ((20, 20, 20), (0, 0, 0)),
    ((50, 50, 50), (0, 0, 0)),
    ((40, 40, 40), (6, 5, 4)),
)


def main() -> None:
    """Print a line for each table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--time-limit", type=float, default=300.0)
    limit = parser.parse_args().time_limit
    print("codes groups cells relations kind change bound proven seconds process_seconds")
    for sizes, groups in _SHAPES:
        table = _table(sizes, groups)
        started, used = time.monotonic(), time.process_time()
        found = round_cells(table, get_backend("highs"), Clock(limit))
        seconds, used = time.monotonic() - started, time.process_time() - used
        kind = "zero-restricted" if found.zero_restricted else "relaxed"
        shape = ("x".join(map(str, sizes)), "x".join(map(str, groups)), *table.relations.shape[::-1])
        print(*shape, kind, f"{found.cost:.0f} {found.bound:.0f} {found.proven}", end=" ")
        print(f"{seconds:.1f} {used:.1f}", flush=True)


def _table(sizes: tuple[int, ...], groups: tuple[int, ...]) -> ControlledRounding:
    trees = [_tree(f"v{at}", *one) for at, one in enumerate(zip(sizes, groups, strict=True))]
    leaves = [[f"c{code}" for code in range(size)] for size in sizes]
    frame = pd.DataFrame(product(*leaves), columns=[tree.variable for tree in trees])
    frame["value"] = np.random.default_rng(0).integers(0, 200, len(frame))
    made = tabulate(frame, trees, Roles(response="value"), 1)
    terms = made.terms()
    places = (terms["coefficient"].to_numpy(dtype=float), (terms["relation"], terms["cell"]))
    return ControlledRounding(
        value=made.total,
        relations=sparse.csr_array(places, shape=(int(terms["relation"].max()) + 1, made.total.size)),
        weight=np.ones(made.total.size),
        base=5,
        zero_restricted=True,
    )


def _tree(variable: str, size: int, groups: int) -> CodeTree:
    """Codes below so many groups; right below the total where there are none."""
    parents = [-1, *[0] * groups, *(1 + code % groups if groups else 0 for code in range(size))]
    codes = ("Total", *(f"g{group}" for group in range(groups)), *(f"c{code}" for code in range(size)))
    return CodeTree(variable, codes, np.array(parents, dtype=np.int64))


if __name__ == "__main__":
    main()
