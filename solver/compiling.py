"""Compile ahead what numba would compile at its first use, so that no run pays for it out of its time.

Code is compiled once for every machine and version, and kept. Every kernel is called here on a small problem,
with the types of arguments that runs call it with.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from formulations.aggregators import AGGREGATORS, Aggregator, make_aggregator
from formulations.block_system import BlockSystem, block_system
from formulations.compiled import is_marked, mark
from formulations.lost import lost_blocks
from formulations.pair import LinkagePair, make_pair
from solver.clock import Clock
from solver.engines.attacks import attack
from solver.engines.base import EngineProgress, Record, Reporter
from solver.engines.exact.hitting import HittingSearch
from solver.engines.exact.tree import SimplexTree
from solver.engines.exact.tree_kernels import undecided
from solver.engines.growing import GrowingRows
from solver.engines.scoring import nearest_rows
from solver.linkage.evaluator import Evaluator

PHASE = "compile"
"""What a reporter is told is being done."""

_BLOCKS, _ATTRIBUTES = 18, 3
_ENOUGH = 60.0


def compile_once(aggregator: str, report: Reporter | None = None) -> None:
    """Compile what a fit of this family needs, unless that was done before on this machine.

    Parameters
    ----------
    aggregator : str
    report : callable, optional
        Told when there is something to do.
    """
    if is_marked(aggregator):
        return
    if report is not None:
        report(EngineProgress(0.0, 0.0, 0.0, PHASE))
    compile_family(aggregator)
    mark(aggregator)


def compile_families(say: Callable[[str], None]) -> None:
    """Compile what fits need, family by family; `say` is told the name of each."""
    for name in AGGREGATORS:
        say(name)
        compile_family(name)
        mark(name)


def compile_family(name: str) -> None:
    """Call everything compiled that a fit of this family calls."""
    pair = _small_pair()
    aggregator = make_aggregator(name, pair.attributes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _search(block_system(pair, aggregator))
        _grow(pair, aggregator)


def _small_pair() -> LinkagePair:
    """Records of which some exclude each other, so that every search has something to do."""
    random = np.random.default_rng(1)
    original = random.normal(size=(_BLOCKS, _ATTRIBUTES))
    return make_pair(original, original + 1.5 * random.normal(size=original.shape))


def _record(system: BlockSystem) -> Record:
    """A record for which nothing has been proven."""
    return Record(Clock(_ENOUGH), system.aggregator.equal(), 0.0, system.total_weight)


def _search(system: BlockSystem) -> None:
    """Run each search on its own: in a fit, the first may prove everything."""
    evaluator, aggregator = Evaluator(system.pair), system.aggregator
    evaluator.table(aggregator.form(aggregator.equal()))
    attack(system, _record(system), evaluator, 0)
    hitting = HittingSearch(system, _record(system), evaluator, 0)
    if aggregator.on_simplex:
        SimplexTree(system, _record(system), evaluator).run(_ENOUGH)
        hitting.pairs_of_rows(_ENOUGH)
    hitting.all_pairs(_ENOUGH)
    hitting.branch(_ENOUGH)
    hitting.rehearse()
    nearest_rows(np.ones(system.rows), np.array([0, system.rows], dtype=np.intp))
    if aggregator.on_simplex and isinstance(system.values, np.ndarray):
        rows, corners = np.arange(system.rows, dtype=np.int32), np.eye(aggregator.dimension)
        undecided(system.values, system.row_open, system.open_weight, rows, corners, 0.0)


def _grow(pair: LinkagePair, aggregator: Aggregator) -> None:
    """What large files need."""
    lost_blocks(pair, aggregator, lambda: False)
    clock = Clock(_ENOUGH)
    rows = GrowingRows(pair, aggregator, clock, 0)
    rows.probe(Record(clock, aggregator.equal(), 0.0, float(pair.blocks)), np.inf)
    rows.system()
