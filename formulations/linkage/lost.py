"""Blocks that one rival alone keeps from being linked, found without a row for every pair.

A candidate that is as near as the partner on every attribute has a value near the query's on each of them: a
tree of boxes finds all that have.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.linkage.aggregators.base import Aggregator
from linkrisk.formulations.linkage.box_tree import within
from linkrisk.formulations.linkage.distances import Differences
from linkrisk.formulations.linkage.pair import LinkagePair, Ties

_BLOCKS_AT_ONCE = 256


def lost_blocks(
    pair: LinkagePair, aggregator: Aggregator, stop: Callable[[], bool], threads: int | None = None
) -> BoolArray:
    """Blocks that no parameters can link, because of one rival alone.

    Parameters
    ----------
    pair : LinkagePair
    aggregator : Aggregator
    stop : callable
        Asked again and again whether to stop; blocks that were not looked at count as not lost.
    threads : int, optional
        As many as there are processors when absent.

    Returns
    -------
    ndarray of bool, shape (blocks,)
        For a monotone aggregator all such blocks (as far as `Aggregator.reach` goes), if there was time and
        an attribute is numeric and nowhere missing; for others those whose partner has a twin among its
        rivals.
    """
    lost = ~pair.reachable
    if pair.ties is Ties.STRICT:
        lost |= (np.bincount(pair.twin_group) > 1)[pair.twin_group[pair.partner]]
    if aggregator.monotone and pair.ordered.size:
        _scan(pair, aggregator, pair.ordered, lost, stop, threads)
    return lost


def _scan(
    pair: LinkagePair,
    aggregator: Aggregator,
    ordered: IndexArray,
    lost: BoolArray,
    stop: Callable[[], bool],
    threads: int | None,
) -> None:
    """Mark the blocks that have a candidate as near as their partner on every attribute."""
    kind = aggregator.differences
    tied = aggregator.partners(pair).tied
    label = pair.twin_group if pair.ties is Ties.SHARE else np.arange(len(pair.candidates))
    nearest = np.ascontiguousarray(aggregator.comparable(tied))
    reach, radius = aggregator.reach(tied)[:, ordered], np.full(pair.queries.shape, np.inf)
    radius[:, ordered] = (np.sqrt(reach) if kind is Differences.SQUARED else reach) * (1.0 + 1e-12)
    boxed = pair.boxed()

    def task(start: int) -> None:
        found = np.empty(len(pair.candidates), dtype=np.intp)
        for block in range(start, min(start + _BLOCKS_AT_ONCE, pair.blocks)):
            if lost[block]:
                continue
            if stop():
                return
            near = found[: within(boxed.tree, boxed.records, pair.queries[block], radius[block], 0, found)]
            near = near[label[near] != label[pair.partner[block]]]
            near = near[pair.possible(np.intp(block), near)]
            vectors = pair.distances(np.intp(block), near, kind)
            vectors = np.ascontiguousarray(aggregator.comparable(vectors))
            lost[block] = _any_dominates(vectors, nearest[block])

    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        list(pool.map(task, range(0, pair.blocks, _BLOCKS_AT_ONCE)))


@kernel
def _any_dominates(vectors: FloatArray, tied: FloatArray) -> bool:
    """Whether a row of `vectors` is nowhere above `tied`, up to which rivals tie with the partner."""
    for at in range(vectors.shape[0]):
        farther = False
        for k in range(tied.size):
            if vectors[at, k] > tied[k]:
                farther = True
                break
        if not farther:
            return True
    return False
