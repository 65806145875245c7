"""Rivals that need a row, and blocks that one rival alone keeps from being linked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.linkage.aggregators.base import Aggregator
from linkrisk.formulations.linkage.box_tree import within
from linkrisk.formulations.linkage.distances import Differences
from linkrisk.formulations.linkage.pair import LinkagePair, Ties
from linkrisk.formulations.threads import each

_BLOCKS_PER_TASK = 32


@dataclass(frozen=True)
class BlockRows:
    """Rivals that matter, block by block.

    Block i is linked by ``theta`` when each of its rows is positive (`Aggregator.rows`), unless it is `lost`:
    the rival is farther than the partner by more than a tie, as the evaluator has it.
    """

    block: IndexArray  # (rows,): ascending
    rival: IndexArray  # (rows,): the candidate of each row, ascending within a block
    lost: BoolArray  # (blocks,): no parameters link them, because of one rival alone; they have no rows
    complete: bool  # whether there was time for the rows of all blocks


@kernel
def _dominates(first: FloatArray, second: FloatArray) -> bool:
    """Whether `first` is at least as near as `second` on every attribute."""
    for k in range(first.size):  # noqa: SIM110 - compiled code has no generators
        if first[k] > second[k]:
            return False
    return True


@kernel
def _front(vectors: FloatArray, near: IndexArray) -> IndexArray:
    """Those of `near` that no earlier one dominates.

    Their vectors ascend by their sum, so that none is dominated by a later one that does not equal it.
    """
    front = np.empty(near.size, dtype=np.intp)
    nearest = np.empty((near.size, vectors.shape[1]))
    size = 0
    for at in near:
        dominated = False
        for f in range(size):
            if _dominates(nearest[f], vectors[at]):
                dominated = True
                break
        if not dominated:
            front[size] = at
            for k in range(vectors.shape[1]):
                nearest[size, k] = vectors[at, k]
            size += 1
    return front[:size]


@kernel
def _near(
    vectors: FloatArray, tied: FloatArray, label: IndexArray, own: int, near: IndexArray, total: FloatArray
) -> int:
    """Write down rivals not farther than the partner on some attribute, and the sums of their values.

    Returns their number, -1 where the block is lost.

    For a monotone aggregator, a rival that is farther than `tied` (up to which it ties with the partner) on
    every attribute is farther for all parameters, and one that is so on no attribute is farther for none:
    then the block is lost. Candidates whose label is `own` are not rivals.
    """
    many, n = vectors.shape
    size = 0
    for at in range(many):
        if label[at] == own:
            continue
        farther, height = 0, 0.0
        for k in range(n):
            height += vectors[at, k]
            if vectors[at, k] > tied[k]:
                farther += 1
        if farther == 0:
            return -1
        if farther < n:
            near[size] = at
            total[size] = height
            size += 1
    return size


def _reduced(vectors: FloatArray, tied: FloatArray, label: IndexArray, own: int) -> tuple[IndexArray, bool]:
    """Rivals of one block, of a monotone aggregator, that matter; and whether the block is lost.

    One that another rival dominates is implied by it.
    """
    near, total = np.empty(len(vectors), dtype=np.intp), np.empty(len(vectors))
    size = _near(vectors, tied, label, own, near, total)
    if size < 0:
        return near[:0], True
    nearest_first = near[np.argsort(total[:size], kind="stable")]
    return np.sort(_front(vectors, nearest_first)), False


class _Rivals:
    """Chooses the rivals of one block after another."""

    def __init__(self, pair: LinkagePair, aggregator: Aggregator, reduce: bool) -> None:
        self._pair, self._aggregator = pair, aggregator
        self._reduce = reduce and aggregator.monotone
        self._partners = aggregator.partners(pair)
        self._tied = np.ascontiguousarray(aggregator.comparable(self._partners.tied))
        self._label = pair.twin_group if pair.ties is Ties.SHARE else np.arange(len(pair.candidates))

    def of(self, block: int) -> tuple[IndexArray, bool]:
        """Candidates that need a row, ascending, and whether the block is lost."""
        pair, aggregator, label = self._pair, self._aggregator, self._label
        own = label[pair.partner[block]]
        if not pair.reachable[block]:
            return np.empty(0, dtype=np.intp), True
        # Impossible partners are no rivals, like the partner's twins.
        label = np.where(pair.possible(np.intp(block), slice(None)), label, own)
        vectors = pair.distances(np.intp(block), slice(None), aggregator.differences)
        if self._reduce:
            ordered = np.ascontiguousarray(aggregator.comparable(vectors))
            return _reduced(ordered, self._tied[block], label, own)
        rivals = np.flatnonzero(label != own)
        vectors = vectors[rivals]
        lost = bool((aggregator.most(self._partners[[block]], vectors) <= 0.0).any())
        return rivals[:0] if lost else rivals, lost


def block_rows(
    pair: LinkagePair,
    aggregator: Aggregator,
    *,
    reduce: bool = True,
    expired: Callable[[], bool] | None = None,
) -> BlockRows:
    """List the rows of every block, blocks in parallel; those left when `expired` says so have none.

    `reduce` leaves out rows that others imply, for monotone aggregators.
    """
    rivals = _Rivals(pair, aggregator, reduce)
    kept: list[IndexArray] = [np.empty(0, dtype=np.intp)] * pair.blocks
    lost = np.zeros(pair.blocks, dtype=bool)

    def task(first: int) -> bool:
        for block in range(first, min(first + _BLOCKS_PER_TASK, pair.blocks)):
            if expired is not None and expired():
                return False
            kept[block], lost[block] = rivals.of(block)
        return True

    complete = all(each(task, range(0, pair.blocks, _BLOCKS_PER_TASK)))
    return BlockRows(
        block=np.repeat(np.arange(pair.blocks), [chosen.size for chosen in kept]),
        rival=np.concatenate(kept),
        lost=lost,
        complete=complete,
    )


_BLOCKS_AT_ONCE = 256


def lost_blocks(
    pair: LinkagePair, aggregator: Aggregator, stop: Callable[[], bool], threads: int | None = None
) -> BoolArray:
    """Blocks (blocks,) that one rival alone keeps from being linked, whatever the parameters.

    For a monotone aggregator all of them (as far as `Aggregator.reach` goes) where an attribute is numeric
    and nowhere missing; for others those whose partner has a twin among its rivals. Where `stop` ends the
    scan, the others count as not lost.
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

    each(task, range(0, pair.blocks, _BLOCKS_AT_ONCE), threads)


@kernel
def _any_dominates(vectors: FloatArray, tied: FloatArray) -> bool:
    """Whether a row of `vectors` is nowhere above `tied`, up to which rivals tie with the partner."""
    for at in range(vectors.shape[0]):  # noqa: SIM110 - compiled code has no generators
        if _dominates(vectors[at], tied):
            return True
    return False
