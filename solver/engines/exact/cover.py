"""Local search for a light hitting set: often an optimal one, in milliseconds, but without a proof.

Row weighting: cores that are hard to hit weigh more and more, a block is taken out where that costs least,
and one that hits a random missed core best is taken in (Gao, Weise and Li 2015).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _least_loss(
    chosen: NDArray[np.bool_], score: FloatArray, weight: FloatArray, moved: IndexArray, tabu: int
) -> int:
    """The chosen block whose cores are hit otherwise, or weigh least for its own weight; oldest first."""
    best, least = -1, np.inf
    for block in range(chosen.size):
        if not chosen[block] or block == tabu:
            continue
        loss = score[block] / weight[block]
        if loss < least or (loss == least and moved[block] < moved[best]):
            best, least = block, loss
    return best


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def search_cover(
    first: IndexArray,
    member: IndexArray,
    first_of_block: IndexArray,
    core_of_block: IndexArray,
    weight: FloatArray,
    start: NDArray[np.bool_],
    target: float,
    steps: int,
    seed: int,
) -> Any:
    """Look for a set of blocks that hits every core and weighs at most `target`.

    Parameters
    ----------
    first, member : ndarray of int
        Core c has the blocks ``member[first[c]:first[c + 1]]``.
    first_of_block, core_of_block : ndarray of int
        Block b is in the cores ``core_of_block[first_of_block[b]:first_of_block[b + 1]]``.
    weight : ndarray of float64, shape (blocks,)
    start : ndarray of bool, shape (blocks,)
        Where to begin; it need not hit every core.
    target : float
    steps : int
        Moves to make at most.
    seed : int

    Returns
    -------
    chosen : ndarray of bool, shape (blocks,)
    found : bool
        Whether it is such a set.
    """
    np.random.seed(seed)
    cores, blocks = first.size - 1, weight.size
    chosen = start.copy()
    hits = np.zeros(cores, dtype=np.intp)
    cost = np.ones(cores)
    score = np.zeros(blocks)  # cost of the cores that only this block hits, or that it would hit newly
    moved = np.zeros(blocks, dtype=np.intp)
    missed = np.empty(cores, dtype=np.intp)
    place = np.full(cores, -1, dtype=np.intp)
    missing, total, tabu = 0, 0.0, -1
    for block in range(blocks):
        total += weight[block] if chosen[block] else 0.0
    for core in range(cores):
        for at in range(first[core], first[core + 1]):
            hits[core] += chosen[member[at]]
        if hits[core] == 0:
            missed[missing] = core
            place[core] = missing
            missing += 1
        for at in range(first[core], first[core + 1]):
            block = member[at]
            if hits[core] == 0 or (hits[core] == 1 and chosen[block]):
                score[block] += 1.0
    for step in range(1, steps + 1):
        if missing == 0 and total <= target:
            return chosen, True
        drop = missing == 0 or total > target
        if drop:
            block = _least_loss(chosen, score, weight, moved, tabu)
            if block < 0:
                return chosen, False
        else:
            core = missed[np.random.randint(missing)]
            block, best = -1, -np.inf
            for at in range(first[core], first[core + 1]):
                other = member[at]
                gain = score[other] / weight[other]
                if gain > best or (gain == best and moved[other] < moved[block]):
                    block, best = other, gain
            tabu = block
        chosen[block] = not drop
        moved[block] = step
        total += -weight[block] if drop else weight[block]
        for at in range(first_of_block[block], first_of_block[block + 1]):
            core = core_of_block[at]
            hits[core] += -1 if drop else 1
            now = hits[core]
            if drop and now == 0:
                missed[missing] = core
                place[core] = missing
                missing += 1
            elif not drop and now == 1:
                missing -= 1
                last = missed[missing]
                missed[place[core]] = last
                place[last] = place[core]
            if drop and now > 1 or not drop and now > 2:
                continue
            # Who gains or loses by the core: everyone while it is missed, one block while that alone hits it.
            for k in range(first[core], first[core + 1]):
                other = member[k]
                if other == block:
                    continue
                if now == 0 or (now == 1 and drop and chosen[other]):
                    score[other] += cost[core]
                elif now == 1 and not drop or (now == 2 and chosen[other]):
                    score[other] -= cost[core]
        if not drop:
            for at in range(missing):
                core = missed[at]
                cost[core] += 1.0
                for k in range(first[core], first[core + 1]):
                    score[member[k]] += 1.0
    return chosen, missing == 0 and total <= target
