"""Proves a known bound by a simplex tree, searched again in integers."""

from __future__ import annotations

import base64
import time
import zlib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.kernel_parts import put_rows
from linkrisk.solver.certificates.checking.linkage import MOST_ENTRIES, tree_rows
from linkrisk.solver.certificates.checking.simplex_kernels import (
    DEEPEST,
    LARGEST_TOTAL,
    classify,
    clique_saving,
    edge_ends,
    enlarged,
    replay,
)
from linkrisk.solver.certificates.core.linkage import Linkage
from linkrisk.solver.certificates.core.proofs import capped

CROWD = 200
"""Undecided rows up to which conflicts are searched for: among more, they seldom close a simplex."""


@kernel
def _longest_edge(vertices: FloatArray) -> Any:
    """Return the number of the edge between the two most distant vertices (rows)."""
    best, longest, edge = 1, -1.0, 0
    for one in range(vertices.shape[0]):
        for two in range(one + 1, vertices.shape[0]):
            edge += 1
            length = ((vertices[one] - vertices[two]) ** 2).sum()
            if length > longest:
                best, longest = edge, length
    return best


@kernel
def _closed(values: LongArray, block: LongArray, weight: LongArray, needed: int) -> bool:
    """Tell whether conflicts close a simplex."""
    return needed <= 0 or (
        values.shape[0] <= CROWD and clique_saving(values, block, weight, needed) >= needed
    )


class _Way(NamedTuple):
    """Current path: vertices, starts of their rows, linked weight, edge, and side of each simplex."""

    vertices: FloatArray
    start: LongArray
    linked: LongArray
    edge: LongArray
    side: LongArray


@kernel
def _grow(
    weight: LongArray,
    most: int,
    values: LongArray,
    block: LongArray,
    way: _Way,
    level: int,
    undecided: int,
    codes: NDArray[np.uint8],
) -> tuple[int, int, int, LongArray, LongArray]:
    """Fill `codes` with the next nodes of the tree; see `TreeSearch` for the other arguments.

    Returns how many are written (fewer than there is room for when the tree is complete or a simplex too
    small), level (-1 when the tree is complete) and undecided weight of the search, and the lists, which may
    have grown.
    """
    vertices, start, linked, edge, side = way
    corners = values.shape[1]
    for at in range(codes.size):
        first, after = start[level], start[level + 1]
        needed = linked[level] + undecided - most
        if _closed(values[first:after], block[first:after], weight, needed):
            codes[at] = 0
            level -= 1
            while level >= 0 and side[level] == 1:
                level -= 1
            if level < 0:
                return at + 1, level, undecided, values, block
            side[level] = 1
        else:
            if level >= DEEPEST:
                return at, level, undecided, values, block
            edge[level], side[level] = _longest_edge(vertices[level]), 0
            codes[at] = edge[level]
        first, after = start[level], start[level + 1]
        values, block = enlarged(values, block, 2 * after - first + 1)
        if values.shape[0] < 2 * after - first + 1:
            return at, level, undecided, values, block
        one, two = edge_ends(edge[level], corners)
        kept, moved = (one, two) if side[level] == 0 else (two, one)
        size, undecided, sure = classify(
            values[first:after], block[first:after], weight, kept, moved, values[after:], block[after:]
        )
        put_rows(vertices[level], vertices[level + 1])
        for k in range(vertices.shape[2]):
            vertices[level + 1, moved, k] = 0.5 * (vertices[level, one, k] + vertices[level, two, k])
        linked[level + 1] = linked[level] + sure
        level += 1
        start[level + 1] = after + size
    return codes.size, level, undecided, values, block


class TreeSearch:
    """A search that can be stopped and continued, and writes what `replay` of the verifier reads.

    `rows` (rows, corners) are values at the corners of the simplex, `row_block` the block of each row,
    ascending; `most` is the bound to prove. `complete` says whether the tree is, `stuck` whether it never
    will be, as a simplex became too small.
    """

    def __init__(self, rows: LongArray, row_block: LongArray, weight: LongArray, most: int) -> None:
        corners, levels = rows.shape[1], DEEPEST + 2
        self._weight, self._most = weight, most
        # The rows of the simplices on the way down lie one after the other, each level from its `start` on.
        self._values = np.empty((4 * rows.shape[0] + 4, corners), dtype=np.int64)
        self._block = np.empty(len(self._values), dtype=np.int64)
        vertices, steps = np.empty((levels, corners, corners)), np.zeros((4, levels), dtype=np.int64)
        vertices[0] = np.eye(corners)
        self._way = _Way(vertices, *steps)
        size, self._undecided, sure = classify(rows, row_block, weight, 0, 0, self._values, self._block)
        self._way.start[1], self._way.linked[0] = size, sure
        self._level = 0
        self.complete, self.stuck = False, False

    def run(self, nodes: int) -> NDArray[np.uint8]:
        """Search the next nodes of the tree, up to a number."""
        codes = np.zeros(nodes, dtype=np.uint8)
        rows, standing = (self._values, self._block), (self._level, self._undecided)
        written, self._level, self._undecided, self._values, self._block = _grow(
            self._weight, self._most, *rows, self._way, *standing, codes
        )
        self.complete = self._level < 0
        self.stuck = not self.complete and written < nodes
        return codes[:written]


MOST_NODES = 40_000_000
"""Longest tree: its certificate has some ten megabytes, and is checked in minutes."""

_NODES_AT_ONCE = 1 << 12
_SHARE = 0.7


class Aim(NamedTuple):
    """Bound to prove, in units, and the weight known to be linked, below which no bound is valid."""

    most: int
    least: int


def simplex_proof(
    linkage: Linkage, rivals: Mapping[int, Sequence[int]], weight: Mapping[int, int], aim: Aim, seconds: float
) -> tuple[dict[str, Any], int] | None:
    """Find a tree that proves the smallest bound within the time limit, and that bound.

    `rivals` are those that matter of each block; blocks without rivals count as linked.
    """
    until = time.perf_counter() + seconds
    used = {block: list(own) for block, own in sorted(rivals.items()) if block in weight and own}
    if sum(map(len, used.values())) * linkage.family.dimension > MOST_ENTRIES:
        return None
    values, owner = tree_rows(linkage, used)
    slack, step = 0, max(1, max(capped(weight, aim.most).values(), default=1))
    total = sum(weight.values())
    while aim.most + slack < total:
        bound = aim.most + slack
        if sum(capped(weight, bound).values()) > LARGEST_TOTAL:
            return None
        # Most of what is left for this bound, so that a weaker one gets its turn.
        share = time.perf_counter() + _SHARE * (until - time.perf_counter())
        codes = _search(TreeSearch(values, owner, *_of_rows(used, weight, bound)), share)
        if codes is not None:
            # A sum of doubles is aimed at with room for their rounding, which the tree may not need.
            if aim.least < bound:
                closed, _, _ = replay(values, owner, *_of_rows(used, weight, aim.least), codes)
                bound = aim.least if closed == 0 else bound
            listed = [[block, of_block] for block, of_block in used.items()]
            return {
                "method": "simplex-tree",
                "rivals": listed,
                "tree": base64.b64encode(zlib.compress(codes.tobytes(), 9)).decode("ascii"),
            }, bound
        if time.perf_counter() > until:
            return None
        slack = step if slack == 0 else 2 * slack
    return None


def _of_rows(
    used: Mapping[int, Sequence[int]], weight: Mapping[int, int], bound: int
) -> tuple[NDArray[np.int64], int]:
    """Return the weights of blocks with rows, and the bound less the other blocks, which are linked."""
    light = capped(weight, bound)
    own = np.array([light[block] for block in used], dtype=np.int64)
    return own, bound - (sum(light.values()) - int(own.sum()))


def _search(search: TreeSearch, until: float) -> NDArray[np.uint8] | None:
    """Return the complete tree, if it is found in time."""
    parts: list[NDArray[np.uint8]] = []
    while not search.complete:
        if search.stuck or len(parts) * _NODES_AT_ONCE >= MOST_NODES:
            return None
        if parts and time.perf_counter() > until:
            return None
        parts.append(search.run(_NODES_AT_ONCE))
    return np.concatenate(parts)


def weight_unit(weights: Sequence[Fraction], bound: Fraction) -> Fraction:
    """Return the number of units in a weight of one.

    The unit is the largest of which all weights are whole multiples, so that nothing is rounded. Where these
    would be too many for a simplex tree, which takes all that is above the bound for just above it, the unit
    is a power of two for which they are a quarter to a half of what there is room for: rounding wants some.
    """
    fine = lcm(*(weight.denominator for weight in weights))
    counts = [weight.numerator * (fine // weight.denominator) for weight in weights]
    common = max(1, gcd(*counts))
    most = int(bound * fine)
    total = sum(min(count, most) for count in counts)
    if total <= LARGEST_TOTAL // 2 * common:
        return Fraction(fine, common)
    room = Fraction(LARGEST_TOTAL * fine, 2 * total)
    exponent = room.numerator.bit_length() - room.denominator.bit_length() - 1
    return Fraction(2) ** exponent
