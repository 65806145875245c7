"""The rows of the blocks: which rivals can keep a record from being linked, and which need no row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

from formulations.aggregators.base import Aggregator
from formulations.distances import TIE_TOLERANCE
from formulations.pair import LinkagePair

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


@dataclass(frozen=True)
class BlockRows:
    """Rivals that matter, block by block.

    With t the `TIE_TOLERANCE`, block i is linked by ``theta`` when ``((1 - t) features(rival) - (1 + t)
    features(partner) - noise(rival) - noise(partner)) @ theta > 0`` for each of its rows, unless it is
    `lost`: the rival is farther than the partner by more than a tie, as the evaluator has it.

    Attributes
    ----------
    block, rival : ndarray of int, shape (rows,)
        The block and the candidate of each row; blocks ascend.
    distances : ndarray of float64, shape (rows, attributes)
        Attribute distances from the block's query to the rival.
    partner : ndarray of float64, shape (blocks, attributes)
        Attribute distances from each query to its own partner.
    lost : ndarray of bool, shape (blocks,)
        Blocks that no parameters can link: a rival is at least as near on every attribute.
    """

    block: IndexArray
    rival: IndexArray
    distances: FloatArray
    partner: FloatArray
    lost: NDArray[np.bool_]

    def beyond_ties(self, aggregator: Aggregator) -> tuple[FloatArray, FloatArray]:
        """Attribute distances scaled such that strictly nearer means nearer by more than a tie.

        Returns
        -------
        partner : ndarray of float64, shape (blocks, attributes)
            Those whose features are ``(1 + t) features(partner)``.
        distances : ndarray of float64, shape (rows, attributes)
            Those whose features are ``(1 - t) features(rival)``.
        """
        root = 1.0 / aggregator.degree
        return self.partner * (1 + TIE_TOLERANCE) ** root, self.distances * (1 - TIE_TOLERANCE) ** root

    def features(self, aggregator: Aggregator) -> sparse.csr_array:
        """What must be positive (see the class) by row, shape (rows, dimension)."""
        partner, distances = self.beyond_ties(aggregator)
        own = aggregator.features(partner)
        return sparse.csr_array(aggregator.features(distances) - own[self.block] - self.noise(aggregator))

    def noise(self, aggregator: Aggregator) -> sparse.csr_array:
        """Features of what rounding can move each row by, shape (rows, dimension)."""
        return sparse.csr_array(aggregator.noise(self.distances) + aggregator.noise(self.partner)[self.block])


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _farther(rival: FloatArray, partner: FloatArray) -> int:
    """On how many attributes the rival is farther than the partner, ties aside."""
    count = 0
    for k in range(partner.size):
        if rival[k] - partner[k] > TIE_TOLERANCE * (rival[k] + partner[k]):
            count += 1
    return count


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _dominates(first: FloatArray, second: FloatArray) -> bool:
    """Whether `first` is at least as near as `second` on every attribute."""
    for k in range(first.size):  # noqa: SIM110 - compiled code has no generators
        if first[k] > second[k]:
            return False
    return True


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _sweep(vectors: FloatArray, order: IndexArray, partner: FloatArray, keep: NDArray[np.uint8]) -> bool:
    """Mark the non-dominated rivals of one block in `keep`; True when the block is lost.

    `vectors` has one row per rival; `order` sorts them by their sum, so that no vector is dominated by a
    later one. A rival that is farther than the partner on every attribute can never be nearer.
    """
    front = np.empty(vectors.shape[0], dtype=np.intp)
    size = 0
    for at in order:
        farther = _farther(vectors[at], partner)
        if farther == 0:
            return True
        if farther == partner.size:
            continue
        dominated = False
        for f in range(size):
            if _dominates(vectors[front[f]], vectors[at]):
                dominated = True
                break
        if not dominated:
            front[size] = at
            size += 1
            keep[at] = 1
    return False


def _reduced(vectors: FloatArray, partner: FloatArray) -> tuple[IndexArray, bool]:
    """Rivals of one block that no other rival dominates, and whether the block is lost."""
    keep = np.zeros(len(vectors), dtype=np.uint8)
    order = np.argsort(vectors.sum(axis=1), kind="stable")
    lost = bool(_sweep(vectors, order, partner, keep))
    return (np.empty(0, dtype=np.intp) if lost else np.flatnonzero(keep)), lost


def block_rows(pair: LinkagePair, aggregator: Aggregator, *, reduce: bool = True) -> BlockRows:
    """List the rows of every block, chunk by chunk.

    For a monotone aggregator a rival that another rival dominates (at least as near on every attribute)
    needs no row, nor does one that is farther than the partner on every attribute; a block with a rival
    that is at least as near as the partner on every attribute is lost. For other aggregators a block is
    lost when a rival's attribute distances equal the partner's up to sign.

    Parameters
    ----------
    pair : LinkagePair
    aggregator : Aggregator
    reduce : bool
        Leave dominated rows out (only where `aggregator.monotone`).

    Returns
    -------
    BlockRows
    """
    partner = pair.partner_distances(aggregator.differences)
    lost = np.zeros(pair.blocks, dtype=bool)
    kept: list[IndexArray] = []
    distances: list[FloatArray] = []
    sizes = np.zeros(pair.blocks, dtype=np.intp)
    ordered_partner = aggregator.comparable(partner)
    for part, chunk in pair.chunks(aggregator.differences):
        for block, everyone in zip(range(part.start, part.stop), chunk, strict=True):
            rivals = pair.rivals(block)
            vectors = everyone[rivals]
            if aggregator.monotone and reduce:
                chosen, lost[block] = _reduced(aggregator.comparable(vectors), ordered_partner[block])
            else:
                chosen, lost[block] = _all_rivals(vectors, partner[block], aggregator)
            kept.append(rivals[chosen])
            distances.append(vectors[chosen])
            sizes[block] = len(chosen)
    return BlockRows(
        block=np.repeat(np.arange(pair.blocks), sizes),
        rival=np.concatenate(kept),
        distances=np.concatenate(distances),
        partner=partner,
        lost=lost,
    )


def _all_rivals(vectors: FloatArray, partner: FloatArray, aggregator: Aggregator) -> tuple[IndexArray, bool]:
    """Every rival of one block, unless one of them makes it lost."""
    if aggregator.monotone:
        c, own = aggregator.comparable(vectors), aggregator.comparable(partner[None, :])
        lost = bool((c - own <= TIE_TOLERANCE * (c + own)).all(axis=1).any())
    else:
        size = np.abs(vectors) + np.abs(partner)
        same = (np.abs(vectors - partner) <= TIE_TOLERANCE * size).all(axis=1)
        mirrored = (np.abs(vectors + partner) <= TIE_TOLERANCE * size).all(axis=1)
        lost = bool((same | mirrored).any())
    return (np.empty(0, dtype=np.intp) if lost else np.arange(len(vectors))), lost
