"""Count lexicographic attacks, which are limits of weighted distances.

They compare one attribute first, and others only where it ties; or one rank of attribute distances. Weights
that differ ever more approach this order, until doubles and ties (`formulations.linkage.tie_tolerance`)
cannot distinguish it. So a bound on distances does not cover these attacks, and they are counted separately.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.linkage.box_tree import within
from linkrisk.formulations.linkage.distances import Differences
from linkrisk.formulations.linkage.pair import LinkagePair, Ties
from linkrisk.formulations.linkage.tie_tolerance import TIE_TOLERANCE
from linkrisk.formulations.threads import each
from linkrisk.solver.linkage.distance_kernels import Missing, Tables, as_arrays, difference, missing_arrays
from linkrisk.solver.linkage.evaluator import BlockWorkers, marked
from linkrisk.solver.run.work import COMPARISON, Spend, ignore

Order = tuple[int, ...]

_BLOCKS_AT_ONCE = 256
_PAIRS_AT_ONCE = 10_000_000
"""Pairs between two stop checks, a fraction of a second apart."""

_FEW_PAIRS = 1_000_000
"""Pairs that are compared in less time than threads take to start."""

_PAIRS_KEPT = 1_000_000
"""Pairs above which nearby candidates are searched again for every order, to save memory."""

_ROUNDED = 2.0**-50
"""Generous bound on the relative error of the ends of a window of candidates."""


@kernel
def _away(
    query: FloatArray,
    candidate: FloatArray,
    tables: Tables,
    missing: Missing,
    block: int,
    at: int,
    away: FloatArray,
) -> bool:
    """Compute the attribute distances of a candidate; False where it cannot be the query's partner."""
    for k in range(query.size):
        away[k] = abs(query[k] - candidate[k])
    if missing[2].size > 0:  # branch once: most files have none of these
        for k in range(query.size):
            if np.isnan(away[k]):
                away[k] = abs(difference(query, candidate, missing, block, at, k))
    attributes, values, first, width = tables
    for table in range(attributes.size):
        k = attributes[table]
        away[k] = values[first[table] + int(query[k]) * width[table] + int(candidate[k])]
        if away[k] == np.inf:
            return False
    return True


@kernel
def _descend(away: FloatArray) -> None:
    """Put a few distances in descending order."""
    for last in range(1, away.size):
        value, k = away[last], last
        while k > 0 and away[k - 1] < value:
            away[k] = away[k - 1]
            k -= 1
        away[k] = value


@kernel
def _farther(order: IndexArray, mine: FloatArray, tied: FloatArray, other: FloatArray) -> bool:
    """Whether a rival is farther than the partner in the first of these distances that differs.

    What rounding leaves open, up to `tied`, counts as nearer.
    """
    for k in order:
        if other[k] != mine[k]:
            return bool(other[k] > tied[k])
    return False


class _Compared(NamedTuple):
    """Blocks, candidates and their values, with a `label` shared by equal candidates."""

    queries: FloatArray
    candidates: FloatArray
    partner: IndexArray
    rounding: FloatArray
    label: IndexArray
    tables: Tables
    missing: Missing


@kernel
def _links(
    order: IndexArray,
    compared: _Compared,
    ranked: bool,
    near: IndexArray,
    window: IndexArray,
    linked: BoolArray,
) -> None:
    """Mark the blocks that an order links; candidates with the partner's label are not rivals.

    Each block's rivals are among those that `near` lists from the first to the second number of its window.
    """
    queries, candidates, partner, rounding, label, tables, missing = compared
    mine, tied, other = np.empty((3, candidates.shape[1]))
    for block in range(queries.shape[0]):
        own, query = partner[block], queries[block]
        linked[block] = _away(query, candidates[own], tables, missing, block, own, mine)
        for k in range(mine.size):
            tied[k] = (mine[k] + rounding[block, k]) * (1.0 + TIE_TOLERANCE)
        if ranked:
            _descend(mine)
            _descend(tied)
        for at in near[window[block, 0] : window[block, 1]]:
            if not linked[block]:
                break
            if label[at] == label[own] or not _away(query, candidates[at], tables, missing, block, at, other):
                continue
            if ranked:
                _descend(other)
            linked[block] = _farther(order, mine, tied, other)


def linked_in_order(
    pair: LinkagePair,
    order: IndexArray,
    *,
    ranked: bool = False,
    stop: Callable[[], bool] = lambda: False,
    threads: int | None = None,
    kept: Kept | None = None,
) -> BoolArray:
    """Decide which blocks (blocks,) are linked by lexicographic comparison in an `order` of attributes.

    With `ranked` the order is one of ranks: 0 is the largest attribute distance of each candidate. Blocks not
    compared before `stop` are not linked. `kept` has the candidates nearby of earlier orders.
    """
    linked = np.zeros(pair.blocks, dtype=bool)
    label = pair.twin_group if pair.ties is Ties.SHARE else np.arange(len(pair.candidates))
    tables, missing, rounding = as_arrays(pair), missing_arrays(pair), pair.rounding
    nearby = _near(pair, int(order[0]), ranked, kept)
    together = max(1, min(_BLOCKS_AT_ONCE, _PAIRS_AT_ONCE // len(pair.candidates)))
    if pair.blocks * len(pair.candidates) <= _FEW_PAIRS:
        together = pair.blocks

    def task(first: int) -> None:
        if stop():
            return
        part = slice(first, first + together)
        near, window = nearby.of(part)
        compared = _Compared(
            pair.queries[part], pair.candidates, pair.partner[part], rounding[part], label, tables,
            (missing[0][part], *missing[1:]),
        )  # fmt: skip
        _links(order, compared, ranked, near, window, linked[part])

    each(task, range(0, pair.blocks, together), threads)
    return linked


Kept = dict[int, "_Near"]


class _Near:
    """Candidates not farther than the partner by the first attribute or rank, possibly with others.

    Those are near by an ordered attribute (`LinkagePair.ordered`) that decides first, and by all but r of
    them where the attribute distance of rank r does. Otherwise they are all.
    """

    def __init__(self, pair: LinkagePair, first: int, ranked: bool, *, keeps: bool = False) -> None:
        self._pair, self._first = pair, first
        self._found: dict[int, tuple[IndexArray, IndexArray]] | None = {} if keeps else None
        ordered: list[int] = pair.ordered.tolist()
        self._all = first >= len(ordered) if ranked else first not in ordered
        self._boxed = pair.boxed() if ranked and not self._all else None
        if self._all:
            return
        mine = pair.partner_distances(Differences.ABSOLUTE) + pair.rounding
        mine = -np.sort(-mine) if ranked else mine
        reach = mine[:, first] * (1.0 + TIE_TOLERANCE + _ROUNDED)
        self._radius = np.full(pair.queries.shape, np.inf)
        decisive = ordered if ranked else [first]
        self._radius[:, decisive] = reach[:, None] + _ROUNDED * np.abs(pair.queries[:, decisive])

    def of(self, part: slice) -> tuple[IndexArray, IndexArray]:
        """Find the candidates near some blocks (`_seek`), cached where memory allows."""
        if self._found is None:
            return self._seek(part)
        if part.start not in self._found:
            self._found[part.start] = self._seek(part)
        return self._found[part.start]

    def _seek(self, part: slice) -> tuple[IndexArray, IndexArray]:
        """Search the candidates near some blocks, and each block's window of them, shape (blocks, 2)."""
        pair, many = self._pair, len(self._pair.candidates)
        blocks = np.arange(pair.blocks)[part]
        if self._all:
            return np.arange(many), np.tile([0, many], (blocks.size, 1))
        if self._boxed is None:
            values, query = pair.by_candidate.values(self._first), pair.queries[part, self._first]
            reach = self._radius[part, self._first]
            ends = (
                np.searchsorted(values, query - reach, "left"),
                np.searchsorted(values, query + reach, "right"),
            )
            return pair.by_candidate.order(self._first), np.column_stack(ends)
        found, each = np.empty(many, dtype=np.intp), []
        for block in blocks:
            size = within(
                self._boxed.tree, self._boxed.records, pair.queries[block], self._radius[block], self._first,
                found,
            )  # fmt: skip
            each.append(found[:size].copy())
        last = np.cumsum([near.size for near in each])
        return np.concatenate(each), np.column_stack([np.append(0, last[:-1]), last])


def _near(pair: LinkagePair, first: int, ranked: bool, kept: Kept | None) -> _Near:
    """Find nearby candidates, from the cache of an order with the same beginning if possible."""
    if kept is None:
        return _Near(pair, first, ranked)
    if first not in kept:
        kept[first] = _Near(pair, first, ranked, keeps=True)
    return kept[first]


@dataclass(frozen=True)
class InOrder:
    """Predicate for workers: whether an order links a block (`linked_in_order`)."""

    order: Order
    ranked: bool
    # cache of `linked_in_order`, for one pair and one process
    kept: Kept | None = field(default=None, compare=False, repr=False)

    def __call__(self, pair: LinkagePair, stop: Callable[[], bool], threads: int | None = None) -> BoolArray:
        """Evaluate it on the blocks of a pair."""
        order = np.array(self.order, dtype=np.intp)
        return linked_in_order(pair, order, ranked=self.ranked, stop=stop, threads=threads, kept=self.kept)


@dataclass(frozen=True)
class Ordered:
    """An order and its links."""

    # attributes, or ranks of the attribute distances (0 is the largest); what decides first is in front
    order: Order
    ranked: bool  # which of the two
    linked: BoolArray  # (blocks,): False also where time was up before
    weight: float  # of the blocks that it links


def best_order(
    pair: LinkagePair,
    stop: Callable[[], bool] = lambda: False,
    *,
    ranked: bool = False,
    spend: Spend = ignore,
    workers: BlockWorkers | None = None,
) -> Ordered:
    """Find the best order greedily: from each attribute, append the one that adds most links."""
    attributes = range(len(pair.attributes))
    best = Ordered((), ranked, np.zeros(pair.blocks, dtype=np.bool_), 0.0)
    known: dict[Order, float] = {(): 0.0}
    small = workers is None and pair.blocks * len(pair.candidates) <= _PAIRS_KEPT
    kept: Kept | None = {} if small else None

    def weigh(order: Order) -> float:
        nonlocal best
        if order not in known and not stop():
            linked = marked(InOrder(order, ranked, kept), pair, stop, workers)
            spend(COMPARISON * len(pair.attributes) * pair.blocks * len(pair.candidates))
            known[order] = float(pair.weight[linked].sum())
            if known[order] > best.weight:
                best = Ordered(order, ranked, linked, known[order])
        return known.get(order, -1.0)

    fronts: list[Order] = [(k,) for k in attributes]
    for front in fronts:
        weigh(front)
    while fronts and len(fronts[0]) < len(attributes):
        longer = [[(*front, k) for k in attributes if k not in front] for front in fronts]
        ends = [max(orders, key=weigh) for orders in longer]
        fronts = [order for order in ends if weigh(order) > weigh(order[:-1])]
    return best
