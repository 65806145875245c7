"""Bound a simplex of parameters by conflicts: of blocks that exclude each other, only one can be linked.

With few undecided rows, all pairs of blocks are tested for conflicts, and covered by cliques. That takes too
long among thousands. But two blocks that are both linked at the simplex's centre do not conflict, so only
blocks that the centre misses need a partner, and of those only the rows that miss.

The values of rows at the vertices that these functions take are raised by their rounding errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.kernel_parts import ascending, put

_ROUNDED = 4e-16
"""The interval must be wider than this share of its ends, which are rounded quotients."""


@kernel
def excluding_multiplier(first: FloatArray, second: FloatArray, error: float) -> float:
    """Find x > 0 with ``first + x * second`` not positive at any vertex; zero without one.

    Then the two rows are nowhere positive together on the simplex.

    `first`, `second` (vertices,): values of the rows at the vertices. `error`: by how much these may be too
    small.
    """
    low, high = 0.0, np.inf
    for vertex in range(first.size):
        a, b = first[vertex] + error, second[vertex] + error
        if b < 0.0:
            if a > 0.0:
                low = max(low, a / -b)
        elif a >= 0.0:
            return 0.0
        elif b > 0.0:
            high = min(high, -a / b)
        if low >= high:
            return 0.0
    if low * (1.0 + _ROUNDED) >= high:
        return 0.0
    return 2.0 * low + 1.0 if np.isinf(high) else 0.5 * (low + high)


_MOST_TRIES = 20_000
"""Rows tested as a partner of one row: more find more conflicts, at the cost of a pass each."""


@kernel
def _blocks_conflict(
    values: FloatArray, first: int, after_first: int, second: int, after_second: int
) -> bool:
    """Tell whether a row of one block and a row of another conflict; the rows are given by their ranges."""
    for row in range(first, after_first):
        for other in range(second, after_second):
            if excluding_multiplier(values[row], values[other], 0.0) > 0.0:
                return True
    return False


@kernel
def _joins(values: FloatArray, starts: IndexArray, clique: IndexArray, other: int) -> bool:
    """Tell whether a block conflicts with every member of a clique."""
    for member in clique:
        if not _blocks_conflict(values, starts[member], starts[member + 1], starts[other], starts[other + 1]):
            return False
    return True


@kernel
def clique_saving(
    values: FloatArray, keep: IndexArray, block: IndexArray, weight: FloatArray, needed: float
) -> Any:
    """Bound the weight lost to conflicts by a greedy clique cover of the undecided blocks.

    Only one block of a clique can be linked. Each block starts a clique, which takes every later block that
    conflicts with all of it. Stops when `needed` is reached.
    """
    starts = np.empty(values.shape[0] + 1, dtype=np.intp)
    many = 0
    for at in range(values.shape[0]):
        if at == 0 or block[keep[at]] != block[keep[at - 1]]:
            starts[many] = at
            many += 1
    starts[many] = values.shape[0]
    taken = np.zeros(many, dtype=np.uint8)
    clique = np.empty(many, dtype=np.intp)
    saving = 0.0
    for seed in range(many):
        if taken[seed] == 1:
            continue
        size, heaviest = 1, weight[block[keep[starts[seed]]]]
        clique[0] = seed
        for other in range(seed + 1, many):
            if taken[other] == 1:
                continue
            if _joins(values, starts, clique[:size], other):
                own = weight[block[keep[starts[other]]]]
                clique[size] = other
                size += 1
                taken[other] = 1
                saving += min(own, heaviest)
                heaviest = max(heaviest, own)
                if saving >= needed:
                    return saving
    return saving


@kernel
def _block_of_rows(keep: IndexArray, block: IndexArray) -> tuple[IndexArray, int]:
    """Number the undecided blocks: returns the block of each kept row, and their number."""
    place = np.empty(keep.size, dtype=np.intp)
    many = 0
    for at in range(keep.size):
        if at > 0 and block[keep[at]] != block[keep[at - 1]]:
            many += 1
        place[at] = many
    return place, many + 1


@kernel
def _short_rows(values: FloatArray) -> IndexArray:
    """Select rows that are negative at the simplex's centre."""
    short = np.empty(values.shape[0], dtype=np.intp)
    size = 0
    for at in range(values.shape[0]):
        if values[at].sum() <= 0.0:
            short[size] = at
            size += 1
    return short[:size]


@kernel
def _partner(
    values: FloatArray, place: IndexArray, barred: IndexArray, order: IndexArray, row: int, effort: int
) -> tuple[int, int]:
    """Find a row of another block, not barred, that conflicts with `row` (-1 if none), and the rows tested.

    It must be negative at the corner where `row` is largest; `order` holds the rows by their value there.
    """
    corner = int(np.argmax(values[row]))
    tried = 0
    for tried in range(min(order.size, _MOST_TRIES, effort)):
        other = order[tried]
        if values[other, corner] >= 0.0:
            break
        if barred[place[other]] == 1 or place[other] == place[row]:
            continue
        if excluding_multiplier(values[row], values[other], 0.0) > 0.0:
            return int(other), tried + 1
    return -1, tried + 1


@kernel
def matching_saving(
    values: FloatArray, keep: IndexArray, block: IndexArray, weight: FloatArray, needed: float, effort: int
) -> Any:
    """Bound the weight lost to conflicts by a greedy matching of the undecided blocks.

    Of two blocks that conflict only one can be linked. Every block that the centre misses is matched with one
    that it links, or failing that with another that it misses; no block is matched twice. Stops when `needed`
    is reached, or after `effort` tests.
    """
    place, many = _block_of_rows(keep, block)
    short = _short_rows(values)
    orders = np.empty((values.shape[1], values.shape[0]), dtype=np.intp)
    for corner in range(values.shape[1]):
        put(ascending(values[:, corner]), orders[corner])
    matched = np.zeros(many, dtype=np.intp)
    barred = np.zeros(many, dtype=np.intp)
    barred[place[short]] = 1
    saving = 0.0
    for _ in range(2):
        for row in short:
            if matched[place[row]] == 1:
                continue
            order = orders[int(np.argmax(values[row]))]
            other, tries = _partner(values, place, barred, order, row, effort)
            effort -= tries
            if other >= 0:
                for taken in (place[row], place[other]):
                    matched[taken] = barred[taken] = 1
                saving += min(weight[block[keep[row]]], weight[block[keep[other]]])
            if saving >= needed or effort <= 0:
                return saving
        put(matched, barred)
    return saving
