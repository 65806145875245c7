"""The audit of 2,000 suppressed cells in tables of 20,000: seconds of the processor.

    python scripts/benchmark_audit.py [--suppressed 2000] [--exact]

The suppressed cells are drawn in a corner of the table so densely that most of them hang together: that is
the hardest pattern of so many, since an audit of pieces costs less. The levels alone (`demands.unmet`) are
timed beside it; `--exact` decides these in rational numbers, too.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from itertools import product
from typing import TypeVar

import numpy as np
import pandas as pd
from scipy import sparse

from linkrisk.arrays import BoolArray
from linkrisk.datasets.tables.code_trees import CodeTree
from linkrisk.datasets.tables.tabulating import Roles, tabulate
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.solver.tables.attackers.audit import audit
from linkrisk.solver.tables.attackers.certified import certify
from linkrisk.solver.tables.attackers.demands import unmet
from linkrisk.solver.tables.attackers.pieces import known_exactly, pieces_of

_SHAPES = (
    ((130, 130), (10, 10), 0.7),
    ((140, 140), (0, 0), 0.3),
    ((22, 22, 22), (4, 4, 4), 0.95),
    ((27, 27, 25), (0, 0, 0), 0.45),
)
"""Codes and groups of each variable, and the share of the corner's cells that is suppressed."""

Found = TypeVar("Found")


def main() -> None:
    """Print a line for each table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suppressed", type=int, default=2000)
    parser.add_argument("--exact", action="store_true")
    arguments = parser.parse_args()
    print(
        "codes groups cells suppressed exactly-known largest-piece audited unprotected seconds levels exact"
    )
    for sizes, groups, density in _SHAPES:
        table, suppressed = _table(sizes, groups, arguments.suppressed, density)
        known = known_exactly(table, suppressed)
        piece = max((one.cells.size for one in pieces_of(table, suppressed & ~known)), default=0)
        found, seconds = _timed(lambda table=table, suppressed=suppressed: audit(table, suppressed))
        _, levels = _timed(lambda table=table, suppressed=suppressed: unmet(table, suppressed))
        exactly = math.nan
        if arguments.exact:
            _, exactly = _timed(lambda table=table, suppressed=suppressed: certify(table, suppressed))
        counts = (len(table), int(suppressed.sum()), int(known.sum()), piece)
        audited, short = int(found.audited.sum()), int((found.short > 0).sum())
        shape = ("x".join(map(str, sizes)), "x".join(map(str, groups)))
        print(*shape, *counts, audited, short, f"{seconds:.1f} {levels:.1f} {exactly:.1f}", flush=True)


def _timed(do: Callable[[], Found]) -> tuple[Found, float]:
    """What comes of it, and the seconds of this process that it took."""
    started = time.process_time()
    return do(), time.process_time() - started


def _table(
    sizes: tuple[int, ...], groups: tuple[int, ...], many: int, density: float
) -> tuple[CellTable, BoolArray]:
    trees = [_tree(f"v{at}", *one) for at, one in enumerate(zip(sizes, groups, strict=True))]
    frame = pd.DataFrame(
        product(*[[f"c{code}" for code in range(size)] for size in sizes]),
        columns=[tree.variable for tree in trees],
    )
    generator = np.random.default_rng(0)
    frame["value"] = np.round(generator.lognormal(3.0, 1.5, len(frame))) + 1.0
    made = tabulate(frame, trees, Roles(response="value"), 1)
    terms, value = made.terms(), made.total
    grid = np.arange(value.size).reshape([len(tree.codes) for tree in trees])
    side = round((many / density) ** (1 / grid.ndim))
    # The last codes of the last groups, with the totals of these: a corner that hangs together.
    corner = grid[np.ix_(*[_corner(tree, side) for tree in trees])].ravel()
    suppressed = np.zeros(value.size, dtype=np.bool_)
    suppressed[generator.choice(corner, min(many, corner.size), replace=False)] = True
    primary = suppressed & (generator.random(value.size) < 0.15)
    level = np.where(primary, np.ceil(0.15 * value), 0.0)
    places = (terms["coefficient"].to_numpy(dtype=float), (terms["relation"], terms["cell"]))
    shape = (int(terms["relation"].max()) + 1, value.size)
    table = CellTable(
        value=value,
        relations=sparse.csr_array(places, shape=shape),
        lower=np.zeros(value.size),
        upper=np.full(value.size, value.max()),
        primary=primary,
        fixed=np.zeros(value.size, dtype=np.bool_),
        cost=np.ones(value.size),
        lower_level=level,
        upper_level=np.minimum(level, value.max() - value),
        sliding_level=np.zeros(value.size),
    )
    return table, suppressed


def _corner(tree: CodeTree, side: int) -> list[int]:
    """About so many nodes: the total, groups, and codes below these."""
    below: dict[int, list[int]] = {}
    for node, parent in enumerate(tree.parent.tolist()):
        below.setdefault(parent, []).append(node)
    found = [0]
    for node in found:
        room = side - len(found)
        if room > 0:
            children = below.get(node, [])
            groups = node == 0 and any(child in below for child in children)
            found += children[: max(room // 6, 2)] if groups else children[:room]
    return sorted(found)


def _tree(variable: str, size: int, groups: int) -> CodeTree:
    """Codes below so many groups; right below the total where there are none."""
    parents = [-1, *[0] * groups, *(1 + code % groups if groups else 0 for code in range(size))]
    codes = ("Total", *(f"g{group}" for group in range(groups)), *(f"c{code}" for code in range(size)))
    return CodeTree(variable, codes, np.array(parents, dtype=np.int64))


if __name__ == "__main__":
    main()
