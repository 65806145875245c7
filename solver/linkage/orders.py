"""Attacks that compare one attribute first, and others only where it ties: limits of weighted distances.

The same of ranks: the largest attribute distance first, or the smallest, or any other. Weights that lie
farther and farther apart come to this. At some point a double cannot tell such distances apart any more, and
what counts as a tie (`formulations.ties`) covers them a little before. So a bound holds for distances, and
these attacks, which compare attribute by attribute, are counted beside it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from formulations.compiled import kernel
from formulations.pair import LinkagePair, Ties
from formulations.ties import TIE_TOLERANCE
from solver.linkage.evaluator import as_arrays
from solver.linkage.kernels import Tables

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
Order = tuple[int, ...]

_MOST_PAIRS = 500_000_000
"""Pairs of records that all orders together may look at: a second or two."""

_BLOCKS_AT_ONCE = 256


@kernel
def _away(query: FloatArray, candidate: FloatArray, tables: Tables, away: FloatArray) -> bool:
    """Write the attribute distances of a candidate; False where it cannot be the query's partner."""
    for k in range(query.size):
        away[k] = abs(query[k] - candidate[k])
    attributes, values, first, width = tables
    for at in range(attributes.size):
        k = attributes[at]
        away[k] = values[first[at] + int(query[k]) * width[at] + int(candidate[k])]
        if away[k] == np.inf:
            return False
    return True


@kernel
def _farther(order: IndexArray, mine: FloatArray, tied: FloatArray, other: FloatArray) -> bool:
    """Whether a rival is farther than the partner where the first of these distances tells them apart.

    What rounding leaves open, up to `tied`, counts as nearer.
    """
    for k in order:
        if other[k] != mine[k]:
            return bool(other[k] > tied[k])
    return False


@kernel
def _links(
    order: IndexArray,
    queries: FloatArray,
    candidates: FloatArray,
    partner: IndexArray,
    rounding: FloatArray,
    label: IndexArray,
    tables: Tables,
    ranked: bool,
    linked: BoolArray,
) -> None:
    """Write which blocks an order links; candidates with the partner's label are no rivals."""
    mine, tied, other = np.empty((3, candidates.shape[1]))
    for block in range(queries.shape[0]):
        own, query = partner[block], queries[block]
        linked[block] = _away(query, candidates[own], tables, mine)
        tied[:] = (mine + rounding[block]) * (1.0 + TIE_TOLERANCE)
        if ranked:
            mine[:], tied[:] = -np.sort(-mine), -np.sort(-tied)
        for at in range(candidates.shape[0]):
            if not linked[block]:
                break
            if label[at] == label[own] or not _away(query, candidates[at], tables, other):
                continue
            if ranked:
                other[:] = -np.sort(-other)
            linked[block] = _farther(order, mine, tied, other)


def linked_in_order(pair: LinkagePair, order: IndexArray, *, ranked: bool = False) -> BoolArray:
    """Which blocks are linked by comparing attributes in an order, each where all before it tie.

    Parameters
    ----------
    pair : LinkagePair
    order : ndarray of int, shape (any,)
        Some of the attributes, the one that decides first in front.
    ranked : bool
        Compare ranks instead: 0 is the largest attribute distance of each candidate.

    Returns
    -------
    ndarray of bool, shape (blocks,)
    """
    linked = np.zeros(pair.blocks, dtype=bool)
    label = pair.twin_group if pair.ties is Ties.SHARE else np.arange(len(pair.candidates))
    tables, rounding = as_arrays(pair), pair.rounding

    def task(first: int) -> None:
        part = slice(first, first + _BLOCKS_AT_ONCE)
        _links(
            order,
            pair.queries[part],
            pair.candidates,
            pair.partner[part],
            rounding[part],
            label,
            tables,
            ranked,
            linked[part],
        )

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(task, range(0, pair.blocks, _BLOCKS_AT_ONCE)))
    return linked


def best_order(pair: LinkagePair, stop: Callable[[], bool], *, ranked: bool = False) -> tuple[Order, float]:
    """The order that links most, of those that grow from each attribute by whichever adds most.

    Parameters
    ----------
    pair : LinkagePair
    stop : callable
        Asked before each count whether to end.
    ranked : bool
        As in `linked_in_order`.

    Returns
    -------
    order : tuple of int
        Attributes; none where the files are too large to count a single order of each.
    weight : float
        Of the blocks that it links.
    """
    attributes = range(len(pair.attributes))
    most = _MOST_PAIRS // max(1, pair.blocks * len(pair.candidates))
    known: dict[Order, float] = {(): 0.0}

    def weigh(order: Order) -> float:
        if order not in known and not stop():
            linked = linked_in_order(pair, np.array(order, dtype=np.intp), ranked=ranked)
            known[order] = float(pair.weight[linked].sum())
        return known.get(order, -1.0)

    fronts: list[Order] = [(k,) for k in attributes] if len(attributes) <= most else []
    for front in fronts:
        weigh(front)
    while fronts:
        longer = [[(*front, k) for k in attributes if k not in front] for front in fronts]
        wanted = sum(map(len, longer))
        if not wanted or len(known) - 1 + wanted > most:
            break
        best = [max(orders, key=weigh) for orders in longer]
        fronts = [order for order in best if weigh(order) > weigh(order[:-1])]
    order = max(known, key=lambda order: known[order])
    return order, known[order]
