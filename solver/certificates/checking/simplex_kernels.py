"""Compiled check of simplex trees, in 64-bit integers that never round in favour of a claim.

A simplex is represented by upper bounds on the values of rows at its vertices. The value at the midpoint of
an edge is at most the mean of its ends, rounded up. A row that is positive at no vertex is positive nowhere
on the simplex, and its block is not linked there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import LongArray
from linkrisk.formulations.compiled import kernel

DEEPEST = 2_000
"""Deepest tree."""

BITS = 60
"""Rows are rounded to at most ``2**BITS``, so that the sum of two values fits 64 bits."""

LARGEST_TOTAL = 1 << 60
"""Weight of all blocks together, so that sums and differences of such sums fit 64 bits."""

MOST_VALUES = 1 << 26
"""Values of rows kept for the current path of a tree: half a gigabyte."""

_NEAR = 1e-14  # relative error of quotients of doubles, rounded up
_HALF = 31
_LOW = (1 << _HALF) - 1


@kernel
def _product(first: int, second: int) -> tuple[int, int, int]:
    """Multiply two integers from 0 to ``2**62`` exactly, by their digits to the base ``2**31``."""
    high, low, other_high, other_low = first >> _HALF, first & _LOW, second >> _HALF, second & _LOW
    last = low * other_low
    middle = high * other_low + low * other_high + (last >> _HALF)
    return high * other_high + (middle >> _HALF), middle & _LOW, last & _LOW


@kernel
def _leaves_a_ratio(first: LongArray, second: LongArray) -> bool:
    """Tell exactly whether a ratio x fits all vertices: see `rows_conflict`."""
    for low in range(first.size):
        if second[low] >= 0 or first[low] <= 0:
            continue
        for high in range(first.size):
            # x >= first[low] / -second[low] and x <= -first[high] / second[high] need an order.
            if second[high] > 0 and _product(first[low], second[high]) > _product(-first[high], -second[low]):
                return False
    return True


@kernel
def rows_conflict(first: LongArray, second: LongArray) -> bool:
    """Tell whether some ``first + x * second`` with x > 0 is positive at no vertex.

    The two rows are then nowhere positive together. Doubles decide unless two quotients are too close;
    integers do then.
    """
    low, high = 0.0, np.inf
    for vertex in range(first.size):
        a, b = first[vertex], second[vertex]
        if b < 0:
            if a > 0:
                low = max(low, a / -b)
        elif a > 0 or (a == 0 and b > 0):
            return False
        elif b > 0:
            high = min(high, -a / b)
        if low > high * (1.0 + _NEAR):
            return False
    return low < high * (1.0 - _NEAR) or _leaves_a_ratio(first, second)


@kernel
def _blocks_conflict(values: LongArray, first: int, after_first: int, second: int, after: int) -> bool:
    """Tell whether a row of one block conflicts with a row of another, given the ranges of their rows."""
    for row in range(first, after_first):
        for other in range(second, after):
            if rows_conflict(values[row], values[other]):
                return True
    return False


@kernel
def _joins(values: LongArray, starts: LongArray, clique: LongArray, other: int) -> bool:
    """Tell whether a block conflicts with every member of a clique."""
    for member in clique:
        if not _blocks_conflict(values, starts[member], starts[member + 1], starts[other], starts[other + 1]):
            return False
    return True


@kernel
def clique_saving(values: LongArray, block: LongArray, weight: LongArray, needed: int) -> Any:
    """Bound the weight lost to conflicts: of a clique only one block can be linked.

    Greedy: each block starts a clique, which takes every later block that conflicts with all of it. Stops
    when `needed` is reached.
    """
    starts = np.empty(values.shape[0] + 1, dtype=np.int64)
    many = 0
    for at in range(values.shape[0]):
        if at == 0 or block[at] != block[at - 1]:
            starts[many] = at
            many += 1
    starts[many] = values.shape[0]
    taken = np.zeros(many, dtype=np.uint8)
    clique = np.empty(many, dtype=np.int64)
    saving = 0
    for seed in range(many):
        if taken[seed] == 1:
            continue
        size, heaviest = 1, weight[block[starts[seed]]]
        clique[0] = seed
        for other in range(seed + 1, many):
            if taken[other] == 1 or not _joins(values, starts, clique[:size], other):
                continue
            own = weight[block[starts[other]]]
            clique[size] = other
            size += 1
            taken[other] = 1
            saving += min(own, heaviest)
            heaviest = max(heaviest, own)
            if saving >= needed:
                return saving
    return saving


@kernel
def halve_row(values: LongArray, kept: int, moved: int, out: LongArray) -> tuple[int, int]:
    """Compute a row after vertex `moved` went to the midpoint of its edge to `kept`; return its extremes."""
    low = high = out[moved] = (values[kept] + values[moved] + 1) >> 1
    for vertex in range(values.size):
        if vertex != moved:
            value = values[vertex]
            out[vertex] = value
            low, high = min(low, value), max(high, value)
    return low, high


@kernel
def classify(
    values: LongArray,
    block: LongArray,
    weight: LongArray,
    kept: int,
    moved: int,
    out_values: LongArray,
    out_block: LongArray,
) -> tuple[int, int, int]:
    """Classify the blocks in one half of a simplex as linked nowhere, undecided, or linked everywhere.

    Blocks ascend in `values` (rows, corners) and `block` (rows,); vertex `moved` goes to the middle of its
    edge to `kept`. The rows of undecided blocks that are not positive at every vertex are written. Returns
    their number, and the weights of the undecided blocks and of those that have no row left.
    """
    size, undecided, linked, at = 0, 0, 0, 0
    while at < block.size:
        owner, first, lost = block[at], size, False
        while at < block.size and block[at] == owner:
            if not lost:
                low, high = halve_row(values[at], kept, moved, out_values[size])
                if high <= 0:
                    lost = True
                elif low <= 0:
                    out_block[size] = owner
                    size += 1
            at += 1
        if lost:
            size = first
        elif size == first:
            linked += weight[owner]
        else:
            undecided += weight[owner]
    return size, undecided, linked


@kernel
def edge_ends(edge: int, corners: int) -> tuple[int, int]:
    """Return the vertices of an edge, counted from 1 in the order 0-1, 0-2, ..., 1-2, ...; else -1."""
    left = edge - 1
    for one in range(corners - 1):
        if left < corners - 1 - one:
            return one, one + 1 + left
        left -= corners - 1 - one
    return -1, -1


@kernel
def enlarged(values: LongArray, block: LongArray, rows: int) -> Any:
    """Enlarge two lists for these rows, unless that would be too many."""
    most = MOST_VALUES // values.shape[1]
    if rows <= values.shape[0] or rows > most:
        return values, block
    room = min(2 * rows, most)
    more_values = np.empty((room, values.shape[1]), dtype=np.int64)
    more_block = np.empty(room, dtype=np.int64)
    for row in range(block.size):  # by hand: numba's assignment brings the words of its errors, for 2.5 s
        more_block[row] = block[row]
        for corner in range(values.shape[1]):
            more_values[row, corner] = values[row, corner]
    return more_values, more_block


@kernel
def replay(
    rows: LongArray, row_block: LongArray, weight: LongArray, most: int, codes: NDArray[np.uint8]
) -> tuple[int, int, int]:
    """Check a tree: at each leaf, the blocks that may be linked weigh at most `most`.

    `rows` (rows, corners) are values at the corners of the simplex, `codes` the tree in preorder: 0 for a
    leaf, else the edge that is halved. Returns 0 when all holds (1: a leaf that may hold more, 2: no such
    edge, 3: too deep, 4: a tree that ends early or late, 5: too many rows on the way down), the place in
    `codes`, and the number of leaves that were checked.
    """
    corners = rows.shape[1]
    # The rows of the simplices on the way down lie one after the other; each is a half of the one before.
    values = np.empty((4 * rows.shape[0] + 4, corners), dtype=np.int64)
    block = np.empty(values.shape[0], dtype=np.int64)
    start, linked = np.zeros(DEEPEST + 2, dtype=np.int64), np.zeros(DEEPEST + 2, dtype=np.int64)
    edge, side = np.zeros(DEEPEST + 2, dtype=np.int64), np.zeros(DEEPEST + 2, dtype=np.int64)
    size, undecided, sure = classify(rows, row_block, weight, 0, 0, values, block)
    start[1], linked[0] = size, sure
    level, leaves = 0, 0
    for at in range(codes.size):
        if level < 0:
            return 4, at, leaves
        if codes[at] == 0:
            needed = linked[level] + undecided - most
            first, after = start[level], start[level + 1]
            if needed > 0 and clique_saving(values[first:after], block[first:after], weight, needed) < needed:
                return 1, at, leaves
            leaves += 1
            # Up to the last simplex of which only the first half has been looked at.
            level -= 1
            while level >= 0 and side[level] == 1:
                level -= 1
            if level < 0:
                continue
            side[level] = 1
        else:
            if edge_ends(codes[at], corners)[0] < 0:
                return 2, at, leaves
            if level >= DEEPEST:
                return 3, at, leaves
            edge[level], side[level] = codes[at], 0
        first, after = start[level], start[level + 1]
        values, block = enlarged(values, block, 2 * after - first + 1)
        if values.shape[0] < 2 * after - first + 1:
            return 5, at, leaves
        one, two = edge_ends(edge[level], corners)
        kept, moved = (one, two) if side[level] == 0 else (two, one)
        size, undecided, sure = classify(
            values[first:after], block[first:after], weight, kept, moved, values[after:], block[after:]
        )
        linked[level + 1] = linked[level] + sure
        level += 1
        start[level + 1] = after + size
    return (0 if level < 0 else 4), codes.size, leaves
