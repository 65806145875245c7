"""Local search for a light hitting set: often an optimal one, in milliseconds, but without a proof.

Row weighting: cores that are hard to hit weigh more and more, a block is taken out where that costs least,
and one that hits a random missed core best is taken in (Gao, Weise and Li 2015).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


class Incidence(NamedTuple):
    """Which blocks are in which cores, both ways.

    Attributes
    ----------
    first, member : ndarray of int
        Core c has the blocks ``member[first[c]:first[c + 1]]``.
    first_of_block, core : ndarray of int
        Block b is in the cores ``core[first_of_block[b]:first_of_block[b + 1]]``.
    """

    first: IndexArray
    member: IndexArray
    first_of_block: IndexArray
    core: IndexArray


def incidence(sizes: IndexArray, members: IndexArray, blocks: int) -> Incidence:
    """List the cores of every block, given the size of each core and the blocks of all, core by core."""
    order = np.argsort(members, kind="stable")
    return Incidence(
        first=np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp),
        member=members,
        first_of_block=np.searchsorted(members[order], np.arange(blocks + 1)).astype(np.intp),
        core=np.repeat(np.arange(sizes.size), sizes)[order].astype(np.intp),
    )


class _State(NamedTuple):
    """The set of blocks and what follows from it.

    Attributes
    ----------
    chosen, moved : shape (blocks,)
        Whether a block is in the set, and when it last moved.
    score : shape (blocks,)
        Cost of the cores that only this block hits, or that it would newly hit.
    hits, cost : shape (cores,)
        Chosen blocks of a core, and what missing it costs.
    missed, place : shape (cores,)
        The cores that are missed, and where each of them is in that list.
    """

    chosen: BoolArray
    moved: IndexArray
    score: FloatArray
    hits: IndexArray
    cost: FloatArray
    missed: IndexArray
    place: IndexArray


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _count(cores: Incidence, state: _State) -> int:
    """Fill in hits, scores and the missed cores of the chosen set; returns the number of missed cores."""
    missing = 0
    for core in range(cores.first.size - 1):
        blocks = cores.member[cores.first[core] : cores.first[core + 1]]
        for block in blocks:
            state.hits[core] += state.chosen[block]
        if state.hits[core] == 0:
            state.missed[missing] = core
            state.place[core] = missing
            missing += 1
        for block in blocks:
            if state.hits[core] == 0 or (state.hits[core] == 1 and state.chosen[block]):
                state.score[block] += state.cost[core]
    return missing


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _take_out(cores: Incidence, state: _State, block: int, missing: int) -> int:
    """Take a block out of the set; returns the number of missed cores."""
    state.chosen[block] = False
    for core in cores.core[cores.first_of_block[block] : cores.first_of_block[block + 1]]:
        state.hits[core] -= 1
        now = state.hits[core]
        if now == 0:
            state.missed[missing] = core
            state.place[core] = missing
            missing += 1
        if now > 1:
            continue
        # Whoever could hit it now gains, or the one that hits it alone now.
        for other in cores.member[cores.first[core] : cores.first[core + 1]]:
            if other != block and (now == 0 or state.chosen[other]):
                state.score[other] += state.cost[core]
    return missing


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _take_in(cores: Incidence, state: _State, block: int, missing: int) -> int:
    """Take a block into the set; returns the number of missed cores."""
    state.chosen[block] = True
    for core in cores.core[cores.first_of_block[block] : cores.first_of_block[block + 1]]:
        state.hits[core] += 1
        now = state.hits[core]
        if now == 1:
            missing -= 1
            last = state.missed[missing]
            state.missed[state.place[core]] = last
            state.place[last] = state.place[core]
        if now > 2:
            continue
        # No one else can hit it newly any more, or the one that hit it alone does so no longer.
        for other in cores.member[cores.first[core] : cores.first[core + 1]]:
            if other != block and (now == 1 or state.chosen[other]):
                state.score[other] -= state.cost[core]
    return missing


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _least_loss(state: _State, weight: FloatArray, tabu: int) -> int:
    """The chosen block that costs least for its weight, the one that moved longest ago among equals."""
    best, least = -1, np.inf
    for block in range(weight.size):
        if not state.chosen[block] or block == tabu:
            continue
        loss = state.score[block] / weight[block]
        if loss < least or (loss == least and state.moved[block] < state.moved[best]):
            best, least = block, loss
    return best


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _most_gain(blocks: IndexArray, state: _State, weight: FloatArray) -> int:
    """The block that gains most for its weight, the one that moved longest ago among equals."""
    best, most = -1, -np.inf
    for block in blocks:
        gain = state.score[block] / weight[block]
        if gain > most or (gain == most and state.moved[block] < state.moved[best]):
            best, most = block, gain
    return best


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _raise_costs(cores: Incidence, state: _State, missing: int) -> None:
    """Let every missed core cost more."""
    for core in state.missed[:missing]:
        state.cost[core] += 1.0
        for block in cores.member[cores.first[core] : cores.first[core + 1]]:
            state.score[block] += 1.0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def search_cover(
    cores: Incidence, weight: FloatArray, start: BoolArray, target: float, steps: int, random: Any
) -> Any:
    """Look for a set of blocks that hits every core and weighs at most `target`.

    Parameters
    ----------
    cores : Incidence
    weight : ndarray of float64, shape (blocks,)
    start : ndarray of bool, shape (blocks,)
        Where to begin; it need not hit every core.
    target : float
    steps : int
        Moves to make at most.
    random : numpy.random.Generator

    Returns
    -------
    chosen : ndarray of bool, shape (blocks,)
    found : bool
        Whether it is such a set.
    """
    many = cores.first.size - 1
    state = _State(
        start.copy(),
        np.zeros(weight.size, dtype=np.intp),
        np.zeros(weight.size),
        np.zeros(many, dtype=np.intp),
        np.ones(many),
        np.empty(many, dtype=np.intp),
        np.empty(many, dtype=np.intp),
    )
    missing = _count(cores, state)
    total = (weight * state.chosen).sum()
    tabu = -1
    for step in range(1, steps + 1):
        if missing > 0 and total <= target:
            core = state.missed[random.integers(0, missing)]
            block = _most_gain(cores.member[cores.first[core] : cores.first[core + 1]], state, weight)
            missing = _take_in(cores, state, block, missing)
            total += weight[block]
            tabu = block
            _raise_costs(cores, state, missing)
        elif total <= target:
            return state.chosen, True
        else:
            block = _least_loss(state, weight, tabu)
            if block < 0:
                break
            missing = _take_out(cores, state, block, missing)
            total -= weight[block]
        state.moved[block] = step
    return state.chosen, missing == 0 and total <= target
