"""Small pairs, runs of the exact engine and of its parts, and an oracle that knows about ties."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations

import brute_force as plain
import brute_optimum
import numpy as np
import pytest

from linkrisk.formulations.linkage.block_system import BlockSystem, block_system
from linkrisk.formulations.linkage.domains import Simplex
from linkrisk.solver.engines.attacks.search import attack
from linkrisk.solver.engines.base import EngineOptions, EngineResult
from linkrisk.solver.engines.exact.engine import ExactEngine
from linkrisk.solver.engines.exact.hitting_search import HittingSearch
from linkrisk.solver.engines.exact.simplex_tree import SimplexTree
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.incumbent import Incumbent

MOST_TREE_DIMENSION = 7

MOST_NODES = 500_000

MOST_SECONDS = 60.0
"""Rows that touch along a plane, up to rounding, leave the engine simplices to halve for hours."""


def files(seed, n=7, attributes=3, noise=1.4):
    random = np.random.default_rng(seed)
    original = random.normal(size=(n, attributes))
    return original, original + noise * random.normal(size=(n, attributes))


@dataclass
class Run:
    """One run: what was searched, what was found, and how the engine says that it ended."""

    system: BlockSystem
    incumbent: Incumbent
    evaluator: Evaluator
    result: EngineResult | None = None


def start(pair, aggregator, seconds=None, attacked=False):
    """A run that has not begun, from equal weights or after the attack."""
    system = block_system(pair, aggregator)
    evaluator = Evaluator(pair, 1)
    theta = aggregator.equal()
    linked = evaluator.count(aggregator.form(theta)).linked_weight
    incumbent = Incumbent(Clock(seconds), theta, linked, system.total_weight - system.lost_weight)
    if attacked:
        attack(system, incumbent, evaluator, 0)
    return Run(system, incumbent, evaluator)


def honest(made, aggregator):
    """The attack is what the evaluator counts, lies in the domain, and is not above the bound."""
    incumbent = made.incumbent
    assert incumbent.value == pytest.approx(
        made.evaluator.count(aggregator.form(incumbent.solution)).linked_weight
    )
    assert incumbent.value <= incumbent.bound + 1e-9
    assert aggregator.domain.rows.violation(incumbent.solution) <= 1e-9
    return made


def engine(pair, aggregator, **options):
    """The whole engine."""
    made = start(pair, aggregator, **options)
    made.result = ExactEngine().run(made.system, made.incumbent, made.evaluator, EngineOptions())
    assert made.result.margin is None
    return honest(made, aggregator)


def hitting_sets(pair, aggregator, seed=0, **options):
    """Hitting sets alone, where the engine might have been done with the tree."""
    made = start(pair, aggregator, **options)
    if made.system.open_blocks.size:
        search = HittingSearch(made.system, made.incumbent, made.evaluator, seed)
        search.all_pairs(np.inf)
        search.branch(np.inf)
    return honest(made, aggregator)


def tree(pair, aggregator, most_nodes=np.inf):
    """The tree alone, to its end or until it has looked at so many simplices."""
    made = start(pair, aggregator)
    if made.system.open_blocks.size:
        search = SimplexTree(made.system, made.incumbent, made.evaluator)
        while not made.incumbent.proven and search.nodes < most_nodes:
            before = search.nodes
            search.run(np.inf if np.isinf(most_nodes) else made.incumbent.clock.seconds + 0.2)
            if search.nodes == before:
                break
    return honest(made, aggregator)


def every_search(pair, aggregator):
    """The engine and each of its two searches alone, by name; what they find holds whenever they end."""
    limit = {"seconds": MOST_SECONDS}
    runs = {
        "engine": engine(pair, aggregator, **limit),
        "hitting sets": hitting_sets(pair, aggregator, **limit),
    }
    if isinstance(aggregator.domain, Simplex) and aggregator.dimension <= MOST_TREE_DIMENSION:
        # Rows that touch along a line or a plane take the tree alone more memory than there is.
        runs["tree"] = tree(pair, aggregator, most_nodes=MOST_NODES)
    return runs


# ---------------------------------------------------------------- the optimum, ties included


def reference(pair):
    return plain.of_pair(pair)


def exact_rows(pair, case, block, records=None):
    """Rows of a block in the parameters of the oracle, ties taken off: fractions, by rival."""
    family = case.family(pair.queries.shape[1])
    records = reference(pair) if records is None else records
    c = [[Fraction(x) for x in distances] for distances in records.distances(block, family.kind)]
    own = c[records.partner[block]]
    quadratic = case.name == "mahalanobis"
    tied = [Fraction(x) for x in records.tied(block, "squared" if quadratic else family.kind)]
    rows = {}
    for rival in records.rivals(block):
        other, mine = family.features(c[rival]), family.features(own if quadratic else tied)
        rows[rival] = [b - a for a, b in zip(mine, other, strict=True)]
        if quadratic:
            n = len(own)
            diagonal = [
                at for at, km in enumerate((k, m) for k in range(n) for m in range(k, n)) if km[0] == km[1]
            ]
            lost = 1 - Fraction(plain.CANCELLATION) * n * (n + 2)
            for at, x, widened in zip(diagonal, c[rival], tied, strict=True):
                rows[rival][at] = lost * x * x - widened
    return rows


def unit_rows(pair, case, block, records=None):
    """The same in unit length, rounded once, shape (rivals, any); None when one of them vanishes."""
    rows = exact_rows(pair, case, block, records).values()
    largest = [max(abs(x) for x in row) for row in rows]
    if not all(largest):
        return None
    scaled = [np.array([float(x / size) for x in row]) for row, size in zip(rows, largest, strict=True)]
    return np.array([row / np.linalg.norm(row) for row in scaled])


def linkable(family, rows, margin, cuts):
    """Whether some parameters, inside the domain but for a rounding, link all of these rows."""
    if family.cone is not None:
        return brute_optimum.linkable(family, rows, margin, cuts)
    x, widest = brute_optimum._program(family, rows, np.empty((0, rows.shape[1])))
    outside = max((family.upper @ x - family.limit).max(), np.abs(family.equal @ x - family.value).max())
    return widest > margin and outside <= 1e-13 and (rows @ x).min() > 1e-12


def optimum(pair, case, margin=1e-9, records=None):
    """Largest weight of blocks that some parameters link together, by asking about every set of blocks.

    Blocks that need a margin below `margin` on rows of unit length are taken for not linkable, so this may
    be too small. It is never too large: what only the program's tolerance lets through does not count.
    `records` are those of the pair, where not all of them are numbers.
    """
    family = case.family(pair.queries.shape[1])
    rows = [unit_rows(pair, case, block, records) for block in range(pair.blocks)]
    cuts: list[np.ndarray] = []

    def possible(blocks):
        together = [rows[block] for block in blocks if len(rows[block])]
        return not together or linkable(family, np.vstack(together), margin, cuts)

    able = [block for block, own in enumerate(rows) if own is not None and pair.reachable[block]]
    alone = [block for block in able if possible([block])]
    sets = chain.from_iterable(combinations(alone, size) for size in range(len(alone) + 1))
    by_weight = sorted(sets, key=lambda blocks: -pair.weight[list(blocks)].sum())
    return float(next(pair.weight[list(blocks)].sum() for blocks in by_weight if possible(blocks)))
