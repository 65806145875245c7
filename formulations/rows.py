"""The rows of the blocks: which rivals can keep a record from being linked, and which need no row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from formulations.aggregators.base import Aggregator
from formulations.pair import LinkagePair

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class BlockRows:
    """Rivals that matter, block by block.

    Block i is linked by ``theta`` when ``(features(rival) - features(partner)) @ theta > tie`` for each of
    its rows, unless it is `lost`: the rival is farther than the partner by more than a tie
    (`Aggregator.tie`), as the evaluator has it.

    Attributes
    ----------
    block, rival : ndarray of int, shape (rows,)
        The block and the candidate of each row; blocks ascend.
    distances : ndarray of float64, shape (rows, attributes)
        Attribute distances from the block's query to the rival.
    partner : ndarray of float64, shape (blocks, attributes)
        Attribute distances from each query to its own partner.
    tie : ndarray of float64, shape (rows,)
        By how much the rival must be farther.
    lost : ndarray of bool, shape (blocks,)
        Blocks that no parameters can link, because of one rival alone. They have no rows.
    """

    block: IndexArray
    rival: IndexArray
    distances: FloatArray
    partner: FloatArray
    tie: FloatArray
    lost: BoolArray


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _dominates(first: FloatArray, second: FloatArray) -> bool:
    """Whether `first` is at least as near as `second` on every attribute."""
    for k in range(first.size):  # noqa: SIM110 - compiled code has no generators
        if first[k] > second[k]:
            return False
    return True


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _front(vectors: FloatArray) -> IndexArray:
    """The vectors that no earlier one dominates, ascending.

    The vectors ascend by their sum, so that none is dominated by a later one that does not equal it.
    """
    front = np.empty(vectors.shape[0], dtype=np.intp)
    size = 0
    for at in range(vectors.shape[0]):
        dominated = False
        for f in range(size):
            if _dominates(vectors[front[f]], vectors[at]):
                dominated = True
                break
        if not dominated:
            front[size] = at
            size += 1
    return front[:size]


def _reduced(vectors: FloatArray, partner: FloatArray, tie: FloatArray) -> tuple[IndexArray, bool]:
    """Rivals of one block, of a monotone aggregator, that matter; and whether the block is lost.

    A rival that is farther than the partner by more than a tie on every attribute is so for all
    parameters, one that is so on no attribute for none, and one that another rival dominates is implied.
    """
    farther = tie < (vectors - partner).T
    if (~farther).all(axis=0).any():
        return np.empty(0, dtype=np.intp), True
    near = np.flatnonzero(~farther.all(axis=0))
    near = near[np.argsort(vectors[near].sum(axis=1), kind="stable")]
    return np.sort(near[_front(vectors[near])]), False


def block_rows(pair: LinkagePair, aggregator: Aggregator, *, reduce: bool = True) -> BlockRows:
    """List the rows of every block, chunk by chunk.

    Parameters
    ----------
    pair : LinkagePair
    aggregator : Aggregator
    reduce : bool
        Leave out rows that the others imply (only where `aggregator.monotone`).

    Returns
    -------
    BlockRows
    """
    partner = pair.partner_distances(aggregator.differences)
    ordered = aggregator.comparable(partner)
    lost = np.zeros(pair.blocks, dtype=bool)
    kept: list[IndexArray] = []
    distances: list[FloatArray] = []
    ties: list[FloatArray] = []
    sizes = np.zeros(pair.blocks, dtype=np.intp)
    for part, chunk in pair.chunks(aggregator.differences):
        for block, everyone in zip(range(part.start, part.stop), chunk, strict=True):
            rivals = pair.rivals(block)
            vectors = everyone[rivals]
            own = partner[block : block + 1]
            tie = aggregator.tie(np.broadcast_to(own, vectors.shape), vectors)
            if aggregator.monotone and reduce:
                chosen, lost[block] = _reduced(aggregator.comparable(vectors), ordered[block], tie)
            else:
                # The largest by which a rival can be farther, for any parameters.
                most = aggregator.largest_excess(vectors, np.broadcast_to(own, vectors.shape))
                lost[block] = bool((most <= tie).any())
                chosen = np.arange(0 if lost[block] else len(vectors))
            kept.append(rivals[chosen])
            distances.append(vectors[chosen])
            ties.append(tie[chosen])
            sizes[block] = len(chosen)
    return BlockRows(
        block=np.repeat(np.arange(pair.blocks), sizes),
        rival=np.concatenate(kept),
        distances=np.concatenate(distances),
        partner=partner,
        tie=np.concatenate(ties),
        lost=lost,
    )
