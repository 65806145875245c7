"""Compiled walks through the boxes of candidates: who may be as near as the partner, and who is nearest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.compiled import kernel
from linkrisk.solver.certificates.checking.box_kernels import (
    LEAF,
    Boxed,
    Compared,
    Distance,
    enclosed,
    rows_of_tables,
    sort_descending,
    spans,
    to_sizes,
)

DEEPEST = 256
"""Boxes that wait while others are looked at: two for each halving of the candidates would do."""

_UNKNOWN = 1e308


class Asked(NamedTuple):
    """Some blocks, and which of their rivals are wanted.

    Attributes
    ----------
    blocks : ndarray of int64, shape (some,)
        Which blocks.
    twins : ndarray of int64, shape (some,)
        The number in `Boxed.twins` of candidates that are none of their rivals.
    near, far : ndarray of float64, shape (some,)
        What is surely below `near` is counted and not listed, what is surely above `far` is left out.
    """

    blocks: LongArray
    twins: LongArray
    near: FloatArray
    far: FloatArray


class Near(NamedTuple):
    """What `list_near` finds.

    Attributes
    ----------
    nearer : ndarray of int64, shape (some,)
        Number of those that are surely nearer.
    complete : ndarray of bool, shape (some,)
        Whether all were listed, counted or left out.
    of_block, listed : ndarray of int64, shape (room,)
        Place of the block among `blocks`, place of the candidate among the points.
    """

    nearer: LongArray
    complete: BoolArray
    of_block: LongArray
    listed: LongArray


@kernel
def list_near(  # noqa: C901
    asked: Asked, first_only: bool, most_listed: int, distance: Distance, error: float, compared: Compared,
    boxed: Boxed, found: Near,
) -> tuple[int, int]:  # fmt: skip
    """List the candidates of each block that are not surely farther than `far`, and count the surely nearer.

    Parameters
    ----------
    asked : Asked
    first_only : bool
        Whether a block is done with when one is surely nearer; that one is listed then.
    most_listed : int
        A block is given up when so many are listed.
    distance : Distance
    error : float
        Of it, in proportion to the largest attribute distance.
    compared : Compared
    boxed : Boxed
    found : Near
        Out.

    Returns
    -------
    int, int
        How many of the blocks were done before the room was full, and how much is listed of these.
    """
    blocks, own_twins, near, far = asked
    nearer, complete, of_block, listed = found
    queries, lackings, kinds, offsets, widths = (
        compared.queries, compared.lacking, compared.kinds, compared.offsets, compared.widths
    )  # fmt: skip
    held, twins = boxed.held, boxed.twins
    attributes, leaves, used = kinds.size, held.size // 2, 0
    low, high, own = np.empty(attributes), np.empty(attributes), np.empty(attributes)
    places, starts = np.empty(attributes, dtype=np.int64), np.zeros(attributes, dtype=np.int64)
    stack, nothing, bounds = np.empty(DEEPEST, dtype=np.int64), np.full(attributes, np.nan), np.empty(2)
    for one in range(blocks.size):
        query = queries[blocks[one]]
        lacking = lackings[blocks[one]] if lackings.shape[0] > 0 else nothing
        rows_of_tables(query, kinds, offsets, widths, starts)
        began, waiting, nearer[one], complete[one] = used, 1, 0, True
        stack[0] = 1
        while waiting > 0:
            waiting -= 1
            at = stack[waiting]
            if at < leaves:
                for side in range(2):
                    child, bounds[side] = 2 * at + side, np.inf
                    possible = held[child] and spans(
                        child, query, lacking, compared, starts, boxed.boxes, low, high
                    )  # fmt: skip
                    if possible == 0:
                        continue
                    shortest, longest = enclosed(distance, error, low, high, own, places)
                    if shortest > far[one]:
                        continue
                    if possible == 2 and longest < near[one] and not first_only:
                        nearer[one] += held[child]
                        continue
                    bounds[side] = shortest if shortest < _UNKNOWN else _UNKNOWN
                waiting = _push(at, bounds, stack, waiting)
                continue
            begins = (at - leaves) * LEAF
            for place in range(begins, begins + held[at]):
                if twins[place] == own_twins[one] or not spans(
                    place, query, lacking, compared, starts, boxed.points, low, high
                ):  # fmt: skip
                    continue
                shortest, longest = enclosed(distance, error, low, high, own, places)
                if shortest > far[one]:
                    continue
                if longest < near[one]:
                    nearer[one] += 1
                    if not first_only:
                        continue
                if used == of_block.size:
                    return one, began
                of_block[used], listed[used] = one, place
                used += 1
                if (nearer[one] > 0 and first_only) or used - began >= most_listed:
                    complete[one], waiting = False, 0
                    break
    return blocks.size, used


@kernel
def _push(at: int, bounds: FloatArray, stack: LongArray, waiting: int) -> int:
    """Put the two parts of a box that are to be looked at on the stack, the nearer one on top."""
    upper = 1 if bounds[1] < bounds[0] else 0
    for side in (1 - upper, upper):
        if bounds[side] < np.inf:
            stack[waiting] = 2 * at + side
            waiting += 1
    return waiting


@kernel
def find_nearest(blocks: LongArray, own_twins: LongArray, distance: Distance,  # noqa: C901
                 compared: Compared, boxed: Boxed, nearest: LongArray) -> None:  # fmt: skip
    """The place of the nearest rival of each block, up to rounding; -1 where it has none.

    Parameters are those of `list_near`.
    """
    queries, lackings, kinds, offsets, widths = (
        compared.queries, compared.lacking, compared.kinds, compared.offsets, compared.widths
    )  # fmt: skip
    held, twins = boxed.held, boxed.twins
    attributes, leaves = kinds.size, held.size // 2
    low, high, own = np.empty(attributes), np.empty(attributes), np.empty(attributes)
    places, starts = np.empty(attributes, dtype=np.int64), np.zeros(attributes, dtype=np.int64)
    stack, nothing = np.empty(DEEPEST, dtype=np.int64), np.full(attributes, np.nan)
    bounds, least_of = np.empty(2), np.empty(DEEPEST)
    for one in range(blocks.size):
        query = queries[blocks[one]]
        lacking = lackings[blocks[one]] if lackings.shape[0] > 0 else nothing
        rows_of_tables(query, kinds, offsets, widths, starts)
        waiting, nearest[one], best = 1, -1, np.inf
        stack[0], least_of[0] = 1, -np.inf
        while waiting > 0:
            waiting -= 1
            at = stack[waiting]
            if least_of[waiting] >= best:
                continue
            if at < leaves:
                for side in range(2):
                    child, bounds[side] = 2 * at + side, np.inf
                    if held[child] > 0 and spans(
                        child, query, lacking, compared, starts, boxed.boxes, low, high
                    ):  # fmt: skip
                        shortest, _ = enclosed(distance, 0.0, low, high, own, places)
                        bounds[side] = shortest if shortest < _UNKNOWN else _UNKNOWN
                before = waiting
                waiting = _push(at, bounds, stack, waiting)
                for pushed in range(before, waiting):
                    least_of[pushed] = bounds[stack[pushed] - 2 * at]
                continue
            begins = (at - leaves) * LEAF
            for place in range(begins, begins + held[at]):
                if twins[place] == own_twins[one] or not spans(
                    place, query, lacking, compared, starts, boxed.points, low, high
                ):  # fmt: skip
                    continue
                shortest, _ = enclosed(distance, 0.0, low, high, own, places)
                if shortest < best or nearest[one] < 0:
                    best, nearest[one] = shortest, place


@kernel
def settle_order(blocks: LongArray, own_twins: LongArray, partners: tuple[FloatArray, FloatArray],
                 ranked: bool, sequence: LongArray, compared: Compared, boxed: Boxed,
                 state: LongArray) -> None:  # fmt: skip
    """Whether comparing attributes or ranks one after another links each block.

    Parameters
    ----------
    partners : two ndarrays of float64, shape (some, attributes)
        Distances of the partner, as they are and up to which a rival is not farther; by rank, if `ranked`.
    sequence : ndarray of int64
        What is compared, in this order.
    state : ndarray of int64, shape (some,)
        Out: 1 where all rivals are farther, 0 where some tie and all others are farther, -1 where one is not.
    """
    mine, tied = partners
    queries, lackings, kinds, offsets, widths = (
        compared.queries, compared.lacking, compared.kinds, compared.offsets, compared.widths
    )  # fmt: skip
    held, twins = boxed.held, boxed.twins
    attributes, leaves = kinds.size, held.size // 2
    low, high, starts = np.empty(attributes), np.empty(attributes), np.zeros(attributes, dtype=np.int64)
    stack, nothing, bounds = np.empty(DEEPEST, dtype=np.int64), np.full(attributes, np.nan), np.empty(2)
    for one in range(blocks.size):
        query = queries[blocks[one]]
        lacking = lackings[blocks[one]] if lackings.shape[0] > 0 else nothing
        rows_of_tables(query, kinds, offsets, widths, starts)
        waiting, state[one], stack[0] = 1, 1, 1
        while waiting > 0:
            waiting -= 1
            at = stack[waiting]
            if at < leaves:
                for side in range(2):
                    child, bounds[side] = 2 * at + side, np.inf
                    if held[child] == 0 or not spans(
                        child, query, lacking, compared, starts, boxed.boxes, low, high
                    ):  # fmt: skip
                        continue
                    found = _compare(low, high, mine[one], tied[one], ranked, sequence)
                    if found == 1 or (found == 0 and state[one] == 0):
                        continue  # farther, or one more that ties
                    ahead = low.sum() if ranked else low[sequence[-1]]
                    bounds[side] = ahead if ahead < _UNKNOWN else _UNKNOWN
                waiting = _push(at, bounds, stack, waiting)
                continue
            begins = (at - leaves) * LEAF
            for place in range(begins, begins + held[at]):
                if twins[place] == own_twins[one] or not spans(
                    place, query, lacking, compared, starts, boxed.points, low, high
                ):  # fmt: skip
                    continue
                found = _compare(low, high, mine[one], tied[one], ranked, sequence)
                state[one] = min(state[one], found)
                if found < 0:
                    waiting = 0
                    break


@kernel
def _compare(low: FloatArray, high: FloatArray, mine: FloatArray, tied: FloatArray, ranked: bool,
             sequence: LongArray) -> int:  # fmt: skip
    """1 if all between two ends are farther than the partner, 0 if all tie with it, else -1.

    What first does not tie decides. One candidate is compared for good: its two ends are the same.
    """
    to_sizes(low, high)
    if ranked:
        sort_descending(low)
        sort_descending(high)
    for k in sequence:
        if low[k] > tied[k]:
            return 1
        if low[k] != mine[k] or high[k] != mine[k]:
            return -1
    return 0
